// More connections than the server keeps, over real sockets: which ones go, and that a new one always gets its answer.
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ServerBounds } from '../../../../src/api/server.ts';
import { type ApiUnderTest, startApi } from '../../../support/api-under-test.ts';
import { freshDatabase, freshRedis } from '../../../support/fresh-stores.ts';
import { IMPORT_PATH, postHead, RawClient, TELL_WHEN_BEGUN } from '../../../support/raw-client.ts';
import { waitFor } from '../../../support/wait-for.ts';

const TOKEN = 'operator-token-operator-token';
const AUTHORIZATION = `Authorization: Bearer ${TOKEN}\r\n`;
const PROBE = 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n';
const WITH_TOKEN = `GET /api/admin/whoami HTTP/1.1\r\nHost: localhost\r\n${AUTHORIZATION}\r\n`;

let stores: { redisUrl: string; databaseUrl: string };
let api: ApiUnderTest;
const open: RawClient[] = [];

beforeAll(async () => {
  stores = { redisUrl: (await freshRedis()).url, databaseUrl: await freshDatabase() };
});
afterEach(async () => {
  const clients = open.splice(0);
  for (const { socket } of clients) socket.destroy();
  // Thousands of them keep this process from answering the next test in time.
  await waitFor(() => clients.every(({ closed }) => closed));
  await api.close();
});

/** @param bounds by default connections without a token are not closed for being idle, however slow the machine is. */
async function start(maxConnections: number, bounds: Partial<ServerBounds> = { strangerIdleMs: 72_000 }) {
  const tokens = [{ role: 'operator' as const, token: TOKEN }];
  api = await startApi({ ...stores, tokens, bounds: { maxConnections, ...bounds } });
}

/** A connection that got an answer and is idle. */
async function answered(text: string, from = '127.0.0.1'): Promise<RawClient> {
  const client = await RawClient.to(api.server.address, text, from);
  open.push(client);
  await waitFor(() => client.received.startsWith('HTTP/1.1 200 '), { what: 'an answer' });
  return client;
}

const numbersOfClosed = (clients: readonly RawClient[]) =>
  clients.flatMap(({ closed }, index) => (closed ? [index] : []));

describe('when there is no room', () => {
  it('the longest idle connection goes, and is counted', async () => {
    await start(10);
    const clients: RawClient[] = [];
    for (let index = 0; index < 10; index += 1) clients.push(await answered(PROBE));
    // The first one is not idle any more.
    clients[0]?.socket.write(PROBE);
    await waitFor(() => clients[0]?.received.match(/200 OK/g)?.length === 2);
    await answered(PROBE);
    await waitFor(() => clients.some(({ closed }) => closed));
    expect(numbersOfClosed(clients)).toEqual([1]);
    const { body } = await api.call('GET', '/metrics', { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(body).toMatch(/cardpoll_http_refused_total\{reason="connection_limit"\} [1-9]/);
  });

  it('the address with the most connections loses one, and one without a valid token first', async () => {
    await start(10);
    const few = [await answered(PROBE, '127.0.0.2'), await answered(WITH_TOKEN, '127.0.0.2')];
    const many: RawClient[] = [];
    for (let index = 0; index < 8; index += 1)
      many.push(await answered(index < 2 ? WITH_TOKEN : PROBE, '127.0.0.3'));
    for (let further = 1; further <= 3; further += 1) {
      await answered(PROBE, '127.0.0.4');
      await waitFor(() => numbersOfClosed(many).length === further);
    }
    expect(numbersOfClosed(many)).toEqual([2, 3, 4]);
    expect(numbersOfClosed(few)).toEqual([]);
  });

  it('requests with a valid token are never cut: the further connection is closed', async () => {
    await start(10);
    const upload = postHead(IMPORT_PATH, 'text/csv', 999, AUTHORIZATION + TELL_WHEN_BEGUN);
    const uploads = await Promise.all(
      Array.from({ length: 10 }, async () => RawClient.to(api.server.address, upload)),
    );
    open.push(...uploads);
    await waitFor(() => uploads.every(({ received }) => received.includes('100 Continue')));
    const further = await RawClient.to(api.server.address, PROBE);
    await waitFor(() => further.closed);
    expect([further.received, numbersOfClosed(uploads)]).toEqual(['', []]);
  });

  it('uploads that end before their import reads them harm nothing', async () => {
    await start(100);
    const uploads = [IMPORT_PATH, `${IMPORT_PATH}/preview`].map((path) =>
      postHead(path, 'text/csv', 999, AUTHORIZATION + TELL_WHEN_BEGUN),
    );
    for (let round = 0; round < 60; round += 1) {
      const client = await RawClient.to(api.server.address, uploads[round % 2] as string);
      // Each ends a little later than the one before.
      await new Promise((ends) => setTimeout(ends, round / 10));
      client.socket.destroy();
    }
    await answered(PROBE);
  });

  it('5,100 idle connections of one address keep neither a probe nor a token out', async () => {
    await start(5_000);
    const clients: RawClient[] = [];
    for (let index = 0; index < 5_100; index += 100) {
      const some = Array.from({ length: 100 }, () => RawClient.to(api.server.address, PROBE));
      clients.push(...(await Promise.all(some)));
    }
    open.push(...clients);
    await answered(PROBE, '127.0.0.2');
    await answered(PROBE);
    await answered(WITH_TOKEN);
    await waitFor(() => numbersOfClosed(clients).length >= 103);
  });
});

it('a connection is idle for seconds before its first valid token, and as long as configured after it', async () => {
  await start(10, {});
  const known = await answered(WITH_TOKEN);
  const stranger = await answered(PROBE);
  expect(known.received).toMatch(/\r\nKeep-Alive: timeout=72\r\n/i);
  expect(stranger.received).toMatch(/\r\nKeep-Alive: timeout=5\r\n/i);
  await waitFor(() => stranger.closed, { timeoutMs: 60_000 });
  expect(known.closed).toBe(false);
});
