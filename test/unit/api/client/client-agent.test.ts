// The client of the admin API uses no agent of Node's, which sends calls through the proxy of the environment if NODE_USE_ENV_PROXY
// is set on Node 24.
import { once } from 'node:events';
import http, { Agent, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { cliHere } from '../../../support/cli-here.ts';

it('a command reaches the daemon whatever the agent of the process does', async () => {
  const own = http.globalAgent;
  let used = 0;
  class Elsewhere extends Agent {
    override createConnection(): never {
      used += 1;
      throw new Error('connected by the agent of the process');
    }
  }
  http.globalAgent = new Elsewhere();
  onTestFinished(() => {
    http.globalAgent = own;
  });
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    response.writeHead(401, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code } = await cliHere(['stats'], { env: { CARDPOLL_URL: url } });
  expect([code, used]).toEqual([77, 0]);
  expect(asked).toBeGreaterThan(0);
});
