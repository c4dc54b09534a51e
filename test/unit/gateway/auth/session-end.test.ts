// A session that a gateway ends without a 401, and tokens that come in a header or a cookie, over real sockets. Time is the test's.
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SETTINGS } from '../../../../src/config/settings/settings.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import type { LoginRequest } from '../../../../src/domain/gateway/gateway-config.ts';
import type { InterfaceName } from '../../../../src/domain/gateway-interface.ts';
import { GatewayClient } from '../../../../src/gateway/call/client.ts';
import type { GatewayError } from '../../../../src/gateway/gateway.ts';
import { adviceFor } from '../../../../src/gateway/trial/advice.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { answer, type BadGateway, type Behaviour, startBadGateway } from '../../../support/bad-gateway.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { defaultsOf, type GatewayChanges, gatewayConfig } from '../../../support/gateway-config.ts';

const CARD = { cardId: 7, iccid: '89860000000000000071', carrierId: 3 };
const PAGE = '\n<!DOCTYPE html><html><form action="/login">Sign in</form></html>';
const SIGNED_OUT: ReadonlyArray<readonly [string, Behaviour]> = [
  [
    'a redirect to another server',
    answer(302, '', { location: 'https://sso.vendor.example/login?next=/flow' }),
  ],
  ['a redirect to another path', answer(303, PAGE, { location: '/login' })],
  ['the page itself', answer(200, PAGE)],
  [
    'a page in XHTML',
    answer(200, `<?xml version="1.0" encoding="UTF-8"?>\n<!-- CAS -->\n<!DOCTYPE html PUBLIC "x">${PAGE}`),
  ],
  ['a page that begins with a comment', answer(200, '<!-- IE --><script>top.location="/login"</script>')],
];
const REQUEST: LoginRequest = {
  ...{ method: 'POST', url: null, path: '/login', query: {}, headers: {}, body: null, bodyText: null },
  form: { user: '{username}', password: '{password}' },
};
/** A token of a body. */
const LOGIN = { kind: 'login', request: REQUEST, token: 'token', goodFor: 43_200 } as const;

let clock: FakeClock;
let gateway: BadGateway;
let lines: string[];
/** How a login is answered, how a call with a token that is good, and any other. */
let issue: (token: string) => Behaviour;
let serve: Behaviour;
let signOut: Behaviour;
/** Tokens that were issued, and the one that is good. */
let tokens: string[];
let good: string;
const opened: Array<() => Promise<void>> = [];

beforeEach(async () => {
  [clock, lines, tokens, good] = [new FakeClock(), [], [], ''];
  issue = (token) => answer(200, JSON.stringify({ token }));
  serve = answer(200, '{"code":200,"data":{"used":12.5}}');
  [[, signOut]] = SIGNED_OUT as [[string, Behaviour]];
  gateway = await startBadGateway((socket, request) => {
    if (request.path === '/login') {
      good = `issued-${tokens.length}-${crypto.randomUUID()}`;
      tokens.push(good);
      return issue(good)(socket, request);
    }
    const isGood = good !== '' && Object.values(request.headers).some((value) => value.endsWith(good));
    return (isGood ? serve : signOut)(socket, request);
  });
  opened.push(() => gateway.close());
});

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  for (const token of tokens) expect(lines.join('')).not.toContain(token);
});

function open(auth: Partial<GatewayChanges['auth']> = {}): GatewayClient {
  const profile = gatewayConfig({
    ...{ url: gateway.url, username: 'fleet', password: 'the-password' },
    auth: { ...defaultsOf(SETTINGS.auth), ...LOGIN, ...auth },
    errors: { path: 'code', message: 'msg', throttled: [], unknownCard: [], auth: ['1010'] },
  });
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const client = new GatewayClient(profile, {
    ...{ log, clock, calendar: new MonthCalendar('Asia/Shanghai'), proxies: NO_PROXIES },
  });
  opened.push(() => client.close());
  return client;
}

/** @returns the value, or why there is none. */
async function call(client: GatewayClient, name: InterfaceName = 'flow'): Promise<unknown> {
  try {
    return (await client.call(name, CARD, 600_000)).value;
  } catch (error) {
    return error;
  }
}

const AUTH = expect.objectContaining({
  failure: 'auth',
  message: expect.stringMatching(/: the session may be over, so a new token is asked for$/),
});

describe.each(SIGNED_OUT)('a session that ended, as %s says', (_, how) => {
  beforeEach(() => {
    signOut = how;
  });

  it('begins again with the next call', async () => {
    const client = open();
    expect(await call(client)).toBe(12.5);
    good = '';
    const failed = await Promise.all(Array.from({ length: 10 }, () => call(client)));
    expect(failed).toEqual(Array(10).fill(AUTH));
    expect(await Promise.all([call(client), call(client)])).toEqual([12.5, 12.5]);
    expect(tokens).toHaveLength(2);
  });

  it('is asked for once a minute where that does not help, and the answer is reported as it is', async () => {
    const client = open();
    await call(client);
    serve = how;
    const seen: unknown[] = [];
    for (let second = 0; second < 300; second += 10) {
      seen.push(await call(client));
      clock.advance(10_000);
    }
    expect(tokens.length).toBeLessThanOrEqual(7);
    const last = seen[1] as GatewayError;
    expect(last).toMatchObject({
      failure: expect.stringMatching(/^(http|malformed)$/),
      message: expect.stringMatching(/, and so it is with a new token$/),
    });
    expect(adviceFor('flow', last, null)).toMatch(/gateway\.auth\.send/);
    expect(adviceFor('flow', last, null)).not.toContain('gateway.url');
  });

  it('is not taken for a stop that succeeded', async () => {
    const client = open();
    await call(client);
    good = '';
    expect(await call(client, 'stop')).toMatchObject({ failure: 'auth', isRefusal: true });
    serve = answer(200, 'done');
    expect(await call(client, 'stop')).toBeNull();
  });
});

