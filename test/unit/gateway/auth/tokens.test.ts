// Tokens of OAuth 2 and of logins over real sockets: one server issues tokens and checks them at every call. Time is the test's, on
// both sides, so no pause of the machine ends a token early.
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SETTINGS } from '../../../../src/config/settings/settings.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { GatewayClient } from '../../../../src/gateway/call/client.ts';
import type { GatewayAnswer, GatewayError } from '../../../../src/gateway/gateway.ts';
import { SIGNATURE_HEADER, signatureOf } from '../../../../src/gateway/request/request.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import {
  answer,
  type BadGateway,
  type Behaviour,
  flood,
  garbage,
  hang,
  hangUp,
  startBadGateway,
  trickle,
} from '../../../support/bad-gateway.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { defaultsOf, type GatewayChanges, gatewayConfig } from '../../../support/gateway-config.ts';

const CARD = { cardId: 7, iccid: '89860000000000000071', carrierId: 3 };
/** The gateway answers 403 for this card, whatever the token. */
const FORBIDDEN = { cardId: 8, iccid: '89860000000000000089', carrierId: 3 };
const CALENDAR = new MonthCalendar('Asia/Shanghai');
const SECRET = 'the-secret-of-the-fleet';
const OK_FLOW = answer(200, '{"code":200,"data":{"used":12.5}}');
/** Longer than any test, for what must end long before. */
const LONG_MS = 600_000;

/** The same request as a login of a profile, which says the names of OAuth itself. */
const LOGIN = {
  kind: 'login',
  request: {
    method: 'POST',
    url: null,
    path: '/oauth/token',
    query: {},
    headers: {},
    body: { app: '{client_id}', secret: '{client_secret}', number: '{sequence}' },
    bodyText: null,
    form: null,
  },
  token: 'access_token',
  expiresIn: 'expires_in',
  goodFor: 3_600,
} as const;
const KINDS = { oauth2: { kind: 'oauth2', tokenUrl: '/oauth/token' }, login: LOGIN } as const;

let kind: keyof typeof KINDS = 'oauth2';
let clock = new FakeClock();
let endsAt = new Map<string, number>();
let lines: string[] = [];
const opened: Array<() => Promise<void>> = [];

beforeEach(() => {
  clock = new FakeClock();
  endsAt = new Map();
  lines = [];
});

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  const log = lines.join('');
  for (const secret of [SECRET, encodeURIComponent(SECRET), ...endsAt.keys()])
    expect(log).not.toContain(secret);
});

/** Issues a token that the server accepts for so long. */
function issue(lifeS: number, said: unknown = lifeS): Behaviour {
  return (socket, request) => {
    const token = `issued-${endsAt.size}-${crypto.randomUUID()}`;
    endsAt.set(token, clock.monotonic() + lifeS * 1_000);
    answer(200, JSON.stringify({ access_token: token, token_type: 'bearer', expires_in: said }))(
      socket,
      request,
    );
  };
}

interface Server {
  issue: Behaviour;
  refuse: Behaviour;
  readonly gateway: BadGateway;
  readonly tokenRequests: () => BadGateway['requests'];
  readonly calls: () => BadGateway['requests'];
}

async function startServer(issueFirst: Behaviour = issue(3_600)): Promise<Server> {
  const isForToken = (path: string) => path.startsWith('/oauth/token');
  const server = { issue: issueFirst, refuse: answer(401, '') };
  const gateway = await startBadGateway((socket, request) => {
    if (isForToken(request.path)) return server.issue(socket, request);
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    if (request.body.includes(FORBIDDEN.iccid)) return answer(403, '')(socket, request);
    const valid = (endsAt.get(token) ?? Number.NEGATIVE_INFINITY) > clock.monotonic();
    return (valid ? OK_FLOW : server.refuse)(socket, request);
  });
  opened.push(() => gateway.close());
  return Object.assign(server, {
    gateway,
    tokenRequests: () => gateway.requests.filter(({ path }) => isForToken(path)),
    calls: () => gateway.requests.filter(({ path }) => !isForToken(path)),
  });
}

