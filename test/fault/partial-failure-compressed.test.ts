// A gateway that fails in part, for hours of compressed time: the healthy part keeps its pace, whoever fails is asked
// again, and after healing everything is as before.
import { afterEach, describe, expect, it } from 'vitest';
import type { InterfaceName } from '../../src/domain/gateway-interface.ts';
import { TASK_TYPES } from '../../src/domain/task-type.ts';
import {
  type Behaviour,
  CompressedFleet,
  type CompressedFleetOptions,
  HEALTHY,
} from '../support/compressed-fleet.ts';

const WINDOW_MS = 10_000;

let fleet: CompressedFleet | null = null;
afterEach(async () => {
  await fleet?.stop();
  fleet = null;
});

/** 60 polls a second and task type; the limit allows 400. */
const SMALL: CompressedFleetOptions = {
  taskTypes: TASK_TYPES,
  cards: 600,
  intervalSeconds: WINDOW_MS / 1_000,
  limit: 20,
};

async function start(options = SMALL): Promise<CompressedFleet> {
  fleet = await CompressedFleet.start(options);
  return fleet;
}

/** Counts the calls that match while `ms` pass. */
async function calls(
  of: CompressedFleet,
  ms: number,
  counts: (interfaceName: InterfaceName, cardId: number) => boolean = () => true,
): Promise<number> {
  let count = 0;
  of.onCall = (name, cardId) => {
    if (counts(name, cardId)) count += 1;
  };
  await of.time.run(ms);
  return count;
}

const isHealthyCard = (cardId: number) => cardId % 10 >= 3;
const ofHealthyCards = (_: InterfaceName, cardId: number) => isHealthyCard(cardId);

const PARTS: Array<[string, Behaviour, (interfaceName: InterfaceName, cardId: number) => boolean]> = [
  ['30 % of the cards answer 500', (_, id) => (isHealthyCard(id) ? {} : { failure: 'http' }), ofHealthyCards],
  ['30 % of the cards answer 403', (_, id) => (isHealthyCard(id) ? {} : { failure: 'auth' }), ofHealthyCards],
  [
    '30 % of the cards are refused',
    (_, id) => (isHealthyCard(id) ? {} : { failure: 'business' }),
    ofHealthyCards,
  ],
  [
    '/card/realname answers 500',
    (name) => (name === 'realname' ? { failure: 'http' } : {}),
    (name) => name !== 'realname',
  ],
  [
    '/card/realname names its field otherwise',
    (name) => (name === 'realname' ? { failure: 'malformed' } : {}),
    (name) => name !== 'realname',
  ],
  [
    '/card/realname does not accept the credentials',
    (name) => (name === 'realname' ? { failure: 'auth' } : {}),
    (name) => name !== 'realname',
  ],
  [
    '/card/realname hangs',
    (name) => (name === 'realname' ? { failure: 'timeout', delayMs: 5_000 } : {}),
    (name) => name !== 'realname',
  ],
];

describe.each(PARTS)('%s for ten minutes', (_, behaviour, isHealthy) => {
  it('the healthy part keeps its pace, and full pace is back after healing', async () => {
    const polled = await start();
    await polled.time.run(2 * WINDOW_MS);
    const before = await calls(polled, WINDOW_MS, isHealthy);
    const allBefore = await calls(polled, WINDOW_MS);
    polled.behaviour = behaviour;
    await polled.time.run(WINDOW_MS);
    for (let window = 1; window < 60; window += 1) {
      const now = await calls(polled, WINDOW_MS, isHealthy);
      expect(now / before, `healthy pace in window ${window}`).toBeGreaterThanOrEqual(0.9);
    }
    polled.behaviour = HEALTHY;
    await polled.time.run(30_000);
    const allAfter = await calls(polled, WINDOW_MS);
    expect(allAfter / allBefore, 'pace of all 30 s after healing').toBeGreaterThanOrEqual(0.95);
    expect(await polled.live.work.counts('realname')).toMatchObject({ backoff: 0, retryDue: 0 });
  });
});

