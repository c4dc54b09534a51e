// Free TCP ports on 127.0.0.1. They lie below the range the kernel gives to outgoing connections, so that a client
// socket of another test cannot take a port between this check and the server's own bind.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Above 10080, which fetch never calls. */
const FIRST = 10_081;
const LAST = 22_000;

/** @param alsoFree an offset that must be free too: a Redis Cluster node opens its bus on port + 10,000. */
export async function freePort(alsoFree = 0): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(FIRST, LAST);
    if ((await isFree(port)) && (alsoFree === 0 || (await isFree(port + alsoFree)))) return port;
  }
  throw new Error(`no free port between ${FIRST} and ${LAST} in 100 attempts`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