function open(
  { gateway: { url } }: Server,
  {
    auth = {},
    ...changes
  }: Partial<Omit<GatewayChanges, 'auth'>> & { auth?: Partial<GatewayChanges['auth']> } = {},
  time: FakeClock | typeof systemClock = clock,
): GatewayClient {
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const profile = gatewayConfig({
    url,
    clientId: 'fleet',
    clientSecret: SECRET,
    ...changes,
    auth: {
      ...defaultsOf(SETTINGS.auth),
      ...KINDS[kind],
      ...auth,
    },
  });
  const client = new GatewayClient(profile, { log, clock: time, calendar: CALENDAR, proxies: NO_PROXIES });
  opened.push(() => client.close());
  return client;
}

type Outcome = GatewayAnswer | GatewayError;

function call(client: GatewayClient, timeoutMs = LONG_MS): Promise<Outcome> {
  return client.call('flow', CARD, timeoutMs).catch((error: GatewayError) => error);
}

async function failure(client: GatewayClient): Promise<GatewayError> {
  const outcome = await call(client);
  expect(outcome).toBeInstanceOf(Error);
  expect(outcome).toMatchObject({ isCardFault: false, isGatewayFault: true, isRefusal: true });
  expect((outcome as Error).message).not.toContain(SECRET);
  return outcome as GatewayError;
}

const value = (outcome: Outcome) => ('value' in outcome ? outcome.value : outcome.message);

// Renewal is one class, whatever the source of tokens.
describe('a token', () => {
  it('a token of four seconds is renewed ahead of its end, and no call fails', async () => {
    const server = await startServer(issue(4));
    const client = open(server);
    let atOnce = 0;
    let mostAtOnce = 0;
    const issuing = server.issue;
    server.issue = (socket, request) => {
      atOnce += 1;
      mostAtOnce = Math.max(mostAtOnce, atOnce);
      setTimeout(() => {
        atOnce -= 1;
        issuing(socket, request);
      }, 2);
    };
    for (let step = 0; step < 100; step += 1) {
      const outcomes = await Promise.all(Array.from({ length: 4 }, () => call(client)));
      expect(outcomes.map(value)).toEqual(Array(4).fill(12.5));
      clock.advance(200);
    }
    expect(mostAtOnce).toBe(1);
    // 20 seconds: a renewal every three, or a little later.
    expect(server.tokenRequests().length).toBeGreaterThanOrEqual(5);
    expect(server.tokenRequests().length).toBeLessThanOrEqual(8);
  });

  it('is asked for once, whatever the number of first calls', async () => {
    const server = await startServer();
    const client = open(server);
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => call(client)));
    expect(outcomes.map(value)).toEqual(Array(100).fill(12.5));
    clock.advance(3_000_000);
    expect(value(await call(client))).toBe(12.5);
    expect(server.tokenRequests()).toHaveLength(1);
  });

  it.each([-3_600_000, 3_600_000])('lives as long when the wall clock is set by %i ms', async (stepMs) => {
    const server = await startServer(issue(4));
    const client = open(server);
    expect(value(await call(client))).toBe(12.5);
    clock.set(clock.now() + stepMs);
    expect(value(await call(client))).toBe(12.5);
    expect(server.tokenRequests()).toHaveLength(1);
    clock.advance(4_000);
    expect(value(await call(client))).toBe(12.5);
    expect(server.tokenRequests()).toHaveLength(2);
  });

  it('makes no call late that rate limits allowed while it was waited for', async () => {
    const server = await startServer();
    const client = open(server, {
      rateLimits: [{ kind: 'calls', interfaces: null, calls: 50, unit: 'second', burst: 20 }],
    });
    const late = await Promise.all(Array.from({ length: 100 }, () => call(client)));
    expect(late).toEqual(
      Array(100).fill(expect.objectContaining({ failure: 'held', isGatewayFault: false })),
    );
    expect(server.calls()).toHaveLength(0);
    clock.advance(3_600_000);
    await client.ready();
    expect(value(await call(client))).toBe(12.5);
  });

  it('is still used while its renewal fails, and until its end only', async () => {
    const server = await startServer(issue(100));
    const client = open(server);
    await call(client);
    server.issue = answer(500, '');
    clock.advance(80_000);
    expect(value(await call(client))).toBe(12.5);
    await expect.poll(() => server.tokenRequests().length).toBe(2);
    clock.advance(15_000);
    expect(value(await call(client))).toBe(12.5);
    clock.advance(4_900);
    expect((await failure(client)).failure).toBe('connect');
    expect(server.calls()).toHaveLength(3);
  });

  it.each([
    ['0', 0],
    ['0 as text', '0'],
    ['negative', -1],
    ['negative as text', '-1'],
    ['a thousandth of a second', 0.001],
  ])('is no token when its life is %s', async (_, said) => {
    const server = await startServer(issue(3_600, said));
    const { failure: kind, message } = await failure(open(server));
    expect([kind, message]).toEqual(['connect', expect.stringContaining('expires_in')]);
    expect(server.calls()).toHaveLength(0);
  });

  it.each([
    ['is missing', undefined],
    ['is null', null],
    ['is no number', 'soon'],
  ])('is good for an hour when its life %s', async (_, said) => {
    const server = await startServer(issue(3_600, said));
    const client = open(server);
    for (const ms of [0, 3_500_000]) {
      clock.advance(ms);
      expect(value(await call(client))).toBe(12.5);
      expect(server.tokenRequests()).toHaveLength(1);
    }
    clock.advance(99_000);
    expect(value(await call(client))).toBe(12.5);
    await expect.poll(() => server.tokenRequests().length).toBe(2);
  });

  it('is renewed once a day, if it says that it never ends', async () => {
    const server = await startServer((socket, request) => {
      endsAt.set('for-ever', Number.POSITIVE_INFINITY);
      answer(200, '{"access_token":"for-ever","expires_in":1e400}')(socket, request);
    });
    const client = open(server);
    await call(client);
    clock.advance(86_300_000);
    await call(client);
    expect(server.tokenRequests()).toHaveLength(1);
    clock.advance(90_000);
    await call(client);
    await expect.poll(() => server.tokenRequests().length).toBe(2);
  });
});

