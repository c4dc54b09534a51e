// Requests a minute, and refused ones, over real HTTP.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiUnderTest, type Reply, startApi, tokensOf } from '../../../support/api-under-test.ts';
import { freshDatabase, freshRedis } from '../../../support/fresh-stores.ts';
import { waitFor } from '../../../support/processes.ts';

const STATS = '/api/admin/polling-configs';
const TOKENS = [
  { role: 'viewer' as const, token: 'viewer-token-viewer-token' },
  { role: 'operator' as const, token: 'operator-token-operator-token' },
];
const bearer = (token: string | undefined) => ({ headers: { authorization: `Bearer ${token}` } });
const [VIEWER, OPERATOR] = TOKENS.map(({ token }) => bearer(token));

let stores: { redisUrl: string; databaseUrl: string };
let api: ApiUnderTest;

beforeAll(async () => {
  stores = { redisUrl: (await freshRedis()).url, databaseUrl: await freshDatabase() };
  api = await startApi({ ...stores, tokens: TOKENS, rateLimitPerMinute: 15 });
});
afterAll(() => api.close());

function expectLimited(reply: Reply): void {
  expect(reply.status).toBe(429);
  expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(reply.body).toMatchObject({
    type: 'urn:cardpoll:problem:rate_limited',
    title: 'Too Many Requests',
    status: 429,
    detail: expect.stringMatching(/\w/),
    code: 'rate_limited',
    instance: expect.stringMatching(/^\//),
  });
  for (const name of ['retry-after', 'ratelimit-reset']) {
    expect(Number(reply.headers[name])).toBeGreaterThan(0);
    expect(Number(reply.headers[name])).toBeLessThanOrEqual(60);
  }
  expect(reply.headers['ratelimit-remaining']).toBe('0');
}

describe('callers', () => {
  it('have a limit of requests a minute, for each token; probes are exempt', async () => {
    for (let left = 14; left >= 0; left -= 1) {
      const reply = await api.call('GET', STATS, VIEWER);
      expect(reply.status).toBe(200);
      expect(reply.headers).toMatchObject({ 'ratelimit-limit': '15', 'ratelimit-remaining': String(left) });
    }
    expectLimited(await api.call('GET', STATS, VIEWER));
    expectLimited(await api.call('GET', '/metrics', VIEWER));
    expect((await api.call('GET', STATS, OPERATOR)).status).toBe(200);
    for (const probe of ['/livez', '/readyz', '/version', '/openapi.json']) {
      const reply = await api.call('GET', probe);
      expect(reply.status).toBe(200);
      expect(reply.headers).not.toHaveProperty('ratelimit-limit');
    }
  });

  it('take another limit at once', async () => {
    const tokens = tokensOf(TOKENS);
    api.server.replace({ adminTokens: tokens, rateLimitPerMinute: 0, tls: null });
    const free = await api.call('GET', STATS, VIEWER);
    expect(free.status).toBe(200);
    expect(free.headers).not.toHaveProperty('ratelimit-limit');
    api.server.replace({ adminTokens: tokens, rateLimitPerMinute: 15, tls: null });
    expectLimited(await api.call('GET', STATS, VIEWER));
  });
});

describe('without tokens', () => {
  it('an address is a caller', async () => {
    const open = await startApi({ ...stores, rateLimitPerMinute: 2 });
    expect((await open.call('GET', STATS)).status).toBe(200);
    expect((await open.call('GET', STATS)).status).toBe(200);
    expectLimited(await open.call('GET', STATS));
    await open.close();
  });
});

describe('an address that is refused too often', () => {
  const refusals: Array<[string, (own: ApiUnderTest) => Promise<Reply>, number]> = [
    ['a guessed token', (own) => own.call('GET', STATS, bearer('guess')), 401],
    ['a change by a viewer', (own) => own.call('POST', STATS, { ...VIEWER, json: {} }), 403],
    ['a path that does not exist', (own) => own.call('GET', '/wp-login.php'), 404],
  ];

  it.each(refusals)('gets 429 for %s, and its valid tokens are let in', async (_what, refused, status) => {
    const own = await startApi({ ...stores, tokens: TOKENS, bounds: { refusalsPerMinute: 10 } });
    for (let tries = 0; tries < 10; tries += 1) expect((await refused(own)).status).toBe(status);
    expectLimited(await refused(own));
    for (let requests = 0; requests < 30; requests += 1) {
      expect((await own.call('GET', STATS, OPERATOR)).status).toBe(200);
    }
    expect((await own.call('GET', '/livez')).status).toBe(200);
    const page = (await own.call('GET', '/metrics', OPERATOR)).body;
    expect(page).toContain('cardpoll_http_refused_total{reason="refusal_limit"} 1');
    await own.close();
  });

  it('is identified by what a trusted proxy says, and only by that', async () => {
    const own = await startApi({
      ...stores,
      tokens: TOKENS,
      bounds: { refusalsPerMinute: 2, trustedProxies: ['127.0.0.1/32'] },
    });
    const from = (address: string) => ({
      headers: { authorization: 'Bearer guess', 'x-forwarded-for': address },
    });
    const guess = async (address: string) => (await own.call('GET', STATS, from(address))).status;
    // The proxy adds the address it sees; what stands before that was written by the client.
    expect([await guess('9.9.9.9, 192.0.2.1'), await guess('8.8.8.8, 192.0.2.1')]).toEqual([401, 401]);
    expect(await guess('7.7.7.7, 192.0.2.1')).toBe(429);
    expect(await guess('192.0.2.2')).toBe(401);
    expect(own.accessLog.map((line) => line.remote_address)).toContain('192.0.2.2');
    await own.close();
    const direct = await startApi({ ...stores, tokens: TOKENS, bounds: { refusalsPerMinute: 2 } });
    const statuses = [];
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3'])
      statuses.push((await direct.call('GET', STATS, from(address))).status);
    expect(statuses).toEqual([401, 401, 429]);
    expect(new Set(direct.accessLog.map((line) => line.remote_address))).toEqual(new Set(['127.0.0.1']));
    await direct.close();
  });
});

it('an X-Forwarded-For that is no address counts for the proxy that passed it on', async () => {
  const own = await startApi({
    ...stores,
    tokens: TOKENS,
    bounds: { trustedProxies: ['127.0.0.1/32', '10.0.0.0/8'] },
  });
  const whoFor = async (forwarded: string) => {
    const headers = { ...OPERATOR?.headers, 'x-forwarded-for': forwarded };
    const before = own.accessLog.length;
    expect((await own.call('GET', STATS, { headers })).status).toBe(200);
    return (await waitFor(async () => own.accessLog[before], { what: 'a line of the access log' }))
      .remote_address;
  };
  for (const junk of [
    "' OR 1=1; <script>",
    'unknown',
    'A'.repeat(4_000),
    '6.6.6.6:1234',
    'fe80::1%zone',
    ',',
    '',
  ])
    expect([junk, await whoFor(junk)]).toEqual([junk, '127.0.0.1']);
  expect(await whoFor('unknown, 10.0.0.3')).toBe('10.0.0.3');
  expect(await whoFor('2.2.2.2, unknown, 10.0.0.3')).toBe('10.0.0.3');
  expect(await whoFor('unknown, 192.0.2.1, 10.0.0.3')).toBe('192.0.2.1');
  expect(await whoFor('2001:db8::1')).toBe('2001:db8::1');
  await own.close();
});

describe('replacing tokens', () => {
  it('lets the new ones in and the old ones not, and refuses what cannot work', async () => {
    const own = await startApi({ ...stores, tokens: TOKENS });
    const added = { role: 'operator' as const, token: 'another-operator-token' };
    const tokens = tokensOf([added]);
    own.server.replace({ adminTokens: tokens, rateLimitPerMinute: 0, tls: null });
    expect((await own.call('GET', STATS, OPERATOR)).status).toBe(401);
    expect((await own.call('GET', STATS, bearer(added.token))).status).toBe(200);
    await own.close();
  });
});
