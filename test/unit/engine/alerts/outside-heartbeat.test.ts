// The heartbeat for those who watch from outside: who sends it, how often, and that it is withheld when all may not be well.
// Real receivers; a clock that the test moves.
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { OutsideHeartbeat } from '../../../../src/engine/alerts/outside-heartbeat.ts';
import { parseAddressRange } from '../../../../src/platform/addresses.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { SsrfGuard } from '../../../../src/platform/ssrf-guard.ts';
import { answer, type Behaviour, hangUp, startBadGateway } from '../../../support/bad-gateway.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { MESSAGE_MEANS } from '../../../support/message-deps.ts';

const LOOPBACK = [parseAddressRange('127.0.0.1')].filter((range) => range !== null);
const SECRET = `whsec_${Buffer.from('a key of thirty-two bytes, or so').toString('base64')}`;
const TOKEN = 'f47ac10b-58cc-4372';

let fence: number | null;
let broken: () => string | null;
let logged: Array<Record<string, unknown>>;
let metered: string[];
let clock: FakeClock;

beforeEach(() => {
  [fence, logged, metered] = [1, [], []];
  broken = () => null;
  // Now: the library that verifies refuses what is old.
  clock = new FakeClock(Date.now());
});

async function receiving(behaviour: Behaviour) {
  const receiver = await startBadGateway(behaviour);
  onTestFinished(() => receiver.close());
  return receiver;
}

function beating(url: string, guard = new SsrfGuard(LOOPBACK, NO_PROXIES)): OutsideHeartbeat {
  return new OutsideHeartbeat({
    ...MESSAGE_MEANS,
    secrets: [SECRET],
    url: `${url}/ping/${TOKEN}/`,
    intervalMs: 60_000,
    guard,
    health: { brokenPromise: async () => broken() },
    fence: () => fence,
    meter: { webhookAttempt: (outcome) => metered.push(outcome) },
    clock,
    log: pino({ base: null, timestamp: false }, { write: (line: string) => logged.push(JSON.parse(line)) }),
    onError: (error) => expect.unreachable(String(error)),
  });
}

const pass = (one: OutsideHeartbeat) => one.runOnce(new AbortController().signal);

it('sends one message an interval, signed, to the URL as it is written', async () => {
  const receiver = await receiving(answer(200, 'OK'));
  const heartbeat = beating(receiver.url);
  expect(heartbeat.report).toEqual({ sentAtMs: null, trouble: null });
  expect(await pass(heartbeat)).toBe(60_000);
  const [request] = receiver.requests;
  expect(request).toMatchObject({ method: 'POST', path: `/ping/${TOKEN}/` });
  const { body = '', headers = {} } = request ?? {};
  expect(new Webhook(SECRET).verify(body, headers)).toMatchObject({
    event: 'heartbeat',
    sent_at: new Date(clock.now()).toISOString(),
    interval_seconds: 60,
    severity: 'info',
    fleet: '"cardpoll" (0197f3d2)',
    command: 'cardpoll doctor',
    runbook_url: `${MESSAGE_MEANS.runbookUrl}#heartbeat`,
    dedup_key: `${MESSAGE_MEANS.fleet.id}/heartbeat`,
    text: expect.stringMatching(/^cards are polled as configured/),
  });
  expect(heartbeat.report).toEqual({ sentAtMs: clock.now(), trouble: null });
  await pass(heartbeat);
  expect(metered).toEqual(['delivered', 'delivered']);
  expect(logged.map(({ msg }) => msg)).toEqual(['heartbeat delivered']);
});

it('is sent by the leader alone, and not by one that lost the lead while it looked', async () => {
  const receiver = await receiving(answer(200, 'OK'));
  const heartbeat = beating(receiver.url);
  fence = null;
  expect(await pass(heartbeat)).toBeLessThan(1_000);
  expect(heartbeat.report).toBeNull();
  fence = 2;
  broken = () => {
    fence = null;
    return null;
  };
  await pass(heartbeat);
  expect(receiver.requests).toEqual([]);
});

it('is withheld while the promise is broken or cannot be read, and sent as soon as it is kept again', async () => {
  const receiver = await receiving(answer(200, 'OK'));
  const heartbeat = beating(receiver.url);
  await pass(heartbeat);
  const sentAtMs = clock.now();
  clock.advance(60_000);
  broken = () => 'no_worker: no instance polls';
  expect(await pass(heartbeat)).toBe(10_000);
  await pass(heartbeat);
  expect(heartbeat.report).toEqual({ sentAtMs, trouble: 'no_worker: no instance polls' });
  broken = () => {
    throw new Error('Redis does not answer');
  };
  await expect(pass(heartbeat)).rejects.toThrow('Redis does not answer');
  expect(heartbeat.report?.trouble).toBe('the fleet could not be read: Redis does not answer');
  expect(receiver.requests).toHaveLength(1);
  broken = () => null;
  await pass(heartbeat);
  expect(receiver.requests).toHaveLength(2);
  expect(heartbeat.report?.trouble).toBeNull();
  expect(logged.map(({ msg, reason }) => `${msg}: ${reason ?? '-'}`)).toEqual([
    'heartbeat delivered: -',
    'heartbeat withheld: no_worker: no instance polls',
    'heartbeat withheld: the fleet could not be read: Redis does not answer',
    'heartbeat delivered: -',
  ]);
});

it.each([
  ['a status that refuses', answer(500, `no such check ${TOKEN}`), 'answered 500: no such check ***'],
  [
    'a watcher that does not know the check',
    answer(200, 'OK (not found)'),
    'answered 200: ignored the message: not found',
  ],
  [
    'a watcher that is called too often',
    answer(200, 'OK (rate limited)\n'),
    'answered 200: ignored the message: rate limited',
  ],
  [
    'a page to sign in',
    answer(200, '<!DOCTYPE html><html><head><title>Sign in</title></head></html>'),
    'answered 200: a page of HTML ("Sign in")',
  ],
  ['an error with status 200', answer(200, '{"error":"no such check"}'), 'error no such check'],
  ['a connection that is cut', hangUp, 'socket hang up'],
])('counts %s as not delivered, and tries again soon', async (_, behaviour, error) => {
  const heartbeat = beating((await receiving(behaviour)).url);
  expect(await pass(heartbeat)).toBe(10_000);
  expect(heartbeat.report).toMatchObject({ sentAtMs: null, trouble: expect.stringContaining(error) });
  expect(metered).toEqual(['retried']);
  expect(logged).toMatchObject([{ msg: 'heartbeat not delivered', reason: expect.stringContaining(error) }]);
  expect(JSON.stringify([logged, heartbeat.report])).not.toContain(TOKEN);
});

it('waits as long as the receiver asks', async () => {
  const heartbeat = beating((await receiving(answer(429, '', { 'retry-after': '120' }))).url);
  expect(await pass(heartbeat)).toBe(120_000);
});

it('calls no address that the guard does not permit, and says so', async () => {
  const receiver = await receiving(answer(200, 'OK'));
  const heartbeat = beating(receiver.url, new SsrfGuard([], NO_PROXIES));
  await pass(heartbeat);
  expect(receiver.accepted).toBe(0);
  expect(heartbeat.report?.trouble).toMatch(/127\.0\.0\.1 is not a public address/);
});
