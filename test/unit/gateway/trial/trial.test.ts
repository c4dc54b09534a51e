// A trial of a gateway's profile: what is shown of each call, and what to change when it does not fit.

import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { loadGatewayConfig } from '../../../../src/config/load-config.ts';
import { SETTINGS } from '../../../../src/config/settings/settings.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import type { GatewayConfig } from '../../../../src/domain/gateway/gateway-config.ts';
import type { InterfaceName } from '../../../../src/domain/gateway-interface.ts';
import { adviceFor } from '../../../../src/gateway/trial/advice.ts';
import { tryInterfaces } from '../../../../src/gateway/trial/trial.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import {
  answer,
  type Behaviour,
  garbage,
  hang,
  reset,
  startBadGateway,
} from '../../../support/bad-gateway.ts';
import { defaultsOf, type GatewayChanges, gatewayConfig } from '../../../support/gateway-config.ts';
import { ONCE_CREDENTIALS, startOnce } from '../../../support/gateways/1nce.ts';
import { tlsPair } from '../../../support/tls-pair.ts';

const CARD = { cardId: 7, iccid: '89860000000000000071', carrierId: 3 };
const SECRET = 'the secret of the fleet?';
const AUTH = defaultsOf(SETTINGS.auth);

const opened: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

function tried(config: GatewayConfig, only: InterfaceName | null) {
  const calendar = new MonthCalendar('Asia/Shanghai');
  return tryInterfaces(config, only, CARD, { clock: systemClock, calendar, proxies: NO_PROXIES });
}

async function against(
  behaviour: Behaviour,
  changes: Partial<GatewayChanges> = {},
  only: InterfaceName | null = 'flow',
) {
  const gateway = await startBadGateway(behaviour);
  opened.push(() => gateway.close());
  const trials = await tried(gatewayConfig({ url: gateway.url, ...changes }), only);
  return { gateway, trials, trial: trials[0] };
}

it('calls every interface that reads something, and shows what was read from where', async () => {
  const { gateway, tokens } = await startOnce();
  opened.push(() => gateway.close());
  gateway.growBytes = 12_500_000;
  const { clientId, clientSecret } = ONCE_CREDENTIALS;
  const { gateway: config } = await loadGatewayConfig({
    flags: { '--gateway-url': `${gateway.url}/management-api`, '--gateway-profile': '1nce' },
    env: { CARDPOLL_GATEWAY_CLIENT_ID: clientId, CARDPOLL_GATEWAY_CLIENT_SECRET: clientSecret },
  });
  const trials = await tried(config, null);
  expect(trials).toMatchObject([
    {
      interface: 'flow',
      request: {
        method: 'GET',
        url: expect.stringMatching(`/v1/sims/${CARD.iccid}/quota/data$`),
        body: null,
      },
      status: 200,
      answer: expect.stringContaining('"volume":487.5'),
      ok: true,
      value: 12.5,
      read_from: 'total_volume less volume (MB)',
      error: null,
      hint: null,
    },
    { interface: 'card_status', ok: true, value: 'Enabled', read_from: 'status' },
  ]);
  expect(trials[0]?.request?.headers).toContain('authorization: ***');
  expect(gateway.stats()).toMatchObject({ stops: {}, starts: {}, misunderstood: [], calls: { token: 1 } });
  expect(tokens.seconds).toBe(3_600);
});

it('calls a changing interface only if it is named', async () => {
  const ok = answer(200, '{"code":200}');
  expect((await against(ok, {}, null)).gateway.requests.map(({ path }) => path)).toEqual([
    '/card/realname',
    '/card/flow',
    '/card/status',
  ]);
  const { gateway, trial } = await against(ok, {}, 'stop');
  expect(gateway.requests.map(({ path }) => path)).toEqual(['/card/stop']);
  expect(trial).toMatchObject({ ok: true, value: null, read_from: null, hint: null });
});