describe('a token that the gateway refuses', () => {
  it.each([
    ['401', answer(401, '')],
    ['a code under HTTP 200', answer(200, '{"code":1001}')],
  ])('is replaced at once, once for all calls: %s', async (_, refuse) => {
    const server = await startServer();
    server.refuse = refuse;
    const client = open(server, {
      errors: { path: 'code', message: null, throttled: [], unknownCard: [], auth: ['1001'] },
    });
    for (let revocation = 1; revocation <= 3; revocation += 1) {
      expect(value(await call(client))).toBe(12.5);
      for (const token of endsAt.keys()) endsAt.set(token, 0);
      const refused = await Promise.all(Array.from({ length: 20 }, () => call(client)));
      for (const outcome of refused) expect(outcome).toMatchObject({ failure: 'auth', isGatewayFault: true });
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => call(client)));
      expect(outcomes.map(value)).toEqual(Array(20).fill(12.5));
      expect(server.tokenRequests()).toHaveLength(1 + revocation);
      clock.advance(120_000);
    }
  });

  it('does not lead to a storm when every token is refused', async () => {
    // It issues tokens that it does not accept.
    const server = await startServer(issue(-1, 3_600));
    const client = open(server);
    const atMs: number[] = [];
    for (let step = 0; step < 800; step += 1) {
      const before = server.tokenRequests().length;
      expect(await call(client)).toMatchObject({ failure: 'auth', isGatewayFault: true });
      if (server.tokenRequests().length > before) atMs.push(clock.monotonic());
      clock.advance(250);
    }
    const pauses = atMs.slice(1).map((at, i) => at - (atMs[i] as number));
    // The first one may have been revoked; from the second on the pause doubles up to a minute.
    expect(pauses.slice(0, 8).map((ms) => Math.round(ms / 1_000))).toEqual([0, 1, 2, 4, 8, 16, 32, 60]);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(61_000);
    expect(server.calls().length).toBe(server.tokenRequests().length);
    server.issue = issue(3_600);
    clock.advance(61_000);
    expect(value(await call(client))).toBe(12.5);
  });
});

