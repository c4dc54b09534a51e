// A gateway that fails in part, with real processes and stores: the healthy part keeps nine tenths of its schedule while
// it lasts, and the whole comes back after it. How soon, and for hours: partial-failure-compressed.test.ts, on a fake clock.
import { setTimeout as sleep } from 'node:timers/promises';
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
const WINDOW_MS = 9_000;
/** The failures of the first seconds open what they open; what is judged is the state after them. */
const SETTLING_MS = 10_000;
const MAX_RETRY_AFTER_SECONDS = 3;

const failing = new Set(Array.from({ length: CARDS * 0.3 }, (_, i) => demoIccid(i + 1)));
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

/** Calls a second that match, over three intervals. */
async function pace(counts: (interfaceName: string, iccid: string) => boolean): Promise<number> {
  gateway.forget();
  const from = performance.now();
  await sleep(WINDOW_MS);
  const seconds = (performance.now() - from) / 1_000;
  let calls = 0;
  for (const [key, count] of gateway.callsOf) {
    const [interfaceName = '', iccid = ''] = key.split(' ');
    if (counts(interfaceName, iccid)) calls += count;
  }
  return calls / seconds;
}

const everything = () => true;

/** What the schedule asks for, calls a second. A fleet that was imported just now is asked more for a while. */
function scheduled(counts: (interfaceName: string, iccid: string) => boolean): number {
  let calls = 0;
  for (const interfaceName of ['realname', 'flow', 'card_status']) {
    for (let card = 1; card <= CARDS; card += 1) if (counts(interfaceName, demoIccid(card))) calls += 1;
  }
  return calls / INTERVAL_SECONDS;
}

const PARTS: Array<[string, Script, (interfaceName: string, iccid: string) => boolean]> = [
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

/** Waits for a window at nine tenths of the schedule: how soon it comes is this machine's affair, that it comes is ours. */
async function keepsPace(
  counts: (interfaceName: string, iccid: string) => boolean,
  what: string,
): Promise<void> {
  await waitFor(async () => (await pace(counts)) >= 0.9 * scheduled(counts), { what });
}

it.each(PARTS)('%s', async (_, script, isHealthy) => {
  await keepsPace(isHealthy, 'the fleet to keep its schedule');
  gateway.follow(script);
  await sleep(SETTLING_MS);
  await keepsPace(isHealthy, 'the healthy part to keep its pace');
  await keepsPace(isHealthy, 'the healthy part to keep it a second time');
  gateway.follow(healthy);
  await keepsPace(everything, 'the whole fleet to come back');
});

describe('a pause', () => {
  const carddata = (interfaceName: string) => interfaceName === 'flow';

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
    await waitFor(async () => (await logged('polling resumed')) >= (await logged('polling paused')), {
      what: 'the log to tell of the end',
    });
    expect(await logged('polling paused')).toBeGreaterThan(0);
    await keepsPace(carddata, 'carddata to come back');
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
    await sleep(1_000);
    gateway.forget();
    await waitFor(() => gateway.calls.realname > CARDS);
    expect(gateway.calls.flow).toBe(0);
    expect(await store.work.resume('carddata')).toMatchObject([{ source: 'operator', by: 'sre' }]);
    await waitFor(() => gateway.calls.flow > CARDS);
    await store.close();
  });
});

async function logged(message: string): Promise<number> {
  let count = 0;
  for await (const line of fleet.logLines('worker.log')) if (line.msg === message) count += 1;
  return count;
}