it('says that the vendor still works on a call, and for how long it may', async () => {
  const pending = { path: null, values: [], forMs: 300_000 };
  const { trial } = await against(answer(202, ''), { interfaces: { stop: { pending } } }, 'stop');
  expect(trial).toMatchObject({ ok: true, value: null, pending_for_seconds: 300 });
});

describe('a failure says what to change', () => {
  const cases: ReadonlyArray<[string, Behaviour, string, RegExp, Partial<GatewayChanges>?]> = [
    ['HTTP 401', answer(401, ''), 'auth', /gateway\.auth/],
    ['HTTP 404', answer(404, ''), 'card', /interfaces\.flow\.path/],
    ['HTTP 422', answer(422, '{}'), 'card', /compare gateway\.interfaces\.flow/],
    ['HTTP 429', answer(429, ''), 'backpressure', /rate_limits/],
    ['HTTP 500', answer(500, ''), 'http', /the gateway failed/],
    [
      'a redirect',
      answer(301, '', { location: 'https://gateway/' }),
      'http',
      /gateway\.url \(http or https\)/,
    ],
    ['another code', answer(200, '{"code":0,"data":{"used":1}}'), 'business', /success\.values/],
    ['another code, as text', answer(200, '{"code":"200"}'), 'malformed', /the answer has code/],
    ['HTML', answer(200, '<html>'), 'malformed', /a page for people came back/],
    ['a page to sign in', answer(200, '<html><input type=password>'), 'malformed', /gateway\.auth, the cred/],
    [
      'a page that is too long',
      answer(200, `<html>${' '.repeat(70_000)}`),
      'malformed',
      /it is a page of HTML/,
    ],
    [
      'too long',
      answer(200, `{"a":"${'x'.repeat(70_000)}"}`),
      'malformed',
      /raise gateway\.max_response_bytes/,
    ],
    ['XML', answer(200, '<?xml version="1.0"?><a/>'), 'malformed', /only a module can read XML/],
    [
      'an unknown compression',
      answer(200, '(\u00b5/\u00fd', { 'content-encoding': 'zstd' }),
      'malformed',
      /gzip, deflate and br can be read/,
    ],
    [
      'an error without a value',
      answer(200, '{"code":200,"data":{"error":"x"}}'),
      'malformed',
      /gateway\.errors/,
    ],
    [
      'a redirect to sign in',
      answer(302, '', { location: 'https://console.vendor.example/login?next=/thing' }),
      'http',
      /sends callers without a session to sign in/,
    ],
    ['an empty answer', answer(200, ''), 'malformed', /not JSON/],
    [
      'a value elsewhere',
      answer(200, '{"code":200,"data":{"list":[{"usage":7},{"usage":8}]}}'),
      'malformed',
      /the answer has code, data\.list\[0\]\.usage$/,
    ],
    [
      'a list without the card',
      answer(200, '{"code":200,"data":{"list":[]}}'),
      'malformed',
      /the answer has code, data\.list \(an empty list\); if .* say so in gateway\.errors/,
    ],
    [
      'names with dots, which no path can have',
      answer(200, '{"code":200,"data":{"s1.fast":{"used":7},"s1.slow":{"used":8},"n":1}}'),
      'malformed',
      /the answer has code, data\.n, data \(only a module can read what is in it\)$/,
    ],
    [
      'a charset that does not exist',
      answer(200, '{"code":200}', { 'content-type': 'application/json; charset=utf8mb4' }),
      'malformed',
      /Content-Type/,
    ],
    ['no HTTP', garbage, 'malformed', /./],
    ['a reset', reset, 'network', /http or https/],
    ['no answer', hang, 'timeout', /timeout_ms/, { timeoutMs: 100 }],
    [
      'no token',
      answer(500, ''),
      'connect',
      /token_url/,
      { auth: { ...AUTH, kind: 'oauth2', tokenUrl: '/token' }, clientId: 'a', clientSecret: SECRET },
    ],
    [
      'an interface that is not offered',
      hang,
      'not_offered',
      /interfaces\.flow\.path/,
      { interfaces: { flow: null } },
    ],
  ];
  it.each(cases.map(([name, ...rest]) => [name, rest] as const))(
    '%s',
    async (_, [behaviour, error, hint, changes]) => {
      const { trial } = await against(behaviour, changes);
      expect(trial).toMatchObject({ ok: false, value: null, error, hint: expect.stringMatching(hint) });
      expect(trial?.reason).toBeTruthy();
    },
  );

  it('a certificate that is not trusted', async () => {
    const server = createServer(tlsPair('first'), (_, response) => response.end('{}'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    opened.push(async () => void server.close());
    const { port } = server.address() as AddressInfo;
    const [trial] = await tried(gatewayConfig({ url: `https://127.0.0.1:${port}` }), 'flow');
    expect(trial).toMatchObject({ error: 'connect', hint: expect.stringMatching(/gateway\.tls_ca/) });
  });

  it('nothing listens', async () => {
    const { gateway } = await against(hang, { timeoutMs: 100 });
    await gateway.close();
    opened.length = 0;
    const [trial] = await tried(gatewayConfig({ url: gateway.url }), 'flow');
    expect(trial).toMatchObject({
      error: 'connect',
      status: null,
      answer: '',
      hint: expect.stringMatching(/gateway\.url/),
    });
  });
});

describe('no secret is shown', () => {
  // A gateway that repeats everything it got.
  const echo: Behaviour = (socket, request) =>
    answer(200, JSON.stringify({ code: 500, msg: `${request.path} ${Object.values(request.headers)}` }))(
      socket,
      request,
    );
  const kinds: ReadonlyArray<readonly [string, Partial<GatewayChanges>]> = [
    ['bearer', { token: SECRET.replaceAll(' ', '-') }],
    ['basic', { username: 'user', password: SECRET, auth: { ...AUTH, kind: 'basic' } }],
    ['header', { token: 'k-1', auth: { ...AUTH, kind: 'header', name: 'X-Api-Key' } }],
    ['query', { token: SECRET, auth: { ...AUTH, kind: 'query', name: 'token' } }],
    ['hmac', { hmacKey: SECRET }],
  ];
  it.each(kinds)('%s', async (_, changes) => {
    const { trial, gateway } = await against(echo, changes);
    const [sent] = gateway.requests;
    const shown = JSON.stringify(trial?.request) + (changes.token === 'k-1' ? '' : JSON.stringify(trial));
    const {
      authorization = '',
      'x-cardpoll-signature': signature = '',
      'x-api-key': key = '',
    } = sent?.headers ?? {};
    const secrets = [authorization.split(' ')[1] ?? '', signature, key, changes.token ?? '', SECRET];
    for (const secret of secrets.flatMap((text) => [text, encodeURIComponent(text)])) {
      if (secret !== '') expect(shown).not.toContain(secret);
    }
    expect(shown).toContain('***');
  });
});

it('gives an interface the time that it has of its own, also when that is more than gateway.timeout_ms', async () => {
  const late: Behaviour = (socket, request) =>
    void setTimeout(() => answer(200, '{"code":200,"data":{"used":1}}')(socket, request), 300);
  const { trial } = await against(late, { timeoutMs: 50, interfaces: { flow: { timeoutMs: 60_000 } } });
  expect(trial).toMatchObject({ ok: true, value: 1 });
});

it('asks for no other place when a call was not made or was cut', () => {
  const trace = {
    request: {
      method: 'GET' as const,
      path: '/',
      headers: [],
      body: null,
      secret: { headers: [], query: [], body: false },
    },
    status: 200,
    body: '{"a":1}',
  };
  const hints = (['held', 'aborted'] as const).map((failure) =>
    adviceFor('flow', { failure, message: '', details: {} }, trace),
  );
  expect(hints.filter((hint) => /place|unit|JSON/.test(hint))).toEqual([]);
});

it('shows the beginning of a long answer', async () => {
  const { trial } = await against(answer(200, `{"code":200,"data":{"used":1},"x":"${'é'.repeat(20_000)}"}`));
  expect(trial).toMatchObject({ ok: true, value: 1 });
  expect(trial?.answer).toHaveLength(4_000);
});
