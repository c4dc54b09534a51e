// HTTPS: the certificate is served, and another one taken without dropping a connection.
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiUnderTest, startApi, tokensOf } from '../../support/api-under-test.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { tlsPair } from '../../support/tls-pair.ts';
import { waitFor } from '../../support/wait-for.ts';

const OPEN = { adminTokens: [], rateLimitPerMinute: 0 };

let api: ApiUnderTest;

beforeAll(async () => {
  const stores = { redisUrl: (await freshRedis()).url, databaseUrl: await freshDatabase() };
  api = await startApi({ ...stores, tls: tlsPair('first') });
});
afterAll(() => api.close());

async function open(): Promise<TLSSocket> {
  const socket = connect({ port: Number(api.server.address.split(':')[1]), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  return socket;
}

async function servedName(): Promise<string> {
  const socket = await open();
  const name = String(socket.getPeerCertificate().subject.CN);
  socket.destroy();
  return name;
}

it('is served with the certificate, to clients that trust it', async () => {
  expect(api.server.url).toBe(`https://${api.server.address}`);
  const trusting = new Agent({ connect: { ca: tlsPair('first').cert } });
  expect((await request(`${api.server.url}/livez`, { dispatcher: trusting })).statusCode).toBe(200);
  await expect(request(`${api.server.url}/livez`)).rejects.toThrow(/self-signed|certificate/);
  await trusting.close();
});

it('takes another certificate for new connections and keeps those there are', async () => {
  const kept = await open();
  let answers = '';
  kept.on('data', (data) => {
    answers += data;
  });
  api.server.replace({ ...OPEN, tls: tlsPair('second') });
  expect(await servedName()).toBe('cardpoll test second');
  kept.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await waitFor(() => answers.includes('"status":"ok"'));
  expect(kept.getPeerCertificate().subject.CN).toBe('cardpoll test first');
  kept.destroy();
});

it('is not switched off by a reload', async () => {
  const adminTokens = tokensOf([{ role: 'viewer', token: 'a-token-of-the-refused-reload' }]);
  expect(() => api.server.replace({ ...OPEN, adminTokens, tls: null })).toThrow(
    expect.objectContaining({ code: 'tls_needs_restart' }),
  );
  expect(await servedName()).toMatch(/^cardpoll test/);
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  const stats = await request(`${api.server.url}/api/admin/polling-stats`, { dispatcher });
  expect(stats.statusCode, 'the tokens wait, too').toBe(200);
  await dispatcher.close();
});

it('outlives clients that speak no TLS', async () => {
  const plain = request(`http://${api.server.address}/livez`);
  await expect(plain).rejects.toThrow();
  expect(await servedName()).toMatch(/^cardpoll test/);
});