it('a token that works for others is not to blame for cards that the gateway forbids', async () => {
  const server = await startServer();
  const client = open(server);
  for (let second = 0; second < 200; second += 1) {
    expect(value(await call(client))).toBe(12.5);
    await client.call('flow', FORBIDDEN, LONG_MS).catch(() => {});
    clock.advance(1_000);
  }
  expect(server.calls()).toHaveLength(400);
  expect(server.tokenRequests().length).toBeLessThanOrEqual(5);
});

describe.each(['oauth2', 'login'] as const)('%s', (source) => {
  beforeEach(() => {
    kind = source;
  });
  afterEach(() => {
    kind = 'oauth2';
  });

  it('a token is read from an answer that begins with a byte order mark', async () => {
    const server = await startServer((socket, request) => {
      endsAt.set('marked', Number.POSITIVE_INFINITY);
      answer(200, '\uFEFF{"access_token":"marked","expires_in":60}')(socket, request);
    });
    expect(value(await call(open(server)))).toBe(12.5);
  });

  describe('a token server that fails', () => {
    const troubles: ReadonlyArray<readonly [string, Behaviour, GatewayError['failure'], string]> = [
      ['HTTP 500', answer(500, 'secret stack trace'), 'connect', 'HTTP 500'],
      ['HTTP 429', answer(429, ''), 'connect', 'HTTP 429'],
      ['a redirect', answer(302, '', { location: 'http://127.0.0.1:1/' }), 'connect', 'HTTP 302'],
      ['HTML', answer(200, '<html>Sign in</html>'), 'connect', 'not JSON'],
      ['an empty answer', answer(200, ''), 'connect', 'not JSON'],
      ['null', answer(200, 'null'), 'connect', 'access_token'],
      ['no token', answer(200, '{"expires_in":60}'), 'connect', 'access_token'],
      ['an empty token', answer(200, '{"access_token":"","expires_in":60}'), 'connect', 'access_token'],
      ['a token with a line break', answer(200, '{"access_token":"a\\r\\nx: y"}'), 'connect', 'access_token'],
      ['a token that is a number', answer(200, '{"access_token":12}'), 'connect', 'access_token'],
      ['an endless answer', flood, 'connect', 'longer than'],
      ['no HTTP', garbage, 'connect', 'no token'],
      ['no answer', hangUp, 'connect', 'no token'],
      [
        'a refusal, 401',
        answer(401, ''),
        'auth',
        source === 'login' ? 'gateway.auth.request' : 'client id and secret',
      ],
      [
        'a refusal, 400',
        answer(400, '{"error":"invalid_client"}'),
        'auth',
        source === 'login' ? 'HTTP 400' : 'invalid_client',
      ],
      [
        'a wrong scope',
        answer(400, '{"error":"invalid_scope"}'),
        'auth',
        source === 'login' ? 'HTTP 400' : 'invalid_scope',
      ],
      ['a refusal that quotes', answer(400, `{"error":"${SECRET}"}`), 'auth', 'HTTP 400'],
    ];
    it.each(troubles)('%s: with growing pauses, and then works again', async (_, trouble, kind, says) => {
      const server = await startServer(trouble);
      const client = open(server);
      for (const [asked, pauseMs] of [
        [1, 1_000],
        [2, 2_000],
        [3, 4_000],
      ] as const) {
        const outcomes = await Promise.all([failure(client), failure(client), failure(client)]);
        for (const error of outcomes)
          expect([error.failure, error.message]).toEqual([kind, expect.stringContaining(says)]);
        expect(server.tokenRequests()).toHaveLength(asked);
        clock.advance(pauseMs - 1);
        expect((await failure(client)).message).toMatch(/next attempt in 1 s$/);
        expect(server.tokenRequests()).toHaveLength(asked);
        clock.advance(1);
      }
      expect(server.calls()).toHaveLength(0);
      server.issue = issue(3_600);
      expect(value(await call(client))).toBe(12.5);
      expect(server.tokenRequests()).toHaveLength(4);
    });

    it('a token server that is away counts as a gateway that cannot be reached', async () => {
      const server = await startServer();
      const away = await startServer();
      await away.gateway.close();
      const client = open(server, {
        auth:
          source === 'login'
            ? { request: { ...LOGIN.request, url: away.gateway.url } }
            : { tokenUrl: `${away.gateway.url}/oauth/token` },
      });
      const { failure: kind, message } = await failure(client);
      expect([kind, message]).toEqual(['connect', expect.stringContaining('ECONNREFUSED')]);
    });

    it.each([
      ['says nothing', hang],
      ['trickles', trickle],
    ])('and %s does not hold a call beyond its deadline', async (_, trouble) => {
      const server = await startServer(trouble);
      const client = open(server, { timeoutMs: LONG_MS }, systemClock);
      const outcome = await call(client, 100);
      expect(outcome).toMatchObject({ failure: 'connect', message: expect.stringContaining('token') });
      // On a busy machine the deadline may be over before the request arrives.
      expect(server.tokenRequests().length).toBeLessThanOrEqual(1);
    });

    it.each([
      ['says nothing', hang],
      ['trickles', trickle],
    ])('and %s is given up after the timeout of the gateway', async (_, trouble) => {
      const server = await startServer(trouble);
      const client = open(server, { timeoutMs: 100 }, systemClock);
      expect(await call(client)).toMatchObject({
        failure: 'connect',
        message: expect.stringContaining('token'),
      });
      await expect.poll(() => server.gateway.waiting()).toBe(0);
      await expect.poll(() => lines.filter((line) => line.includes('not issued')).length).toBe(1);
    });

    it('is asked with the new secret by calls that wait while it is rotated, however often', async () => {
      const server = await startServer(hang);
      const client = open(server, { hmacKey: 'key of first' });
      const outcomes = [call(client), call(client)];
      const tls = { ca: null, pair: null };
      const none = { token: null, username: null, password: null, clientId: 'fleet', tls };
      for (const [i, clientSecret] of ['second', 'third'].entries()) {
        await expect.poll(() => server.tokenRequests().length).toBe(i + 1);
        if (clientSecret === 'third') server.issue = issue(3_600);
        client.replaceCredentials({ ...none, clientSecret, hmacKey: `key of ${clientSecret}` });
      }
      expect((await Promise.all(outcomes)).map(value)).toEqual([12.5, 12.5]);
      const [, , { headers, body } = expect.unreachable('three requests')] = server.tokenRequests();
      const basic = `Basic ${Buffer.from('fleet:third').toString('base64')}`;
      if (source === 'oauth2') expect(headers.authorization).toBe(basic);
      else expect(JSON.parse(body)).toMatchObject({ app: 'fleet', secret: 'third' });
      expect(server.tokenRequests()).toHaveLength(3);
      for (const { method, path, headers, body } of server.calls()) {
        const signature = signatureOf({ method, path, body }, 'key of third', clock.now());
        expect(headers[SIGNATURE_HEADER]).toBe(signature);
      }
      expect(lines.filter((line) => line.includes('not issued'))).toEqual([]);
    });

    it('ends with the client', async () => {
      const server = await startServer(hang);
      const client = open(server);
      const outcome = call(client);
      await expect.poll(() => server.tokenRequests().length).toBe(1);
      await client.close();
      expect(await outcome).toMatchObject({ failure: 'aborted', isGatewayFault: false });
      expect(lines.filter((line) => line.includes('not issued'))).toEqual([]);
    });
  });
});

