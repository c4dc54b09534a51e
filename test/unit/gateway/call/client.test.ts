import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import type { GatewayInterface } from '../../../../src/domain/gateway/gateway-config.ts';
import type { InterfaceName } from '../../../../src/domain/gateway-interface.ts';
import { GatewayClient } from '../../../../src/gateway/call/client.ts';
import { GatewayError } from '../../../../src/gateway/gateway.ts';
import { startSimulator } from '../../../../src/gateway/simulate/simulator.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import {
  answer,
  type BadGateway,
  type Behaviour,
  closeMidBody,
  flood,
  garbage,
  hang,
  hangAfterHead,
  reset,
  startBadGateway,
  trickle,
} from '../../../support/bad-gateway.ts';
import { type GatewayChanges, gatewayConfig } from '../../../support/gateway-config.ts';

const CARD = { cardId: 7, iccid: '89860000000000000071', carrierId: 3 };
const CALENDAR = new MonthCalendar('Asia/Shanghai');
/** Never comes near it, unless nothing ends a call: for machines with other work. */
const LONG_MS = 60_000;
const OK_FLOW = '{"code":200,"msg":"ok","data":{"used":12.5}}';

const opened: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

function open(settings: GatewayChanges): { client: GatewayClient; lines: Array<Record<string, unknown>> } {
  const lines: Array<Record<string, unknown>> = [];
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const client = new GatewayClient(gatewayConfig(settings), {
    log,
    clock: systemClock,
    calendar: CALENDAR,
    proxies: NO_PROXIES,
  });
  opened.push(() => client.close());
  return { client, lines };
}

async function against(behaviour: Behaviour, settings: Partial<GatewayChanges> = {}) {
  const gateway = await startBadGateway(behaviour);
  opened.push(() => gateway.close());
  return { gateway, ...open({ url: gateway.url, ...settings }) };
}

async function failureOf(call: Promise<unknown>): Promise<GatewayError> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(GatewayError);
  return error as GatewayError;
}

/** Idle connections may stay; what counts is that the gateway sees who has given up. */
async function hungUp(gateway: BadGateway): Promise<void> {
  expect(gateway.requests).toHaveLength(1);
  await expect.poll(() => gateway.waiting(), { interval: 5 }).toBe(0);
}

it('neither logs nor reports a token that the gateway quotes', async () => {
  const token = 'sk_live_0123456789';
  for (const status of [200, 401]) {
    const { client, lines } = await against(answer(status, `{"code":4711,"msg":"token ${token} expired"}`), {
      token,
      errors: { path: 'code', message: 'msg', throttled: [], unknownCard: [], auth: [] },
    });
    const error = await failureOf(client.call('flow', CARD, LONG_MS));
    expect(error.message).toMatch(/code 4711: token \*\*\* expired$/);
    expect(JSON.stringify(lines)).not.toContain(token);
  }
});

it('shows no part of a token that a text is cut in', async () => {
  const token = 'sk_live_0123456789';
  const msg = `${'x'.repeat(180)} ${token}`;
  const { client } = await against(answer(200, JSON.stringify({ code: 4711, msg })), { token });
  const { message } = await failureOf(client.call('flow', CARD, LONG_MS));
  expect(message).toMatch(/^code 4711: x+ \*\*\*$/);
});