it('a refused card costs one call an interval, from the first refusal on', async () => {
  const polled = await start({ ...SMALL, taskTypes: ['carddata'] });
  await polled.time.run(WINDOW_MS);
  polled.behaviour = (_, id) => (isHealthyCard(id) ? {} : { failure: 'card' });
  const refused = await calls(polled, 10 * WINDOW_MS, (_, id) => !isHealthyCard(id));
  expect(refused / 10).toBeGreaterThanOrEqual(180 * 0.95);
  expect(refused / 10).toBeLessThanOrEqual(180 * 1.02);
});

it('answers that alternate stop nothing', async () => {
  const polled = await start();
  await polled.time.run(2 * WINDOW_MS);
  const before = await calls(polled, WINDOW_MS);
  const failedLast = new Set<string>();
  polled.behaviour = (name, id) => {
    const key = `${name} ${id}`;
    if (isHealthyCard(id) || failedLast.delete(key)) return {};
    failedLast.add(key);
    return { failure: 'http' };
  };
  for (let window = 0; window < 20; window += 1) {
    const healthy = await calls(polled, WINDOW_MS, ofHealthyCards);
    expect(healthy / (0.7 * before), `window ${window}`).toBeGreaterThanOrEqual(0.9);
  }
  expect(polled.breakerChanges).toEqual([]);
});

it.each([
  { limit: 20, cards: 600 },
  { limit: 3, cards: 400 },
])('failing cards that answer slowly hold a tenth of $limit slots', async ({ limit, cards }) => {
  // Healthy cards need 2.1 slots of 20, or 1.4 of 3; failing ones would fill 90, or 60.
  const polled = await start({ ...SMALL, cards, limit, taskTypes: ['carddata'] });
  await polled.time.run(2 * WINDOW_MS);
  const before = await calls(polled, WINDOW_MS, ofHealthyCards);
  polled.behaviour = (_, id) => (isHealthyCard(id) ? {} : { failure: 'timeout', delayMs: 5_000 });
  // Nobody knows them before each has failed once: 0.3 * cards * 5 s over the slots.
  await polled.time.run(300_000);
  let slow = 0;
  for (let window = 0; window < 30; window += 1) {
    const now = await calls(polled, WINDOW_MS, (_, id) => {
      if (!isHealthyCard(id)) slow += 1;
      return isHealthyCard(id);
    });
    expect(now / before, `window ${window}`).toBeGreaterThanOrEqual(0.9);
  }
  const share = (slow * 5_000) / (30 * WINDOW_MS * limit);
  expect(share, 'their share of the slots').toBeLessThanOrEqual(0.11);
  expect(share).toBeGreaterThanOrEqual(0.07);
});

it('ten cards that all fail and heal are polled again', async () => {
  const polled = await start({ ...SMALL, cards: 10 });
  await polled.time.run(2 * WINDOW_MS);
  const before = await calls(polled, WINDOW_MS);
  for (const failure of ['http', 'connect', 'timeout'] as const) {
    polled.behaviour = () => ({ failure });
    await polled.time.run(10 * 60_000);
    polled.behaviour = HEALTHY;
    await polled.time.run(30_000);
    expect(await calls(polled, WINDOW_MS), failure).toBeGreaterThanOrEqual(0.9 * before);
  }
});

it('an interface that is dead for a day gets a call a second at most, and returns within half a minute', async () => {
  const polled = await start({ ...SMALL, cards: 60, intervalSeconds: 60 });
  const isFlow = (name: InterfaceName) => name === 'flow';
  const before = await calls(polled, 2 * 60_000, isFlow);
  polled.behaviour = (name) => (isFlow(name) ? { failure: 'http' } : {});
  await polled.time.run(60 * 60_000);
  const dead = await calls(polled, 23 * 60 * 60_000, isFlow);
  expect(dead / (23 * 60 * 60), 'calls a second').toBeLessThanOrEqual(1);
  polled.behaviour = HEALTHY;
  await polled.time.run(30_000);
  expect(await calls(polled, 2 * 60_000, isFlow)).toBeGreaterThanOrEqual(0.9 * before);
});

