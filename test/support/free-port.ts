// Free TCP ports on 127.0.0.1. They lie below the range the kernel gives to outgoing connections, so that a client socket of
// another test cannot take a port between this check and the server's own bind. A file reserves a port for that time, so that no
// other test process gets it either.
import { randomInt } from 'node:crypto';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Above 10080, which fetch never calls. */
const FIRST = 10_081;
const LAST = 22_000;
const RESERVATIONS = join(tmpdir(), 'cardpoll-test-ports');
/** A server that is started has bound its port by then. */
const RESERVED_MS = 120_000;

/** @param alsoFree an offset that must be free too: a Redis Cluster node opens its bus on port + 10,000. */
export async function freePort(alsoFree = 0): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(FIRST, LAST);
    const ports = alsoFree === 0 ? [port] : [port, port + alsoFree];
    if (!ports.every(reserve)) continue;
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return port;
  }
  throw new Error(`no free port between ${FIRST} and ${LAST} in 100 attempts`);
}

/** @returns false: another caller has just been given it. */
function reserve(port: number): boolean {
  mkdirSync(RESERVATIONS, { recursive: true });
  const file = join(RESERVATIONS, String(port));
  const { mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: Number.POSITIVE_INFINITY };
  if (Date.now() - mtimeMs > RESERVED_MS) rmSync(file, { force: true });
  try {
    writeFileSync(file, '', { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