describe('a call that works', () => {
  const cases: Array<[InterfaceName, string, string, unknown, Record<string, unknown>]> = [
    ['realname', '/card/realname', '{"realStatus":true}', true, { realStatus: true }],
    ['realname', '/card/realname', '{"realStatus":false}', false, { realStatus: false }],
    ['flow', '/card/flow', '{"used":12.5}', 12.5, { used: 12.5 }],
    ['flow', '/card/flow', '{"used":"12.5"}', 12.5, { used: 12.5 }],
    ['flow', '/card/flow', '{"used":0}', 0, { used: 0 }],
    ['card_status', '/card/status', '{"cardStatus":"停机"}', '停机', { cardStatus: '停机' }],
    ['stop', '/card/stop', '{}', null, {}],
    ['start', '/card/start', 'null', null, {}],
  ];
  it.each(cases)('%s %s %s', async (name, path, data, value, logged) => {
    const { client, gateway, lines } = await against(answer(200, `{"code":200,"msg":"ok","data":${data}}`));
    const result = await client.call(name, CARD, 1_000);
    expect(result.value).toBe(value);
    expect(gateway.requests).toMatchObject([
      {
        method: 'POST',
        path,
        body: '{"iccid":"89860000000000000071"}',
        headers: { 'content-type': 'application/json' },
      },
    ]);
    const { time, ...line } = lines[0] ?? {};
    expect(line).toEqual({
      level: 30,
      msg: '网关调用',
      interface: name,
      path,
      iccid: CARD.iccid,
      card_id: CARD.cardId,
      duration_ms: result.durationMs,
      status: 200,
      ...logged,
    });
    expect(lines).toHaveLength(1);
  });

  it('keeps its connections', async () => {
    const { client, gateway } = await against(answer(200, OK_FLOW));
    for (let i = 0; i < 20; i += 1) await client.call('flow', CARD, 1_000);
    expect(gateway.requests).toHaveLength(20);
    // A call may begin in the moment in which the one before it ends, so there is one connection to spare.
    expect(gateway.accepted).toBeLessThanOrEqual(2);
  });

  it('honours base path, method, path and field of the profile, and still logs the field as used', async () => {
    const flow: Partial<GatewayInterface> = {
      method: 'GET',
      path: '/v2/usage',
      query: { iccid: '{iccid}' },
      body: null,
      reading: { kind: 'megabytes', value: 'data.mb', unit: 'MB' },
    };
    const { client, gateway, lines } = await against(answer(200, '{"code":200,"data":{"mb":3}}'), {
      interfaces: { flow },
    });
    const behindPrefix = open({ url: `${gateway.url}/tenant/a/`, interfaces: { flow } });
    await client.call('flow', CARD, 1_000);
    await behindPrefix.client.call('flow', CARD, 1_000);
    expect(gateway.requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['GET', `/v2/usage?iccid=${CARD.iccid}`, ''],
      ['GET', `/tenant/a/v2/usage?iccid=${CARD.iccid}`, ''],
    ]);
    expect(lines[0]).toMatchObject({ path: '/v2/usage', used: 3 });
  });

  it('proves who is calling by token and by signature', async () => {
    const { client, gateway } = await against(answer(200, OK_FLOW), { token: 'tok-1', hmacKey: 'secret' });
    await client.call('flow', CARD, 1_000);
    const [request] = gateway.requests;
    expect(request?.headers).toMatchObject({ authorization: 'Bearer tok-1' });
    const signature = request?.headers['x-cardpoll-signature'] ?? '';
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
    expect(Math.abs(Number(t) - Date.now() / 1000)).toBeLessThan(5);
    expect(v1).toBe(
      createHmac('sha256', 'secret').update(`${t}.POST./card/flow.${request?.body}`).digest('hex'),
    );
  });

  it('knows the statuses that mean stopped', () => {
    const { client } = open({ url: 'http://127.0.0.1:1' });
    expect(['stopped', 'Suspended', ' STOPPED ', '停机'].map((s) => client.isStoppedStatus(s))).not.toContain(
      false,
    );
    expect(['active', '', 'unstopped', '正常'].map((s) => client.isStoppedStatus(s))).not.toContain(true);
  });
});

