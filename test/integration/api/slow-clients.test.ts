// Clients that are slow, silent or many, over real sockets: each ends in its time, and none holds up a server that stops.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiUnderTest, startApi } from '../../support/api-under-test.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { IMPORT_PATH, postHead, RawClient, TELL_WHEN_BEGUN } from '../../support/raw-client.ts';
import { waitFor } from '../../support/wait-for.ts';

const BOUNDS = { headerTimeoutMs: 300, bodyTimeoutMs: 1_200, maxConnections: 20 };
const TRICKLE_MS = 20;

let stores: { redisUrl: string; databaseUrl: string };
let api: ApiUnderTest;

beforeAll(async () => {
  stores = { redisUrl: (await freshRedis()).url, databaseUrl: await freshDatabase() };
  api = await startApi({ ...stores, bounds: BOUNDS });
});
afterAll(() => api.close());

const to = (target: ApiUnderTest, text?: string) => RawClient.to(target.server.address, text);

function expectProblem(answer: string, status: number, code: string): void {
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  const [, body = ''] = answer.split('\r\n\r\n');
  expect(JSON.parse(body)).toMatchObject({ status, code });
}

describe('a connection', () => {
  it('a connection whose head never ends is answered and closed', async () => {
    const client = await to(api, 'GET /livez HTTP/1.1\r\n');
    await client.trickle(TRICKLE_MS, (index) => `X-${index}: y\r\n`);
    expectProblem(client.received, 408, 'request_timeout');
  });

  it('a connection that says nothing is closed', async () => {
    const client = await to(api);
    await waitFor(() => client.closed);
  });
});

describe('a body', () => {
  it('a body that comes byte by byte is answered and its connection closed', async () => {
    const client = await to(api, postHead('/api/admin/polling-concurrency/reset', 'application/json', 9_999));
    await client.trickle(TRICKLE_MS, () => ' ');
    expectProblem(client.received, 408, 'request_timeout');
  });

  it('a body of a refused request does not keep the connection', async () => {
    const client = await to(api, postHead('/api/admin/nothing', 'application/octet-stream', 9_999));
    await client.trickle(TRICKLE_MS, () => ' ');
    expectProblem(client.received, 404, 'not_found');
  });

  it('a body of an import may take its time while it goes on', async () => {
    const rows = 60;
    // One row is progress enough, however seldom a busy machine lets one go out.
    const row = (id: number) => `${id},${String(id).padStart(20, '8')},${' '.repeat(2_000)}\n`;
    const head = 'card_id,iccid,carrier_id\n';
    const length = head.length + Array.from({ length: rows }, (_, i) => row(i + 1)).join('').length;
    const client = await to(api, postHead(IMPORT_PATH, 'text/csv', length) + head);
    let sent = 0;
    const startedMs = performance.now();
    // For longer than the time that a body has.
    while (sent < rows || performance.now() - startedMs < 3 * BOUNDS.bodyTimeoutMs) {
      if (sent < rows) client.socket.write(row(++sent));
      await new Promise((resolve) => setTimeout(resolve, TRICKLE_MS));
    }
    await waitFor(() => client.received.includes('"received":60'));
    client.socket.destroy();
  });

  it('a client that stops sending ends its import, and what came is kept', async () => {
    const client = await to(api, postHead(IMPORT_PATH, 'application/x-ndjson', 999_999));
    client.socket.write('{"card_id": 77, "iccid": "89860000000000000077"}\n');
    await client.trickle(TRICKLE_MS, () => ' ');
    expectProblem(client.received, 408, 'request_timeout');
  });
});

describe('requests sent together by a client that leaves', () => {
  it('end with it: all are logged, and the server can stop', async () => {
    const own = await startApi(stores);
    const database = new pg.Client({ connectionString: stores.databaseUrl });
    await database.connect();
    await database.query('BEGIN');
    await database.query('LOCK TABLE polling_configs IN ACCESS EXCLUSIVE MODE');
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    // The first answer waits for the table, and the others for the first.
    const client = await to(own, get('/api/admin/polling-configs') + get('/livez').repeat(3));
    const waiting = 'SELECT FROM pg_locks WHERE NOT granted AND relation = $1::regclass';
    await waitFor(async () => (await database.query(waiting, ['polling_configs'])).rowCount === 1);
    client.socket.destroy();
    await waitFor(() => own.accessLog.filter(({ status }) => status === 499).length === 4, {
      timeoutMs: 10_000,
    });
    await database.query('COMMIT');
    await database.end();
    await own.close();
  });
});

describe('a server that stops', () => {
  it('waits for requests it has begun, and for no silent or unfinished connection', async () => {
    const own = await startApi(stores);
    const silent = await Promise.all([
      to(own),
      to(own, 'GET /livez HTTP/1.1\r\nHost: localh'),
      to(own, 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    ]);
    await waitFor(() => silent[2]?.received.includes('"status":"ok"'));
    const upload = await to(own, postHead(IMPORT_PATH, 'text/csv', 200, TELL_WHEN_BEGUN));
    await waitFor(() => upload.received.includes('100 Continue'), { what: 'the upload to begin' });
    const closed = own.server.close();
    await waitFor(() => upload.closed || silent[2]?.closed);
    const body = 'card_id,iccid\n5,89860000000000000005\n';
    upload.socket.write(body + '\n'.repeat(200 - body.length));
    await closed;
    await waitFor(() => upload.closed);
    expect(upload.received).toContain('"received":1');
    await waitFor(() => silent.every((client) => client.closed));
    await own.close();
  });
});
