// The change that came before a reason: real changes by the operations that make them, and the reasons that follow. What is named
// is what may explain the reason, and nothing that came after it, concerns another task type, or was taken back.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Actor } from '../../../../src/domain/audit.ts';
import type { TaskType } from '../../../../src/domain/task-type.ts';
import { HealthWatch } from '../../../../src/health/health-watch.ts';
import type { Operations } from '../../../../src/operations/operations.ts';
import type { InstanceInfo } from '../../../../src/store/ports/live/coordination.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { setLimit } from '../../../support/limits.ts';
import { type OperatedStores, openOperatedStores } from '../../../support/operated-stores.ts';
import { instanceOf, PolledFleet } from '../../../support/polled-fleet.ts';
import { statsDelta } from '../../../support/stats-delta.ts';

const ANNA: Actor = { name: 'anna', role: 'admin', address: null, requestId: null };
const CONFIG = { name: 'x', cardCondition: 'any', carrierId: null, priority: 9, status: 1 } as const;

let database: OperatedStores;
let stores: OperatedStores;
let clock: FakeClock;
let fleet: PolledFleet;
let operations: Operations;
let watch: HealthWatch;
let tests = 0;

beforeAll(async () => {
  database = await openOperatedStores();
  await database.sql("INSERT INTO cards (card_id, iccid) VALUES (1, '89860000000000000001')");
});
afterAll(() => database.close());
beforeEach(async () => {
  // Nothing removes an entry: each test has a day of its own.
  tests += 1;
  clock = new FakeClock(Date.parse('2026-11-01T00:00:00Z') + tests * 86_400_000);
  stores = await openOperatedStores({ databaseOf: database, clock });
  await database.sql(`DELETE FROM polling_configs WHERE id > 4;
    UPDATE polling_configs SET priority = 0, status = 1, interval_seconds = CASE id WHEN 1 THEN 60 WHEN 2 THEN 3600 ELSE 1800 END`);
  fleet = new PolledFleet(stores.live, clock);
  operations = stores.operations();
  watch = new HealthWatch({ judge: stores.health, health: stores.live.health, clock, onError: () => {} });
  await started();
});
afterEach(() => stores.close());

/** @param over of the instance that looks. */
async function started(over: Partial<InstanceInfo> = {}): Promise<void> {
  await fleet.alive(instanceOf('w', over));
  await pass(4);
}

/** Lets seconds pass, with the looks of an instance. */
async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 2) {
    await watch.runOnce();
    clock.advance(Math.min(2, seconds - second) * 1_000);
  }
}

/** When no earlier change matters. */
async function later(): Promise<void> {
  clock.advance(3_600_000);
  await pass(4);
}

/** From now on more comes due than one call at a time can poll. */
async function overload(taskType: TaskType): Promise<void> {
  const cards = Array.from({ length: 12 }, (_, i) => i + 1);
  await fleet.load({ configId: 9, taskType }, cards, 60_000);
  await setLimit(stores.live.work, taskType, 1);
  const delta = statsDelta({ succeeded: 3, failed: 0, durationMs: 30_000 });
  await stores.live.stats.record(taskType, 'w', 1, delta);
}

/** What is said of the overload some seconds after it began. */
async function said(taskType: TaskType = 'realname'): Promise<string | null> {
  await pass(8);
  const { healthReasons, tasks } = await operations.stats.overview();
  const reasonOf = (reasons: typeof healthReasons) =>
    reasons.find(({ code, taskType: of }) => code === 'overloaded' && of === taskType)?.text;
  const text = reasonOf(healthReasons);
  expect(text, JSON.stringify(healthReasons)).toBeDefined();
  expect(`${taskType}: ${reasonOf(tasks.flatMap((task) => task.healthReasons))}`).toBe(text);
  return /; changed: (.*)$/.exec(`${text}`)?.[1] ?? null;
}

const last = async () => (await stores.lastTrace()).id;
const setInterval = (id: number, intervalSeconds: number) =>
  operations.configs.update(ANNA, id, { intervalSeconds }, null);