describe('a call that fails', () => {
  const answers: Array<[string, number, string, string, boolean]> = [
    ['an internal error', 500, 'oops', 'http', true],
    ['a bad gateway', 502, '', 'http', true],
    ['wrong credentials', 401, '', 'auth', true],
    ['missing rights', 403, '', 'auth', true],
    ['a request timeout', 408, '', 'http', true],
    ['an unknown card', 404, '', 'card', false],
    ['a refused card', 422, '{}', 'card', false],
    ['too many requests', 429, '', 'backpressure', true],
    ['an overloaded gateway', 503, '', 'backpressure', true],
    ['another business code', 200, '{"code":4001,"msg":"no such card"}', 'business', false],
    ['no JSON', 200, '<html>', 'malformed', true],
    ['no body', 200, '', 'malformed', true],
    ['no content', 204, '', 'malformed', true],
    ['a JSON array', 200, '[]', 'malformed', true],
    ['a JSON null', 200, 'null', 'malformed', true],
    ['no code', 200, '{"data":{"used":1}}', 'malformed', true],
    ['a code as text', 200, '{"code":"200","data":{"used":1}}', 'malformed', true],
    ['no data', 200, '{"code":200}', 'malformed', true],
    ['no field', 200, '{"code":200,"data":{}}', 'malformed', true],
    ['a field only the prototype has', 200, '{"code":200,"data":[]}', 'malformed', true],
    ['a negative number', 200, '{"code":200,"data":{"used":-1}}', 'malformed', true],
    ['an absurd number', 200, '{"code":200,"data":{"used":1e300}}', 'malformed', true],
    ['an infinite number', 200, '{"code":200,"data":{"used":1e999}}', 'malformed', true],
    ['text that is no number', 200, '{"code":200,"data":{"used":"12,5"}}', 'malformed', true],
    ['a negative volume as text', 200, '{"code":200,"data":{"used":"-1e3"}}', 'malformed', true],
    ['a boolean number', 200, '{"code":200,"data":{"used":true}}', 'malformed', true],
  ];
  it.each(answers)('%s: HTTP %i %s is %s', async (_, status, body, failure, gatewayFault) => {
    const { client, lines, gateway } = await against(answer(status, body));
    const error = await failureOf(client.call('flow', CARD, 1_000));
    expect(error.failure).toBe(failure);
    expect(error.isGatewayFault).toBe(gatewayFault);
    expect(error.details.durationMs).toBeGreaterThan(0);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: 40,
      msg: '网关调用',
      path: '/card/flow',
      interface: 'flow',
      card_id: 7,
      iccid: CARD.iccid,
      status,
      error: failure,
      reason: error.message,
    });
    expect(gateway.requests).toHaveLength(1);
  });

  const wrongFields: Array<[InterfaceName, string]> = [
    ['realname', '{"realStatus":"true"}'],
    ['realname', '{"realStatus":1}'],
    ['realname', '{"realStatus":null}'],
    ['card_status', '{"cardStatus":""}'],
    ['card_status', '{"cardStatus":"  "}'],
    ['card_status', `{"cardStatus":"${'x'.repeat(65)}"}`],
    ['card_status', '{"cardStatus":3}'],
  ];
  it.each(wrongFields)('%s with %s is malformed', async (name, data) => {
    const { client } = await against(answer(200, `{"code":200,"data":${data}}`));
    expect((await failureOf(client.call(name, CARD, 1_000))).failure).toBe('malformed');
  });

  const [GBK, LATIN] = [Buffer.from([0xcd, 0xa3, 0xbb, 0xfa]), Buffer.from('gek\xfcndigt', 'latin1')];
  const statusIn = (charset: string, text: Buffer): Behaviour => {
    const body = Buffer.concat([Buffer.from('{"code":200,"data":{"cardStatus":"'), text, Buffer.from('"}}')]);
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=${charset}`;
    return (socket) => {
      socket.write(Buffer.concat([Buffer.from(`${head}\r\ncontent-length: ${body.length}\r\n\r\n`), body]));
    };
  };

  it.each([
    ['GBK', GBK, '停机'],
    ['"iso-8859-1"', LATIN, 'gekündigt'],
  ])('reads an answer in %s', async (charset, text, status) => {
    const { client } = await against(statusIn(charset, text));
    expect((await client.call('card_status', CARD, LONG_MS)).value).toBe(status);
  });

  it('reads an answer that begins with a byte order mark, as .NET and PHP may send it', async () => {
    const { client } = await against(answer(200, `\uFEFF${OK_FLOW}`));
    expect((await client.call('flow', CARD, LONG_MS)).value).toBeTypeOf('number');
  });

  it('an answer in a charset that does not exist is malformed', async () => {
    const { client } = await against(statusIn('utf-99', GBK));
    expect((await failureOf(client.call('card_status', CARD, LONG_MS))).failure).toBe('malformed');
  });

  it('a status says more than a charset that does not exist', async () => {
    const busy = answer(429, '{"msg":"busy"}', {
      'content-type': 'application/json; charset=utf8mb4',
      'retry-after': '3',
    });
    const { client } = await against(busy);
    const error = await failureOf(client.call('flow', CARD, LONG_MS));
    expect(error).toMatchObject({ failure: 'backpressure', details: { retryAfterMs: 3_000 } });
  });

  it('follows no redirect', async () => {
    const target = await startBadGateway(answer(200, OK_FLOW));
    opened.push(() => target.close());
    const location = `${target.url.replace('//', '//user:secret@')}/card/flow?ticket=secret`;
    const { client } = await against(answer(307, '', { location }));
    expect(await failureOf(client.call('flow', CARD, 1_000))).toMatchObject({
      failure: 'http',
      message: `HTTP 307 to ${target.url}/card/flow: redirects are not followed`,
    });
    expect(target.requests).toHaveLength(0);
  });

  it('cuts a long value in a message only after what is secret in it was masked', async () => {
    const token = `tok-${'1'.repeat(300)}`;
    const { client } = await against(answer(200, JSON.stringify({ code: 200, data: { used: token } })), {
      token,
    });
    const { message } = await failureOf(client.call('flow', CARD, 1_000));
    expect(message).toMatch(/^data\.\w+ is not a number of MB, 0 or more: "\*\*\*"$/);
  });

  it('lets no control character of the gateway into messages, and no endless text', async () => {
    const msg = `no\u001b[31m\u202ecard\n${'x'.repeat(5_000)}`;
    const { client } = await against(answer(200, JSON.stringify({ code: 1, msg })));
    const { message } = await failureOf(client.call('flow', CARD, 1_000));
    expect(message).toMatch(/^code 1: no \[31m card x+…$/);
    expect(message.length).toBeLessThan(220);
  });

  it.each([
    ['seconds', { 'retry-after': '7' }, 7_000],
    ['more than the longest pause', { 'retry-after': '3600' }, 60_000],
    ['an absurd number', { 'retry-after': '999999999' }, 60_000],
    ['a unit', { 'retry-after': '20.5s' }, 20_500],
    ['a quota', { 'x-ratelimit-reset': '20', 'x-ratelimit-remaining': '0' }, 20_000],
    ['a number that is none', { 'retry-after': '99999999999999999999999' }, undefined],
    ['zero', { 'retry-after': '0' }, undefined],
    ['a past date', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, undefined],
    ['a far date', { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }, 60_000],
    [
      'a date by the clock of a gateway that lives in 1970',
      { 'retry-after': 'Thu, 01 Jan 1970 00:00:50 GMT', date: 'Thu, 01 Jan 1970 00:00:30 GMT' },
      20_000,
    ],
    [
      'a past date by the clock of a gateway that lives in the future',
      { 'retry-after': 'Fri, 01 Jan 2100 00:00:00 GMT', date: 'Fri, 01 Jan 2100 00:00:30 GMT' },
      undefined,
    ],
    ['nonsense', { 'retry-after': 'soon' }, undefined],
    ['a negative number', { 'retry-after': '-1' }, undefined],
    ['nothing', {}, undefined],
  ])('reads Retry-After: %s', async (_, headers, expected) => {
    const { client } = await against(answer(503, 'busy', headers));
    expect((await failureOf(client.call('flow', CARD, 1_000))).details.retryAfterMs).toBe(expected);
  });

  it.each([200, 400])(
    'reads Retry-After next to a code that means throttled, with HTTP %d',
    async (status) => {
      const busy = answer(status, '{"code":1003}', { 'retry-after': '7' });
      const errors = { path: 'code', message: null, throttled: ['1003'], unknownCard: [], auth: [] };
      const { client } = await against(busy, { errors });
      const error = await failureOf(client.call('flow', CARD, LONG_MS));
      expect(error).toMatchObject({ failure: 'backpressure', details: { retryAfterMs: 7_000 } });
    },
  );

  it('reads Retry-After as a date', async () => {
    const inTwentySeconds = new Date(Date.now() + 20_000).toUTCString();
    const { client } = await against(answer(429, '', { 'retry-after': inTwentySeconds }));
    const { retryAfterMs } = (await failureOf(client.call('flow', CARD, 1_000))).details;
    expect(retryAfterMs).toBeGreaterThan(15_000);
    expect(retryAfterMs).toBeLessThanOrEqual(20_000);
  });
});

describe('a connection that breaks', () => {
  it.each([
    ['garbage', garbage, 'malformed'],
    ['a close in the middle of the body', closeMidBody, 'network'],
    ['a reset', reset, 'network'],
  ] as Array<[string, Behaviour, string]>)('%s', async (_, behaviour, failure) => {
    const { client, gateway } = await against(behaviour);
    expect((await failureOf(client.call('flow', CARD, 1_000))).failure).toBe(failure);
    expect(gateway.requests).toHaveLength(1);
  });

  it('nothing listens', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const { client, lines } = open({ url: `http://127.0.0.1:${port}` });
    const error = await failureOf(client.call('flow', CARD, 1_000));
    expect(error.failure).toBe('connect');
    expect(error.isRefusal).toBe(true);
    expect(error.details.interfaceName).toBe('flow');
    expect(error.message).toContain('ECONNREFUSED');
    expect(lines[0]).toMatchObject({ status: null, error: 'connect' });
  });

  it('recovers by itself when the gateway comes back', async () => {
    const first = await startSimulator({ host: '127.0.0.1', port: 0 });
    const { client } = open({ url: first.url });
    const callAll = () =>
      Promise.allSettled(Array.from({ length: 50 }, () => client.call('realname', CARD, 30_000)));
    const fulfilled = (results: PromiseSettledResult<unknown>[]) =>
      results.filter(({ status }) => status === 'fulfilled').length;
    expect(fulfilled(await callAll())).toBe(50);
    await first.close();
    expect(fulfilled(await callAll())).toBe(0);
    expect(fulfilled(await callAll())).toBe(0);
    const second = await startSimulator({ host: '127.0.0.1', port: Number(new URL(first.url).port) });
    opened.push(() => second.close());
    expect(fulfilled(await callAll())).toBe(50);
  });

  it('a name that does not exist', async () => {
    const { client } = open({ url: 'http://gateway.invalid' });
    expect((await failureOf(client.call('flow', CARD, 5_000))).failure).toBe('connect');
  });

  it('no TLS where TLS was asked for', async () => {
    const gateway = await startBadGateway(garbage);
    opened.push(() => gateway.close());
    const { client } = open({ url: gateway.url.replace('http:', 'https:') });
    expect((await failureOf(client.call('flow', CARD, 1_000))).failure).toBe('connect');
  });

  it('an endless body is cut off long before it fills the memory', async () => {
    const { client, gateway } = await against(flood, { maxResponseBytes: 4_096 });
    const error = await failureOf(client.call('flow', CARD, 5_000));
    expect(error.failure).toBe('malformed');
    expect(error.message).toContain('4096');
    await hungUp(gateway);
  });

  it('an answer may be as long as is allowed, and not one byte longer', async () => {
    const { client: exact } = await against(answer(200, OK_FLOW), { maxResponseBytes: OK_FLOW.length });
    expect((await exact.call('flow', CARD, LONG_MS)).value).toBe(12.5);
    const { client: longer } = await against(answer(200, `${OK_FLOW} `), {
      maxResponseBytes: OK_FLOW.length,
    });
    expect((await failureOf(longer.call('flow', CARD, LONG_MS))).failure).toBe('malformed');
  });

  it('comes back on a new connection', async () => {
    let calls = 0;
    const { client } = await against((socket, request) => {
      calls += 1;
      (calls === 1 ? reset : answer(200, OK_FLOW))(socket, request);
    });
    await failureOf(client.call('flow', CARD, 1_000));
    expect((await client.call('flow', CARD, 1_000)).value).toBe(12.5);
  });
});

