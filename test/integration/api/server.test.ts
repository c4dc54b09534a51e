// Opening and closing the server, and uploads that do not go as planned.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Instruments } from '../../../src/api/metrics/instruments.ts';
import { openApiServer } from '../../../src/api/server.ts';
import type { AdminToken } from '../../../src/domain/admin-token.ts';
import { type ApiUnderTest, startApi, tokensOf, USUAL_BOUNDS } from '../../support/api-under-test.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { waitFor } from '../../support/wait-for.ts';

const IMPORT = '/api/admin/cards/import';
const CSV = { 'content-type': 'text/csv' };
const HEADER = 'card_id,iccid,carrier_id,status,allowance_mb,real_name_verified\n';

let redisUrl: string;
let databaseUrl: string;
let api: ApiUnderTest;

beforeAll(async () => {
  redisUrl = (await freshRedis()).url;
  databaseUrl = await freshDatabase();
  api = await startApi({ redisUrl, databaseUrl });
});
afterAll(() => api.close());

const row = (id: number) => `${id},898600${String(id).padStart(14, '0')},1,1,100,\n`;
const total = async () => (await api.call('GET', '/api/admin/polling-stats')).body.cards_total;

describe('opening', () => {
  const open = (host: string, port: number, tokens: readonly AdminToken[] = []) =>
    openApiServer({
      config: {
        host,
        port,
        adminTokens: tokens,
        rateLimitPerMinute: 0,
        tls: null,
        bounds: USUAL_BOUNDS,
      },
      operations: api.operations,
      logs: { api: { error: () => {} }, access: { info: () => {} } },
      readiness: async () => ({ problems: [], restraints: [] }),
      instance: () => ({
        leads: false,
        droppedLogLines: 0,
        cardLookups: { hits: 30, misses: 10 },
      }),
      instruments: new Instruments(),
      version: '1.2.3',
    });

  it('says when the address is taken, and how to choose another', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    await expect(open('127.0.0.1', port)).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'address_in_use',
      message: expect.stringContaining(`127.0.0.1:${port}`),
      hint: expect.stringContaining('--listen'),
    });
    other.close();
  });

  it('refuses an address this machine does not have', async () => {
    await expect(
      open('192.0.2.1', 0, tokensOf([{ role: 'viewer', token: 't'.repeat(16) }])),
    ).rejects.toMatchObject({
      kind: 'config',
    });
  });

  it('refuses to be open to others', async () => {
    await expect(open('0.0.0.0', 0)).rejects.toMatchObject({ kind: 'config', code: 'tokens_missing' });
  });

  it('shows its address, also with IPv6', async () => {
    const server = await open('::1', 0);
    expect(server.address).toMatch(/^\[::1\]:\d+$/);
    expect((await request(`http://${server.address}/livez`)).statusCode).toBe(200);
    await server.close();
  });
});

describe('closing', () => {
  it('finishes what runs, and takes nothing new', async () => {
    const own = await startApi({ redisUrl, databaseUrl });
    let sent = 0;
    const slowly = async function* () {
      yield HEADER;
      for (sent = 1; sent <= 20; sent++) {
        yield row(9_000 + sent);
        await sleep(10);
      }
    };
    const upload = own.call('POST', IMPORT, { body: slowly() as never, headers: CSV });
    await waitFor(() => sent > 3);
    const { address } = own.server;
    const closed = own.server.close();
    await expect(request(`http://${address}/livez`, { reset: true })).rejects.toThrow(
      /ECONNREFUSED|ECONNRESET/,
    );
    expect(await upload).toMatchObject({ status: 200, body: { inserted: 20 } });
    await closed;
    await own.close();
  });
});

describe('importing', () => {
  it('takes CSV and NDJSON and reports', async () => {
    const csv = await api.call('POST', IMPORT, { body: `${HEADER}${row(1)}${row(2)}x,y\n`, headers: CSV });
    expect(csv).toMatchObject({
      status: 200,
      body: {
        received: 3,
        inserted: 2,
        updated: 0,
        unchanged: 0,
        rejected: 1,
        errors: [{ line: 4 }],
        errors_truncated: false,
      },
    });
    const card = { card_id: 3, iccid: '89860000000000000003', carrier_id: 1, status: 1, allowance_mb: null };
    const ndjson = await api.call('POST', IMPORT, {
      body: `${JSON.stringify(card)}\n`,
      headers: { 'content-type': 'application/x-ndjson; charset=utf-8' },
    });
    expect(ndjson).toMatchObject({ status: 200, body: { received: 1, inserted: 1 } });
    expect(await api.call('GET', '/api/admin/cards/3')).toMatchObject({
      status: 200,
      body: { allowance_mb: null },
    });
    await waitFor(async () => (await total()) >= 3);
  });

  it('has no limit on size', async () => {
    const many = function* () {
      yield HEADER;
      for (let id = 100_001; id <= 150_000; id++) yield row(id);
    };
    const reply = await api.call('POST', IMPORT, { body: many() as never, headers: CSV });
    expect(reply).toMatchObject({ status: 200, body: { received: 50_000, inserted: 50_000, rejected: 0 } });
  });

  it('says what is wrong with a file while it is still being sent', async () => {
    let ended = false;
    const endless = async function* () {
      yield 'no,such,columns\n';
      while (!ended) {
        yield 'x'.repeat(60_000).concat('\n');
        await sleep(1);
      }
    };
    const reply = await api.call('POST', IMPORT, { body: endless() as never, headers: CSV });
    ended = true;
    expect(reply).toMatchObject({ status: 400, body: { status: 400 } });
    expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/);
  });

  it('ends when the client goes away, and keeps what came', async () => {
    const gone = new AbortController();
    const cut = async function* () {
      yield HEADER;
      for (let id = 200_001; id <= 220_000; id++) yield row(id);
      await waitFor(async () => (await api.call('GET', '/api/admin/cards/200001')).status === 200);
      gone.abort();
    };
    const lines = api.accessLog.length;
    const upload = request(`http://${api.server.address}${IMPORT}`, {
      method: 'POST',
      headers: CSV,
      body: cut() as never,
      signal: gone.signal,
    });
    await expect(upload).rejects.toThrow(/abort/i);
    const line = await waitFor(() => api.accessLog.slice(lines).find(({ path }) => path === IMPORT), {
      what: 'the upload to end',
    });
    expect(line.status).toBe(499);
    expect((await api.call('GET', '/api/admin/cards/200001')).status).toBe(200);
    expect(api.apiLog).toEqual([]);
  });
});