describe('the change before an overload is named, and how to take it back', () => {
  it('a shorter interval', async () => {
    await setInterval(2, 60);
    const id = await last();
    await pass(40);
    await overload('realname');
    expect(await said()).toBe(`config 2, 1h -> 1m, 40 s before, by anna; back: cardpoll audit undo ${id}`);
  });

  it.each<[string, () => Promise<unknown>, RegExp]>([
    [
      'a new config',
      () => operations.configs.create(ANNA, { ...CONFIG, taskType: 'realname', intervalSeconds: 30 }),
      /^config \d+ created, every 30s, 6 s before, by anna; back: cardpoll audit undo \d+$/,
    ],
    [
      'a lowered limit',
      () => operations.concurrency.set(ANNA, 'realname', 1, null),
      /^limit of realname, \d+ -> 1, 6 s before, by anna; back: cardpoll audit undo \d+$/,
    ],
    [
      'a deleted config, whose cards another polls more often',
      async () => {
        const slow = { ...CONFIG, taskType: 'realname', intervalSeconds: 86_400 } as const;
        const { id } = await operations.configs.create(ANNA, slow);
        await later();
        await operations.configs.remove(ANNA, id);
      },
      /^config \d+ deleted, 6 s before, by anna; back: cardpoll audit undo \d+$/,
    ],
    [
      'a priority, by which the cards of a slower config are polled more often',
      () => operations.configs.update(ANNA, 1, { cardCondition: 'any', priority: 5 }, null),
      /^config 1, priority 0 -> 5, cards not_verified -> any, 6 s before, by anna; back: /,
    ],
  ])('%s', async (_, change, words) => {
    await change();
    await pass(6);
    await overload('realname');
    expect(await said()).toMatch(words);
    await operations.configs.update(ANNA, 1, { cardCondition: 'not_verified' }, null);
  });

  it('the last of several', async () => {
    await setInterval(2, 1_800);
    await operations.configs.update(ANNA, 1, { intervalSeconds: 50 }, null);
    await pass(6);
    await overload('realname');
    expect(await said()).toMatch(/^config 1, 1m -> 50s, 6 s before, by anna, the last of 2; back: /);
  });

  it('without a command where it was changed again, or taken back, since', async () => {
    await setInterval(2, 60);
    const id = await last();
    await pass(6);
    await overload('realname');
    await pass(2);
    await operations.undo.undo(ANNA, id, false);
    expect(await said()).toBe('config 2, 1h -> 1m, 6 s before, by anna; taken back since');
    await setInterval(2, 600);
    expect(await said()).toBe('config 2, 1h -> 1m, 6 s before, by anna; changed again since');
  });
});

describe('no change is named', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['of another task type', () => setInterval(3, 60)],
    ['that has the other direction: a longer interval', () => setInterval(2, 7_200)],
    [
      'that has the other direction: a higher limit',
      () => operations.concurrency.set(ANNA, 'realname', 900, null),
    ],
    ['that disables a config', () => operations.configs.update(ANNA, 1, { status: 0 }, null)],
    ['that only renames a config', () => operations.configs.update(ANNA, 1, { name: 'y' }, null)],
    [
      'of a config whose cards a config of higher rank polls',
      async () => {
        await operations.configs.create(ANNA, { ...CONFIG, taskType: 'realname', intervalSeconds: 86_400 });
        await later();
        await setInterval(1, 1);
      },
    ],
    [
      'of a config without cards',
      async () => {
        await fleet.load({ configId: 2, taskType: 'realname' }, [], 60_000);
        await stores.live.rings.activate({ configId: 2, taskType: 'realname' });
        await setInterval(2, 60);
      },
    ],
    [
      'that was taken back before',
      async () => {
        await setInterval(2, 60);
        await pass(10);
        await operations.undo.undo(ANNA, await last(), false);
      },
    ],
    [
      'long before',
      async () => {
        await setInterval(2, 60);
        await pass(902);
      },
    ],
  ])('%s', async (_, change) => {
    await change();
    await pass(6);
    await overload('realname');
    expect(await said()).toBeNull();
  });

  it('after the reason began, though it was noted only then', async () => {
    await overload('realname');
    await pass(4);
    await setInterval(2, 60);
    expect(await said()).toBeNull();
  });

  it('before a reason that may be older, because no one asked', async () => {
    await setInterval(2, 60);
    clock.advance(30_000);
    await overload('realname');
    expect(await said()).toBeNull();
  });

  it('where the clocks leave open which came first', async () => {
    await started({ clockAheadMs: -30_000 });
    await setInterval(2, 60);
    await pass(20);
    await overload('realname');
    expect(await said()).toBeNull();
  });

  it('while the records do not answer, and the reason is said all the same', async () => {
    await setInterval(2, 60);
    await pass(6);
    await overload('realname');
    const { records } = stores;
    const changes = records.audit.changes;
    Object.assign(records.audit, { changes: async () => Promise.reject(new Error('away')) });
    expect(await said()).toBeNull();
    Object.assign(records.audit, { changes });
    expect(await said()).toMatch(/^config 2, 1h -> 1m/);
  });
});

it('asks no store while nothing is wrong', async () => {
  let asked = 0;
  const { changes } = stores.records.audit;
  Object.assign(stores.records.audit, {
    changes: (...given: Parameters<typeof changes>) => {
      asked += 1;
      return changes(...given);
    },
  });
  await pass(20);
  expect(asked).toBe(0);
  await setInterval(2, 60);
  await overload('realname');
  await pass(20);
  expect(asked).toBeGreaterThan(0);
  expect(asked, 'at most every five seconds').toBeLessThanOrEqual(5);
});