describe('the deadline', () => {
  const late: Array<[string, Behaviour]> = [
    ['no answer', hang],
    ['no body', hangAfterHead],
    ['a body that trickles', trickle],
  ];
  it.each(late)('ends the call and its connection: %s', async (_, behaviour) => {
    const { client, gateway } = await against(behaviour);
    const startedAt = performance.now();
    // Long enough for the call to arrive on a busy machine.
    const error = await failureOf(client.call('flow', CARD, 1_000));
    const tookMs = performance.now() - startedAt;
    expect(error.failure).toBe('timeout');
    expect(tookMs).toBeGreaterThanOrEqual(995);
    // The gateway would keep it for ever.
    expect(tookMs).toBeLessThan(LONG_MS);
    await hungUp(gateway);
  });

  it('is the configured one when the caller allows more', async () => {
    const { client } = await against(hang, { timeoutMs: 150 });
    const startedAt = performance.now();
    await failureOf(client.call('flow', CARD, 60_000));
    expect(performance.now() - startedAt).toBeLessThan(LONG_MS);
  });

  it('holds for a call that waits for a connection, which is then never sent', async () => {
    // The one connection is taken by the first call for longer than the second may take.
    const gateway = await startBadGateway(hang);
    opened.push(() => gateway.close());
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => lines.push(line) });
    const profile = { ...gatewayConfig({ url: gateway.url }), maxConnections: 1 };
    const client = new GatewayClient(profile, {
      log,
      clock: systemClock,
      calendar: CALENDAR,
      proxies: NO_PROXIES,
    });
    opened.push(() => client.close());
    const first = failureOf(client.call('stop', CARD, 2_000));
    const second = failureOf(client.call('stop', { cardId: 8, iccid: '1', carrierId: 0 }, 500));
    expect((await second).failure).toBe('timeout');
    expect((await first).failure).toBe('timeout');
    await hungUp(gateway);
    expect(gateway.requests.map(({ body }) => body)).toEqual([`{"iccid":"${CARD.iccid}"}`]);
  });

  it('keeps what the status said when the rest never comes', async () => {
    const { client } = await against((socket) =>
      socket.write('HTTP/1.1 429 Busy\r\nretry-after: 3\r\ncontent-length: 10\r\n\r\n'),
    );
    // Long enough for the head to arrive on a busy machine.
    const error = await failureOf(client.call('flow', CARD, 2_000));
    expect(error).toMatchObject({ failure: 'backpressure', details: { retryAfterMs: 3_000 } });
  });
});

