// A gateway that fails in part, with real processes and stores: the healthy part is polled on while it lasts, and the
// whole after it. At which pace, and for hours: partial-failure-compressed.test.ts, on a fake clock.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoIccid } from '../../src/gateway/demo-fleet.ts';
import { openRedisLiveStore } from '../../src/store/redis/live-store.ts';
import { Fleet } from '../support/fleet.ts';
import { waitFor } from '../support/processes.ts';
import {
  broken,
  healthy,
  type Script,
  type ScriptedGateway,
  startScriptedGateway,
} from '../support/scripted-gateway.ts';

const CARDS = 120;
const INTERVAL_SECONDS = 3;
const ROUNDS = 3;
/** As many as a breaker needs to open. */
const FAILURES = 20;
const MAX_RETRY_AFTER_SECONDS = 3;

const cards = Array.from({ length: CARDS }, (_, i) => demoIccid(i + 1));
const failing = new Set(cards.slice(0, CARDS * 0.3));
let gateway: ScriptedGateway;
let fleet: Fleet;

beforeAll(async () => {
  gateway = await startScriptedGateway();
  fleet = await Fleet.start({
    gatewayUrl: gateway.url,
    env: { CARDPOLL_GATEWAY_MAX_RETRY_AFTER_SECONDS: String(MAX_RETRY_AFTER_SECONDS) },
  });
  await fleet.startDaemon();
  await fleet.setIntervals(INTERVAL_SECONDS);
  await fleet.importCards(CARDS);
  await waitFor(() => gateway.calls.card_status > 2 * CARDS, { what: 'two rounds' });
});

afterAll(async () => {
  fleet.close();
  await gateway.close();
});

type Counts = (interfaceName: string, iccid: string) => boolean;

const everything: Counts = () => true;

function callsThat(counts: Counts): number {
  let calls = 0;
  for (const [key, count] of gateway.callsOf) {
    const [interfaceName = '', iccid = ''] = key.split(' ');
    if (counts(interfaceName, iccid)) calls += count;
  }
  return calls;
}

/** Waits until every call that matches was made so many times more. */
async function rounds(counts: Counts, times: number, what: string): Promise<void> {
  gateway.forget();
  const wanted = ['realname', 'flow', 'card_status']
    .flatMap((interfaceName) => cards.map((iccid) => [interfaceName, iccid] as const))
    .filter((call) => counts(...call))
    .map((call) => call.join(' '));
  await waitFor(() => wanted.every((call) => (gateway.callsOf.get(call) ?? 0) >= times), { what });
}

const PARTS: Array<[string, Script, Counts]> = [
  [
    '30 % of the cards answer 500',
    (call) => (failing.has(call.iccid) ? broken : healthy(call)),
    (_, iccid) => !failing.has(iccid),
  ],
  [
    '/card/realname answers 500',
    (call) => (call.interfaceName === 'realname' ? broken : healthy(call)),
    (interfaceName) => interfaceName !== 'realname',
  ],
  [
    '/card/realname names its field otherwise',
    (call) => (call.interfaceName === 'realname' ? { body: { verified: true } } : healthy(call)),
    (interfaceName) => interfaceName !== 'realname',
  ],
];

it.each(PARTS)('%s', async (_, script, isHealthy) => {
  gateway.forget();
  gateway.follow(script);
  // The first failures open what they open; what is judged is the state after them.
  await waitFor(() => callsThat((...call) => !isHealthy(...call)) >= FAILURES, { what: 'calls to fail' });
  await rounds(isHealthy, ROUNDS, 'the healthy part to be polled on');
  gateway.follow(healthy);
  await rounds(everything, ROUNDS, 'the whole fleet to be polled again');
});

describe('a pause', () => {
  const carddata: Counts = (interfaceName) => interfaceName === 'flow';

  it('of an hour that the gateway asks for ends with the cap, and shows', async () => {
    const store = await openRedisLiveStore({ url: fleet.redisServer.url });
    gateway.follow((call) =>
      call.interfaceName === 'flow' ? { status: 429, headers: { 'retry-after': '3600' } } : healthy(call),
    );
    const [pause] = await waitFor(
      async () => {
        const pauses = await store.work.pauses();
        return pauses.length > 0 ? pauses : null;
      },
      { what: 'the pause to show' },
    );
    gateway.follow(healthy);
    expect(pause).toMatchObject({
      taskType: 'carddata',
      source: 'gateway',
      reason: 'flow answered HTTP 429',
    });
    expect((pause?.untilMs ?? 0) - (pause?.sinceMs ?? 0)).toBeLessThanOrEqual(
      2 * MAX_RETRY_AFTER_SECONDS * 1_000,
    );
    await waitFor(async () => (await store.work.pauses()).length === 0);
    const told = async (message: string) => (await fleet.logged(message)).length;
    await waitFor(async () => (await told('polling resumed')) >= (await told('polling paused')), {
      what: 'the log to tell of the end',
    });
    expect(await told('polling paused')).toBeGreaterThan(0);
    await rounds(carddata, ROUNDS, 'carddata to come back');
    await store.close();
  });

  it('ends at once when it is resumed', async () => {
    gateway.follow(healthy);
    const store = await openRedisLiveStore({ url: fleet.redisServer.url });
    await store.work.pause('carddata', {
      source: 'operator',
      ms: 600_000,
      reason: 'maintenance',
      by: 'sre',
    });
    await waitFor(async () => (await store.work.counts('carddata')).inFlight === 0);
    gateway.forget();
    await waitFor(() => gateway.calls.realname > CARDS);
    expect(gateway.calls.flow).toBe(0);
    expect(await store.work.resume('carddata')).toMatchObject([{ source: 'operator', by: 'sre' }]);
    await waitFor(() => gateway.calls.flow > CARDS);
    await store.close();
  });
});