describe('a request for a token', () => {
  const ODD = [
    ['colon and percent', 'a:b', '100%:sure%41'],
    ['spaces and signs', 'our fleet', 'x+y=z&q/#?'],
    ['other scripts', '车队', 'пароль é 😀'],
  ] as const;

  it.each(ODD)(
    'encodes id and secret as form fields in the header: %s',
    async (_, clientId, clientSecret) => {
      const server = await startServer();
      await call(open(server, { clientId, clientSecret, auth: { scope: 'sims usage' } }));
      const [request] = server.tokenRequests();
      expect(request).toMatchObject({ method: 'POST', path: '/oauth/token' });
      expect(request?.headers['content-type']).toBe('application/x-www-form-urlencoded');
      const [id = '', secret = '', ...rest] = Buffer.from(
        request?.headers.authorization?.replace('Basic ', '') ?? '',
        'base64',
      )
        .toString('ascii')
        .split(':');
      const decoded = (text: string) => new URLSearchParams(`a=${text}`).get('a');
      expect([decoded(id), decoded(secret), rest]).toEqual([clientId, clientSecret, []]);
      expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
        grant_type: 'client_credentials',
        scope: 'sims usage',
      });
    },
  );

  it.each(ODD)('asks with JSON on demand: %s', async (_, clientId, clientSecret) => {
    const server = await startServer();
    await call(open(server, { clientId, clientSecret, auth: { tokenRequest: 'json', scope: 'sims' } }));
    const [request] = server.tokenRequests();
    const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      authorization: `Basic ${basic}`,
    });
    expect(JSON.parse(request?.body ?? '')).toEqual({ grant_type: 'client_credentials', scope: 'sims' });
  });

  it.each(ODD)('has them in the body on demand: %s', async (_, clientId, clientSecret) => {
    const server = await startServer();
    await call(open(server, { clientId, clientSecret, auth: { clientAuth: 'body' } }));
    const [request] = server.tokenRequests();
    expect(request?.headers.authorization).toBeUndefined();
    expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    });
  });

  it('goes to another server if the address is whole, query and all', async () => {
    const server = await startServer();
    const issuer = await startServer();
    const client = open(server, { auth: { tokenUrl: `${issuer.gateway.url}/oauth/token?tenant=a%20b` } });
    expect(value(await call(client))).toBe(12.5);
    expect(server.tokenRequests()).toHaveLength(0);
    expect(issuer.gateway.requests.map(({ path }) => path)).toEqual(['/oauth/token?tenant=a%20b']);
  });
});