/** 10 million cards and a queue cap of 200,000, both divided by 500. */
const CARDS = 20_000;

describe.each([8, 20])('a large fleet of which %i %% fail, scaled 1:500', (percent) => {
  it('keeps its pace and its cursor for hours', async () => {
    const intervalSeconds = 1_800;
    const polled = await start({
      taskTypes: ['carddata'],
      cards: CARDS,
      intervalSeconds,
      limit: 20,
      queueCap: CARDS / 50,
      buckets: 128,
    });
    polled.behaviour = (_, id) => (id % 100 < percent ? { failure: 'http' } : {});
    await polled.time.run(1.1 * intervalSeconds * 1_000);
    const healthyCards = (CARDS * (100 - percent)) / 100;
    for (let part = 0; part < 12; part += 1) {
      const healthy = await calls(polled, 300_000, (_, id) => id % 100 >= percent);
      expect(healthy / (healthyCards / 6), `part ${part}`).toBeGreaterThanOrEqual(0.9);
      const ring = (await polled.live.rings.list())[0];
      const lagMs =
        polled.time.now() - ((ring?.anchorMs ?? 0) + ((ring?.cursor ?? 0) * intervalSeconds * 1_000) / 128);
      expect(lagMs, 'a bucket is due every 14 s').toBeLessThan(20_000);
      expect((await polled.live.work.counts('carddata')).queueLength).toBeLessThan(CARDS / 100);
    }
  });
});

describe('back-pressure', () => {
  it('one lone answer makes that card wait, and no other', async () => {
    const polled = await start({ ...SMALL, taskTypes: ['carddata'] });
    await polled.time.run(WINDOW_MS);
    let lone = true;
    polled.behaviour = (_, id) => {
      if (id !== 7 || !lone) return {};
      lone = false;
      return { failure: 'backpressure', retryAfterMs: 40_000 };
    };
    const ofTheCard = await calls(polled, 3 * WINDOW_MS, (_, id) => id === 7);
    expect(ofTheCard).toBe(1);
    expect(await polled.live.work.pauses()).toEqual([]);
    expect(await calls(polled, 4 * WINDOW_MS, (_, id) => id === 7), 'asked again').toBeGreaterThanOrEqual(2);
  });

  it('back-pressure of many pauses the type for as long as was asked, and resume ends that', async () => {
    const polled = await start();
    await polled.time.run(WINDOW_MS);
    let busy = true;
    polled.behaviour = (name) =>
      name === 'flow' && busy ? { failure: 'backpressure', retryAfterMs: 30_000 } : {};
    // Nothing but refusals for ten seconds.
    await polled.time.run(12_000);
    const [pause, ...others] = await polled.live.work.pauses();
    expect(others).toEqual([]);
    expect(pause).toMatchObject({ taskType: 'carddata', source: 'gateway', by: 'w' });
    busy = false;
    await polled.time.run(1_000);
    expect(await calls(polled, 20_000, (name) => name === 'flow'), 'silent').toBe(0);
    expect(await calls(polled, WINDOW_MS, (name) => name === 'realname')).toBeGreaterThan(500);
    await polled.time.run(1_000);
    expect(await polled.live.work.pauses()).toEqual([]);
    expect(await calls(polled, WINDOW_MS, (name) => name === 'flow')).toBeGreaterThan(500);
    busy = true;
    await polled.time.run(12_000);
    busy = false;
    expect(await polled.live.work.resume('carddata')).toHaveLength(1);
    expect(await polled.live.work.pauses()).toEqual([]);
    // Every card was refused in these seconds, and waits by itself as long as it was asked to.
    await polled.time.run(30_000);
    expect(await calls(polled, WINDOW_MS, (name) => name === 'flow')).toBeGreaterThan(300);
  });
});
