// A process that answers every request with "ok", and does nothing else. Used by pressure.ts: the polls that are lost while
// clients ask it are lost to the machine they share.
import { freePort } from '../../support/free-port.ts';
import { endProcess, spawnOwned } from '../../support/owned-process.ts';
import { waitFor } from '../../support/wait-for.ts';

const CODE = `require('node:http').createServer((_, answer) => answer.end('ok')).listen(+process.argv[1], '127.0.0.1')`;

export async function withBareServer<T>(use: (url: string) => Promise<T>): Promise<T> {
  const port = await freePort();
  const server = spawnOwned(process.execPath, ['-e', CODE, `${port}`], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  try {
    await waitFor(async () => (await fetch(url)).ok, { what: 'the bare server' });
    return await use(url);
  } finally {
    await endProcess(server);
  }
}
