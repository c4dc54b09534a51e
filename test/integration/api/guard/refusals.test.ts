// Everything a client can do wrong, over real HTTP: each refusal is a problem, and the right one.
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiUnderTest, type Reply, startApi } from '../../../support/api-under-test.ts';
import { freshDatabase, freshRedis } from '../../../support/fresh-stores.ts';
import { waitFor } from '../../../support/wait-for.ts';

let api: ApiUnderTest;

beforeAll(async () => {
  const redis = await freshRedis();
  api = await startApi({ redisUrl: redis.url, databaseUrl: await freshDatabase() });
});
afterAll(() => api.close());

const LIMIT = '/api/admin/polling-concurrency/realname';
const RESET = '/api/admin/polling-concurrency/reset';
const CONFIGS = '/api/admin/polling-configs';
const CONFIG = '/api/admin/polling-configs/1';
const PAUSES = '/api/admin/polling-pauses';
const RETENTION = '/api/admin/data-cleanup-configs/1';
const TRIGGERS = '/api/admin/polling-manual-trigger';
const SILENCES = '/api/admin/polling-alert-silences';
const JSON_TYPE = { 'content-type': 'application/json' };

function expectProblem(reply: Reply, status: number, code: string): void {
  expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(reply.status).toBe(status);
  expect(reply.body).toMatchObject({
    type: `urn:cardpoll:problem:${code}`,
    title: expect.stringMatching(/\w/),
    status,
    detail: expect.stringMatching(/\w/),
    code,
    instance: expect.stringMatching(/^\//),
    request_id: reply.headers['x-request-id'],
  });
}

describe('fields', () => {
  const limits = [0, -1, 100_001, 1.5, '5', true, null, 1e30, [5], {}];
  it.each(limits)('refuses max_concurrency %j', async (max_concurrency) => {
    const reply = await api.call('PUT', LIMIT, { json: { max_concurrency } });
    expectProblem(reply, 422, 'invalid_field');
    expect(reply.body.errors).toEqual([
      { field: 'max_concurrency', message: 'must be a whole number from 1 to 100000' },
    ]);
  });

  it.each([
    ['PUT', LIMIT, {}, ['max_concurrency']],
    ['PUT', LIMIT, [1], ['body']],
    ['PUT', LIMIT, 'text', ['body']],
    ['PUT', LIMIT, null, ['body']],
    ['PUT', LIMIT, { max_concurrency: 5, max: 1, foo: 2 }, ['max', 'foo']],
    ['PUT', LIMIT, { max_concurrency: 0, foo: 2 }, ['max_concurrency', 'foo']],
    ['PUT', LIMIT, { max_concurrency: 5, constructor: 1 }, ['constructor']],
    ['PUT', LIMIT, { max_concurrency: 5, toString: 1 }, ['toString']],
    ['POST', RESET, {}, ['task_type']],
    ['POST', RESET, { task_type: 'sms' }, ['task_type']],
    ['POST', RESET, { task_type: 'Realname' }, ['task_type']],
    ['POST', RESET, { task_type: 1 }, ['task_type']],
    ['PUT', CONFIG, {}, ['status']],
    ['PUT', CONFIG, { status: 2 }, ['status']],
    ['PUT', CONFIG, { status: '1' }, ['status']],
    ['PUT', CONFIG, { status: true }, ['status']],
    ['PUT', CONFIG, { interval_seconds: 0 }, ['interval_seconds']],
    ['PUT', CONFIG, { interval_seconds: 2_592_001 }, ['interval_seconds']],
    ['PUT', CONFIG, { interval_seconds: 1.5 }, ['interval_seconds']],
    ['PUT', CONFIG, { status: 5, interval_seconds: 'x' }, ['status', 'interval_seconds']],
    ['PUT', CONFIG, { status: 1, colour: 'x' }, ['colour']],
    ['PUT', CONFIG, {}, ['status']],
    [
      'PUT',
      CONFIG,
      { name: ' ', task_type: 'sms', card_condition: 'new' },
      ['name', 'task_type', 'card_condition'],
    ],
    ['PUT', CONFIG, { name: 'a\u001bb', priority: -1_000_001 }, ['name', 'priority']],
    ['PUT', CONFIG, { name: 'a\u202eb', priority: 1_000_001 }, ['name', 'priority']],
    ['PUT', CONFIG, { carrier_id: 'all', priority: 1.5 }, ['carrier_id', 'priority']],
    ['POST', CONFIGS, {}, ['name', 'task_type', 'card_condition', 'interval_seconds']],
    [
      'POST',
      CONFIGS,
      { name: 'x'.repeat(201), task_type: 'package', card_condition: 'any', interval_seconds: 0 },
      ['name', 'interval_seconds'],
    ],
    ['POST', PAUSES, { task_type: 'all', seconds: 0 }, ['seconds']],
    ['POST', PAUSES, { task_type: 'all', seconds: 1e9 }, ['seconds']],
    ['POST', PAUSES, { task_type: 'realname', seconds: 1.5 }, ['seconds']],
    ['POST', PAUSES, { task_type: 'everything', seconds: 60 }, ['task_type']],
    ['POST', PAUSES, { task_type: 'realname', seconds: 60, reason: 'a\u001b[31mb' }, ['reason']],
    ['POST', PAUSES, { seconds: 60 }, ['task_type']],
    ['PUT', RETENTION, { retention_days: 0 }, ['retention_days']],
    ['PUT', RETENTION, { retention_days: 1e6 }, ['retention_days']],
    ['POST', `${TRIGGERS}/single`, { task_type: 'realname', card_id: 0 }, ['card_id']],
    ['POST', `${TRIGGERS}/batch`, { task_type: 'realname', card_ids: [] }, ['card_ids']],
    ['POST', `${TRIGGERS}/batch`, { task_type: 'realname', card_ids: [1, 0] }, ['card_ids']],
    ['POST', `${TRIGGERS}/batch`, { task_type: 'realname', card_ids: Array(10_001).fill(1) }, ['card_ids']],
    ['POST', `${TRIGGERS}/by-condition`, { task_type: 'realname', carrier_id: 2 ** 31 }, ['carrier_id']],
    ['POST', `${TRIGGERS}/by-condition`, { task_type: 'realname', status: 2 ** 31 }, ['status']],
    ['POST', SILENCES, { task_type: 'package', seconds: 2_678_401 }, ['seconds']],
  ])('%s %s with %j names %j', async (method, path, json, fields) => {
    const reply = await api.call(method, path, { json });
    expectProblem(reply, 422, 'invalid_field');
    expect(reply.body.errors.map((error: { field: string }) => error.field)).toEqual(fields);
  });

  it.each(['page=0', 'page=-1', 'page=x', 'page=1.5', 'page='])('refuses the query %s', async (query) => {
    const reply = await api.call('GET', `/api/admin/polling-configs?${query}`);
    expectProblem(reply, 422, 'invalid_field');
    expect(reply.body.errors).toMatchObject([{ field: 'page' }]);
  });

  it.each(['page_size=0', 'page_size=101', 'page_size=1e1'])('refuses the query %s', async (query) => {
    const reply = await api.call('GET', `/api/admin/polling-concurrency?${query}`);
    expectProblem(reply, 422, 'invalid_field');
    expect(reply.body.errors).toMatchObject([{ field: 'page_size' }]);
  });

  it('changes nothing when it refuses', async () => {
    const before = (await api.call('GET', '/api/admin/polling-configs')).body;
    await api.call('PUT', CONFIG, { json: { status: 0, interval_seconds: 0 } });
    expect((await api.call('GET', '/api/admin/polling-configs')).body).toEqual(before);
  });
});

describe('paths', () => {
  it.each([
    ['GET', '/'],
    ['GET', '/api/admin/nothing'],
    ['PUT', '/api/admin/polling-concurrency/sms'],
    ['PUT', '/api/admin/polling-concurrency/__proto__'],
    ['PUT', '/api/admin/polling-configs/x'],
    ['PUT', '/api/admin/polling-configs/0'],
    ['PUT', '/api/admin/polling-configs/-1'],
    ['PUT', '/api/admin/polling-configs/1.0'],
  ])('%s %s is not found', async (method, path) => {
    const json = method === 'PUT' ? { max_concurrency: 5 } : undefined;
    expectProblem(await api.call(method, path, { json }), 404, 'not_found');
  });

  it.each([
    ['/polling-configs/99', 'config_not_found', 'there is no polling config 99', 'cardpoll configs list'],
    ['/polling-configs/2147483648', 'config_not_found', 'there is no polling config 2147483648', 'list'],
    ['/polling-alert-rules/99', 'alert_rule_not_found', 'there is no alert rule 99', 'cardpoll alerts rules'],
    ['/polling-alert-rules/2147483648', 'alert_rule_not_found', 'alert rule 2147483648', 'alerts rules'],
    ['/data-cleanup-configs/99', 'cleanup_config_not_found', 'cleanup config 99', 'cardpoll cleanup configs'],
    ['/polling-manual-trigger/a%20b', 'trigger_not_found', 'there is no manual trigger a b', 'trigger list'],
    [`/polling-manual-trigger/${'x'.repeat(65)}`, 'trigger_not_found', 'manual trigger xxx', 'trigger list'],
  ])('GET %s is answered with %s: %s, see %s', async (path, code, detail, hint) => {
    const reply = await api.call('GET', `/api/admin${path}`);
    expectProblem(reply, 404, code);
    expect(reply.body).toMatchObject({
      detail: expect.stringContaining(detail),
      hint: expect.stringContaining(hint),
    });
  });

  it.each(['acknowledge', 'redeliver'])('an unknown alert is not found: %s', async (verb) => {
    for (const id of ['999999', '9007199254740992']) {
      const reply = await api.call('POST', `/api/admin/polling-alert-history/${id}/${verb}`);
      expectProblem(reply, 404, 'alert_not_found');
      expect(reply.body.hint).toBe('`cardpoll alerts history` shows the ids');
    }
  });

  it.each(['424242', '898600000000000000042', '0', 'abc', '-1', '99999999999999999', "1'--", '1%2F2', '%00'])(
    'there is no card %s',
    async (card) => {
      expectProblem(await api.call('GET', `/api/admin/cards/${card}`), 404, 'card_not_found');
    },
  );

  it.each([
    ['DELETE', '/api/admin/polling-stats', 'GET, HEAD'],
    ['POST', '/livez', 'GET, HEAD'],
    ['DELETE', LIMIT, 'GET, HEAD, PUT'],
    ['GET', RESET, 'POST'],
    ['PATCH', CONFIG, 'DELETE, GET, HEAD, PUT'],
    ['OPTIONS', RESET, 'POST'],
    ['GET', '/api/admin/cards/import', 'POST'],
  ])('%s %s is not allowed; %s is', async (method, path, allow) => {
    const reply = await api.call(method, path, {
      body: method === 'GET' ? null : 'x',
      headers: { 'content-type': 'text/plain' },
    });
    expectProblem(reply, 405, 'method_not_allowed');
    expect(reply.headers.allow).toBe(allow);
  });

  it('refuses a path that is not well-formed', async () => {
    expectProblem(await api.call('GET', '/%zz'), 400, 'malformed_url');
  });

  it('refuses an endless parameter', async () => {
    expectProblem(await api.call('GET', `/api/admin/cards/${'1'.repeat(500)}`), 414, 'url_too_long');
  });
});

describe('bodies', () => {
  it.each(['{"max_concurrency": 5', '{max_concurrency: 5}', '', 'null}', '\u0000'])(
    'refuses the JSON %j',
    async (body) => {
      expectProblem(await api.call('PUT', LIMIT, { body, headers: JSON_TYPE }), 400, 'malformed_json');
    },
  );

  it.each([
    '{"max_concurrency": 5, "__proto__": {"x": 1}}',
    '{"max_concurrency": 5, "\\u005f_proto__": {}}',
    '{"__proto__": null}',
    '{"max_concurrency": 5, "constructor": {"prototype": {"x": 1}}}',
  ])('refuses the poisoned %s', async (body) => {
    expectProblem(await api.call('PUT', LIMIT, { body, headers: JSON_TYPE }), 400, 'malformed_json');
  });

  it.each([
    ['{"max_concurrency": 5, "max_concurrency": 6}', 'max_concurrency'],
    ['{"max_concurrency": 5, "max\\u005fconcurrency": 5}', 'max_concurrency'],
    ['{"a": [{"b": {}, "b": 1}]}', 'b'],
    ['{"": 1, "": 2}', ''],
  ])('refuses %s, which names a field twice', async (body, name) => {
    const reply = await api.call('PUT', LIMIT, { body, headers: JSON_TYPE });
    expectProblem(reply, 400, 'repeated_field');
    expect(reply.body.detail).toContain(JSON.stringify(name));
  });

  it.each([
    ['PUT', LIMIT],
    ['POST', '/api/admin/data-cleanup/cancel'],
  ])('%s %s refuses what is nested deeply', async (method, path) => {
    for (const depth of [101, 60_000]) {
      const body = `${'['.repeat(depth)}${']'.repeat(depth)}`;
      const headers = { ...JSON_TYPE, 'idempotency-key': `deep-${depth}` };
      expectProblem(await api.call(method, path, { body, headers }), 400, 'nested_too_deep');
    }
  });

  it('takes names again in other objects, and in texts', async () => {
    const body = '{"max_concurrency": 5, "x": [{"a": 1}, {"a": 1}], "y": "\\"x\\": 1, \\"x\\": 2"}';
    expectProblem(await api.call('PUT', LIMIT, { body, headers: JSON_TYPE }), 422, 'invalid_field');
  });

  it.each(['gzip', 'br', 'deflate, gzip', 'zstd'])('refuses a body in %s', async (encoding) => {
    for (const [path, type] of [
      [RESET, 'application/json'],
      ['/api/admin/cards/import', 'text/csv'],
    ] as const) {
      const headers = { 'content-type': type, 'content-encoding': encoding };
      const reply = await api.call('POST', path, { body: gzipSync('{}'), headers });
      expectProblem(reply, 415, 'unsupported_content_encoding');
      expect(reply.headers['accept-encoding']).toBe('identity');
    }
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'text/csv', 'nonsense'])(
    'refuses %s',
    async (type) => {
      const reply = await api.call('PUT', LIMIT, {
        body: '{"max_concurrency": 5}',
        headers: { 'content-type': type },
      });
      expectProblem(reply, 415, 'unsupported_media_type');
    },
  );

  it('refuses a body without a content type', async () => {
    expectProblem(
      await api.call('PUT', LIMIT, { body: '{"max_concurrency": 5}' }),
      415,
      'unsupported_media_type',
    );
  });

  it('wants a body', async () => {
    expectProblem(await api.call('PUT', LIMIT), 422, 'invalid_field');
  });

  it('refuses more than 1 MiB, announced or not', async () => {
    const body = `{"max_concurrency": ${' '.repeat(1024 * 1024)}5}`;
    expectProblem(await api.call('PUT', LIMIT, { body, headers: JSON_TYPE }), 413, 'body_too_large');
    const chunked = (async function* () {
      yield body;
    })();
    expectProblem(
      await api.call('PUT', LIMIT, { body: chunked as never, headers: JSON_TYPE }),
      413,
      'body_too_large',
    );
  });

  it('imports neither JSON nor nothing', async () => {
    expectProblem(
      await api.call('POST', '/api/admin/cards/import', { json: [] }),
      415,
      'unsupported_media_type',
    );
    expectProblem(await api.call('POST', '/api/admin/cards/import'), 400, 'empty_body');
  });
});

describe('bytes that are no request', () => {
  const speak = (bytes: string) =>
    new Promise<string>((resolve, reject) => {
      const [host, port] = api.server.address.split(':');
      const socket = connect({ host, port: Number(port) }, () => socket.write(bytes));
      let answer = '';
      socket.on('data', (data) => {
        answer += data;
      });
      socket.on('close', () => resolve(answer));
      socket.on('error', reject);
    });

  it('a tunnel behind a request without an answer closes the connection, and no more', async () => {
    await speak('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\nCONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
    expect((await api.call('GET', '/livez')).status).toBe(200);
  });

  it.each([
    ['no HTTP', 'HELO there\r\n\r\n', 400],
    [
      'a header without end',
      `GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`,
      431,
    ],
    ['no Host', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    [
      'two Hosts',
      'GET /livez HTTP/1.1\r\nHost: localhost\r\nhost: localhost\r\nConnection: close\r\n\r\n',
      400,
    ],
    [
      'an expectation',
      'GET /livez HTTP/1.1\r\nHost: localhost\r\nExpect: foo\r\nConnection: close\r\n\r\n',
      417,
    ],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: localhost\r\n\r\n', 501],
    [
      'a method nobody serves',
      'PROPFIND /api/admin/cards/1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
      501,
    ],
    [
      'two lengths',
      'PUT /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx',
      400,
    ],
  ])('%s is answered with a problem', async (_what, bytes, status) => {
    const lines = api.accessLog.length;
    const answer = await speak(bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const [head, body] = answer.split('\r\n\r\n') as [string, string];
    expect(head).toMatch(/content-type: application\/problem\+json/i);
    expect(JSON.parse(body)).toMatchObject({ status });
    await waitFor(() => api.accessLog.slice(lines).some((line) => line.status === status), {
      what: 'its line in the access log',
    });
  });
});