it.each([
  ['440 Login Time-out, of IIS', answer(440, '<html><body>Your session has expired.</body></html>')],
  ['419 Page Expired, of Laravel', answer(419, '{"message":"CSRF token mismatch."}')],
  [
    'a code of Tuya that the profile lists',
    answer(200, '{"code":1010,"msg":"token is expired","success":false}'),
  ],
])('a session that ended begins again after %s', async (_, how) => {
  signOut = how;
  const client = open();
  await call(client);
  clock.advance(120_000);
  good = '';
  expect(await call(client)).toMatchObject({ failure: 'auth' });
  expect(await call(client)).toBe(12.5);
  expect(tokens).toHaveLength(2);
});

it('a page is the answer to a stop where the token was issued just now', async () => {
  serve = answer(200, PAGE);
  expect(await call(open(), 'stop')).toBeNull();
});

it('a redirect to the same place under https:// is none to sign in', async () => {
  const client = open();
  await call(client);
  serve = answer(308, '', { location: `${gateway.url.replace('http', 'https')}/card/flow` });
  expect(await call(client)).toMatchObject({ failure: 'http' });
  expect(tokens).toHaveLength(1);
});

it('without tokens that are issued, a redirect is one', async () => {
  serve = signOut;
  const failed = await call(open({ kind: 'none' }));
  expect(failed).toMatchObject({
    failure: 'http',
    message: expect.stringMatching(/redirects are not followed$/),
  });
});

describe('a token outside of the body', () => {
  it.each([
    [
      'Identity: a header',
      { token: 'header:X-Subject-Token', send: { in: 'header', name: 'X-Auth-Token', scheme: null } },
      (token: string) => answer(201, '{"token":{"expires_at":"2026-11-30"}}', { 'x-subject-token': token }),
      (token: string) => ['x-auth-token', token],
    ],
    [
      'a cookie',
      { token: 'cookie:SID' },
      (token: string) => answer(204, '', { 'set-cookie': `SID=${token}; Path=/; HttpOnly` }),
      (token: string) => ['cookie', `SID=${token}`],
    ],
    [
      'a cookie of a redirect, which takes the former one away',
      { token: 'cookie:JSESSIONID' },
      (token: string) =>
        answer(302, '', {
          location: '/home',
          'Set-Cookie': 'JSESSIONID=; Max-Age=0',
          'set-cookie': `JSESSIONID=${token}`,
        }),
      (token: string) => ['cookie', `JSESSIONID=${token}`],
    ],
    [
      'a cookie that goes into a header',
      { token: 'cookie:XSRF-TOKEN', send: { in: 'header', name: 'X-XSRF-TOKEN', scheme: null } },
      (token: string) => answer(200, '<html>', { 'set-cookie': `XSRF-TOKEN=${token}` }),
      (token: string) => ['x-xsrf-token', token],
    ],
  ] as const)('%s', async (_, auth, how, sent) => {
    issue = how;
    const client = open(auth);
    expect(await call(client)).toBe(12.5);
    const [name = '', value] = sent(good);
    expect(gateway.requests.at(-1)?.headers[name]).toBe(value);
    good = '';
    expect(await call(client)).toEqual(AUTH);
    expect(await call(client)).toBe(12.5);
  });

  it.each([
    ['header:X-Subject-Token', answer(200, '{}')],
    ['cookie:SID', answer(200, PAGE, { 'set-cookie': 'SID=; Max-Age=0' })],
    ['cookie:SID', answer(200, PAGE, { 'set-cookie': 'OTHER=1' })],
  ])('is none if the answer to the login lacks it: %s', async (token, how) => {
    issue = () => how;
    const message = `no token: the answer of the token server has none at ${token}`;
    expect(await call(open({ token }))).toMatchObject({ failure: 'connect', message });
  });

  it('is masked where the gateway quotes it', async () => {
    issue = (token) => answer(200, '', { 'set-cookie': `SID=${token}` });
    serve = (socket, request) =>
      answer(200, JSON.stringify({ code: 7, msg: `no ${request.headers.cookie} ${good}` }))(socket, request);
    const failed = (await call(open({ token: 'cookie:SID' }))) as GatewayError;
    expect(failed.message).not.toContain(good);
  });
});

it.each([
  ['Retry-After', () => ({ 'retry-after': '30' })],
  [
    'its quota, as that of Auth0 does',
    () => ({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(clock.now() / 1_000 + 30) }),
  ],
])('a token server that refuses is asked again when it says so by %s', async (_, headers) => {
  issue = () => answer(429, '', headers());
  const client = open();
  const failed = (await call(client)) as GatewayError;
  expect(failed).toMatchObject({ failure: 'connect', message: 'no token: HTTP 429 of the token server' });
  clock.advance(29_000);
  expect(((await call(client)) as GatewayError).message).toMatch(/next attempt in 1 s$/);
  expect(tokens).toHaveLength(1);
  clock.advance(1_000);
  issue = (token) => answer(200, JSON.stringify({ token }));
  expect(await call(client)).toBe(12.5);
});
