// A gateway that fails in part, with real processes and stores: each interface keeps the pace of its healthy part while it
// lasts, and the whole is back after it. A pace is compared with the pace before, in one run, as the gateway counts its
// good answers. Six thousand cards at 30 s, so that trouble begins long before every failing card is known as failing.
// Hours of it: partial-failure-compressed.test.ts, on a fake clock. More kinds of trouble: npm run bench:flow.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
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

const INTERFACES = ['realname', 'flow', 'card_status'] as const;
const CARDS = 6_000;
const INTERVAL_SECONDS = 30;
const REVOLUTION_MS = INTERVAL_SECONDS * 1_000;
const SETTLE_MS = 20_000;
const DELAY_MS = 20;
const GOAL = 0.9;
const MAX_RETRY_AFTER_SECONDS = 3;
/** Longer than the deadline of a call. */
const HANGS = { ...broken, delayMs: 6_000 };

/** Their ids follow each other, as those of one delivery do: they are polled one after another. */
const failing = new Set(Array.from({ length: CARDS / 5 }, (_, i) => demoIccid(i + 1)));
let gateway: ScriptedGateway;
let fleet: Fleet;
/** Good answers since the test began, by interface. */
let good: Record<string, number> = {};

beforeAll(async () => {
  gateway = await startScriptedGateway();
  follow(healthy);
  fleet = await Fleet.start({
    gatewayUrl: gateway.url,
    env: { CARDPOLL_GATEWAY_MAX_RETRY_AFTER_SECONDS: String(MAX_RETRY_AFTER_SECONDS) },
  });
  await fleet.startDaemon();
  await fleet.setLimits(100);
  await fleet.setIntervals(INTERVAL_SECONDS);
  await fleet.importCards(CARDS);
  await waitFor(() => gateway.calls.card_status > 2 * CARDS, { what: 'two rounds' });
});

afterAll(async () => {
  fleet.close();
  await gateway.close();
});

/** Answers by the script, and counts what succeeds. */
function follow(script: Script): void {
  gateway.follow((call) => {
    const answer = script(call);
    if (answer.status === undefined) good[call.interfaceName] = (good[call.interfaceName] ?? 0) + 1;
    return { delayMs: DELAY_MS, ...answer };
  });
}

function elapsed(ms: number): Promise<unknown> {
  const until = performance.now() + ms;
  return waitFor(() => performance.now() >= until, { timeoutMs: ms + 60_000, everyMs: 50 });
}

/** @returns good answers a second, by interface, over a revolution of the rings. */
async function pace(): Promise<number[]> {
  good = {};
  const from = performance.now();
  await elapsed(REVOLUTION_MS);
  const seconds = (performance.now() - from) / 1_000;
  return INTERFACES.map((name) => (good[name] ?? 0) / seconds);
}

const WHOLE = { realname: 1, flow: 1, card_status: 1 };
const FOUR_FIFTHS = { realname: 0.8, flow: 0.8, card_status: 0.8 };
const PARTS: Array<[string, Script, typeof WHOLE]> = [
  ['20 % of the cards answer 500', (call) => (failing.has(call.iccid) ? broken : healthy(call)), FOUR_FIFTHS],
  ['20 % of the cards hang', (call) => (failing.has(call.iccid) ? HANGS : healthy(call)), FOUR_FIFTHS],
  [
    '/card/realname answers 500',
    (call) => (call.interfaceName === 'realname' ? broken : healthy(call)),
    { ...WHOLE, realname: 0 },
  ],
];

it.each(PARTS)('%s', async (_, script, possible) => {
  follow(healthy);
  const before = await pace();
  follow(script);
  await elapsed(SETTLE_MS);
  const during = await pace();
  INTERFACES.forEach((name, i) => {
    const ratio = (during[i] ?? 0) / (before[i] ?? 0);
    expect(ratio, `pace of ${name} while it lasts`).toBeGreaterThanOrEqual(GOAL * possible[name]);
  });
  follow(healthy);
  await elapsed(REVOLUTION_MS);
  const after = await pace();
  INTERFACES.forEach((name, i) => {
    expect((after[i] ?? 0) / (before[i] ?? 0), `pace of ${name} after it`).toBeGreaterThanOrEqual(GOAL);
  });
});

describe('a pause', () => {
  it('a pause of an hour that the gateway asks for ends with the cap, and shows', async () => {
    const store = await openRedisLiveStore({ url: fleet.redisServer.url });
    follow((call) =>
      call.interfaceName === 'flow' ? { status: 429, headers: { 'retry-after': '3600' } } : healthy(call),
    );
    const [pause] = await waitFor(
      async () => {
        const pauses = await store.work.pauses();
        return pauses.length > 0 ? pauses : null;
      },
      { what: 'the pause to show' },
    );
    follow(healthy);
    expect(pause).toMatchObject({
      taskType: 'carddata',
      source: 'gateway',
      reason: expect.stringContaining('flow answered HTTP 429'),
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
    gateway.forget();
    await waitFor(() => gateway.calls.flow > CARDS, { what: 'carddata to come back' });
    await store.close();
  });

  it('ends at once when it is resumed', async () => {
    follow(healthy);
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
