// Who may call what, and what the access log says about it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../../../src/platform/version.ts';
import { VERSION_HEADER } from '../../../../src/resources/endpoints.ts';
import { type ApiUnderTest, startApi } from '../../../support/api-under-test.ts';
import { freshDatabase, freshRedis } from '../../../support/fresh-stores.ts';
import { waitFor } from '../../../support/wait-for.ts';

const VIEWER = { authorization: 'Bearer viewer-token-viewer-token' };
const OPERATOR = { authorization: 'Bearer operator-token-operator-token' };
const LIMIT = '/api/admin/polling-concurrency/carddata';

let open: ApiUnderTest;
let closed: ApiUnderTest;

beforeAll(async () => {
  const redis = await freshRedis();
  const databaseUrl = await freshDatabase();
  open = await startApi({ redisUrl: redis.url, databaseUrl });
  closed = await startApi({
    redisUrl: redis.url,
    databaseUrl,
    tokens: [
      { role: 'viewer', token: 'viewer-token-viewer-token' },
      { role: 'operator', token: 'operator-token-operator-token' },
    ],
  });
});
afterAll(async () => {
  await open.close();
  await closed.close();
});

describe('with tokens', () => {
  it('wants one for everything under /api/admin', async () => {
    for (const headers of [{}, { authorization: 'Bearer wrong' }]) {
      const reply = await closed.call('GET', '/api/admin/polling-stats', { headers });
      expect(reply).toMatchObject({ status: 401, body: { status: 401, code: 'unauthenticated' } });
      expect(reply.headers['www-authenticate']).toMatch(/^Bearer/);
      expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/);
    }
  });

  it('looks at the token before it looks at anything else of the request', async () => {
    const reply = await closed.call('PUT', LIMIT, {
      body: '{',
      headers: { 'content-type': 'application/json' },
    });
    expect(reply.status).toBe(401);
  });

  it('lets a viewer read but not write', async () => {
    expect((await closed.call('GET', '/api/admin/polling-configs', { headers: VIEWER })).status).toBe(200);
    for (const [method, path] of [
      ['PUT', LIMIT],
      ['POST', '/api/admin/polling-concurrency/reset'],
      ['PUT', '/api/admin/polling-configs/1'],
      ['POST', '/api/admin/cards/import'],
    ] as const) {
      const reply = await closed.call(method, path, { headers: VIEWER, json: {} });
      expect(reply).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
  });

  it('lets an operator write', async () => {
    const reply = await closed.call('PUT', LIMIT, { headers: OPERATOR, json: { max_concurrency: 7 } });
    expect(reply).toMatchObject({ status: 200, body: { max_concurrency: 7 } });
  });

  it('answers probes without one', async () => {
    for (const path of ['/livez', '/readyz', '/version', '/openapi.json']) {
      expect((await closed.call('GET', path)).status).toBe(200);
    }
  });
});

describe('without tokens', () => {
  it.each([{ host: 'evil.example' }, { origin: 'http://evil.example' }])('refuses %j', async (headers) => {
    const reply = await open.call('GET', '/api/admin/polling-stats', { headers });
    expect(reply).toMatchObject({ status: 403, body: { status: 403 } });
    expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/);
  });

  it('accepts localhost by name', async () => {
    const reply = await open.call('GET', '/api/admin/polling-configs', {
      headers: { host: 'localhost:7480' },
    });
    expect(reply.status).toBe(200);
  });
});

describe('the access log', () => {
  const lineOf = (api: ApiUnderTest, id: unknown) =>
    waitFor(() => api.accessLog.find((line) => line.request_id === id), { what: `access log line ${id}` });

  it('has one line a request, with the caller but no secret and no query', async () => {
    const id = 'test-1';
    const path = '/api/admin/polling-configs?page=1';
    const reply = await closed.call('GET', path, { headers: { ...OPERATOR, 'x-request-id': id } });
    expect(reply.headers['x-request-id']).toBe(id);
    expect(reply.headers[VERSION_HEADER]).toBe(VERSION);
    const line = await lineOf(closed, id);
    expect(line).toEqual({
      request_id: id,
      method: 'GET',
      path: '/api/admin/polling-configs',
      status: 200,
      duration_ms: expect.any(Number),
      token: expect.stringMatching(/^operator-[0-9a-f]{6}$/),
      remote_address: '127.0.0.1',
    });
    expect(JSON.stringify(closed.accessLog)).not.toMatch(/token-/);
  });

  it.each(['a b', 'x'.repeat(129), 'ä', ''])('gives a request with the id %j another one', async (given) => {
    const headers = { 'x-request-id': Buffer.from(given).toString('latin1') };
    const reply = await open.call('GET', '/livez', { headers });
    const id = reply.headers['x-request-id'];
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(await lineOf(open, id)).toMatchObject({ path: '/livez', status: 200, token: null });
  });

  it('has refused and unreadable requests too', async () => {
    const refused = await closed.call('GET', '/api/admin/polling-stats');
    expect(await lineOf(closed, refused.headers['x-request-id'])).toMatchObject({ status: 401, token: null });
    const unreadable = await open.call('GET', '/%zz');
    expect(await lineOf(open, unreadable.headers['x-request-id'])).toMatchObject({
      status: 400,
      path: '/%zz',
    });
  });
});