it('ends the oldest of the calls that are slow, until a quarter of those to the interface are', async () => {
  const { client, gateway } = await against(hang);
  const ended: string[] = [];
  const begin = (name: InterfaceName, cardId: number) =>
    client.call(name, { ...CARD, cardId }, LONG_MS).catch(({ failure, message }: GatewayError) => {
      ended.push(`${name} ${cardId} ${failure} ${message.split(': ')[1]}`);
    });
  for (let card = 1; card <= 4; card += 1) void begin('realname', card);
  for (let card = 1; card <= 8; card += 1) void begin('flow', card);
  await expect.poll(() => gateway.waiting(), { interval: 5 }).toBe(12);
  client.endSlowCalls('flow', LONG_MS);
  expect(ended).toEqual([]);
  client.endSlowCalls('flow', 0);
  await expect.poll(() => gateway.waiting(), { interval: 5 }).toBe(6);
  expect(ended).toEqual([1, 2, 3, 4, 5, 6].map((card) => `flow ${card} timeout ended to make room`));
  client.endSlowCalls('flow', 0);
  await expect.poll(() => gateway.waiting(), { interval: 5 }).toBe(5);
});

it('close ends what is in flight as aborted, and what comes later', async () => {
  const { client, gateway } = await against(hang);
  const inFlight = failureOf(client.call('flow', CARD, 5_000));
  await expect.poll(() => gateway.requests.length, { interval: 5 }).toBe(1);
  await client.close();
  expect(await inFlight).toMatchObject({ failure: 'aborted', isGatewayFault: false });
  expect((await failureOf(client.call('flow', CARD, 5_000))).failure).toBe('aborted');
});