describe('a login', () => {
  const login = (auth: Partial<GatewayChanges['auth']>) => ({ ...LOGIN, ...auth });
  const secondsOf = (name: string) => lines.flatMap((line) => JSON.parse(line)[name] ?? []);

  it('asks as the profile says, with new numbers each time, and calls have the token where it says', async () => {
    const server = await startServer((socket, request) => {
      endsAt.set('first+/=', Number.POSITIVE_INFINITY);
      answer(201, '{"result":[{"session":"first+/=","ttl":"60"}]}')(socket, request);
    });
    const client = open(server, {
      username: 'our fleet',
      password: 'p@ss "word"',
      auth: login({
        request: {
          ...LOGIN.request,
          method: 'PUT',
          path: '/oauth/token?v=1',
          query: { user: '{username}', n: '{sequence}', of: '{uuid}' },
          headers: { 'X-Pass': '{password}', 'X-Of': '{uuid}' },
          body: { at: '{timestamp}', s: '{epoch}', ms: '{epoch_ms}', n: '{sequence}', pass: '{password}' },
        },
        token: 'result[0].session',
        expiresIn: 'result[0].ttl',
        goodFor: null,
        send: { in: 'query', name: 'to-ken', scheme: null },
      }),
    });
    for (let round = 0; round < 2; round += 1) {
      await call(client);
      clock.advance(61_000);
    }
    const asked = server.tokenRequests().map(({ method, path, headers, body }) => {
      const query = Object.fromEntries(new URLSearchParams(path.split('?')[1]));
      return { method, query, pass: headers['x-pass'], of: headers['x-of'], body: JSON.parse(body) };
    });
    expect(asked).toHaveLength(2);
    for (const { method, query, pass, of, body } of asked) {
      expect([method, query.v, query.user, pass, body.pass]).toEqual([
        'PUT',
        '1',
        'our fleet',
        'p@ss "word"',
        'p@ss "word"',
      ]);
      expect([query.of, query.n]).toEqual([of, body.n]);
      expect(body).toMatchObject({
        n: expect.stringMatching(/^\d{8}$/),
        at: expect.stringMatching(/^\d{14}$/),
      });
      expect([Number(body.s), body.ms.slice(0, -3)]).toEqual([Math.floor(Number(body.ms) / 1_000), body.s]);
    }
    expect(asked[0]?.body.n).not.toBe(asked[1]?.body.n);
    expect(asked[0]?.of).not.toBe(asked[1]?.of);
    expect(server.calls().map(({ path }) => path.split('?')[1])).toEqual(
      Array(2).fill('to-ken=first%2B%2F%3D'),
    );
    expect(secondsOf('expires_in_s')).toEqual([60, 60]);
  });

  it.each([
    ['is a word', '{"access_token":"a-token","expires_in":"soon"}'],
    ['is missing', '{"access_token":"a-token"}'],
  ])('is no login when its life %s, and the profile has no other', async (_, text) => {
    const server = await startServer(answer(200, text));
    const { failure: kind, message } = await failure(open(server, { auth: login({ goodFor: null }) }));
    expect([kind, message]).toEqual([
      'connect',
      'no token: the answer does not say at expires_in how many seconds it is good',
    ]);
  });

  it.each([
    ['ten years', 315_360_000, 86_400],
    ['less than a day', 7_200.5, 7_200.5],
    ['nothing', null, 5_400],
  ])('a login with a token that is valid for %s', async (_, said, lifeS) => {
    const server = await startServer(issue(1e9, said));
    const client = open(server, { auth: login({ goodFor: 5_400 }) });
    await call(client);
    expect(secondsOf('expires_in_s')).toEqual([lifeS]);
    clock.advance(lifeS * 1_000 - 61_000);
    await call(client);
    expect(server.tokenRequests()).toHaveLength(1);
    clock.advance(2_000);
    await call(client);
    await expect.poll(() => server.tokenRequests().length).toBe(2);
  });

  it('a login that is refused with HTTP 200 shows the code, and nothing that it quotes', async () => {
    const errors = { path: 'status', message: 'message', throttled: [], unknownCard: [], auth: ['12001'] };
    const server = await startServer(
      answer(200, `{"status":"12001","message":"wrong: ${SECRET}","result":[]}`),
    );
    const first = await failure(open(server, { errors, auth: login({ token: 'result[0].token' }) }));
    expect([first.failure, first.message]).toEqual([
      'auth',
      'no token: the answer of the token server has none at result[0].token, and status 12001',
    ]);
    server.issue = answer(200, `{"status":"${SECRET}"}`);
    const second = await failure(open(server, { errors, auth: login({ token: 'result[0].token' }) }));
    expect([second.failure, second.message]).toEqual([
      'connect',
      'no token: the answer of the token server has none at result[0].token',
    ]);
  });

  it('a login with a server that is away for an hour is tried once a minute, and then works', async () => {
    const server = await startServer(answer(503, ''));
    const client = open(server, { auth: LOGIN });
    for (let second = 0; second < 3_600; second += 2) {
      await failure(client);
      clock.advance(2_000);
    }
    // 1 + 2 + 4 + 8 + 16 + 32 s, then once a minute.
    expect(server.tokenRequests().length).toBeGreaterThanOrEqual(60);
    expect(server.tokenRequests().length).toBeLessThanOrEqual(67);
    expect(server.calls()).toEqual([]);
    server.issue = issue(3_600);
    clock.advance(60_000);
    expect(value(await call(client))).toBe(12.5);
  });
});
