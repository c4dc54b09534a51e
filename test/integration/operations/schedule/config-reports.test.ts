// What the rings make of polling configs, as their operations tell it: how many cards, how often they are really polled,
// what makes no sense, and what is told while the live store is away.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Actor } from '../../../../src/domain/audit.ts';
import type { RateLimit } from '../../../../src/domain/limits/rate-limit.ts';
import type { TaskType } from '../../../../src/domain/task-type.ts';
import { ConfigOperations } from '../../../../src/operations/schedule/configs.ts';
import { CardpollError } from '../../../../src/platform/errors.ts';
import type { RingState, Rings } from '../../../../src/store/ports/live/rings.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { setLimit } from '../../../support/limits.ts';
import { type OperatedStores, openOperatedStores } from '../../../support/operated-stores.ts';
import { statsDelta } from '../../../support/stats-delta.ts';

const ANNA: Actor = { name: 'anna', role: 'admin', address: null, requestId: null };
const NO_CARD = 'no card matches it';

const clock = new FakeClock();
let stores: OperatedStores;

beforeAll(async () => {
  stores = await openOperatedStores({ clock });
});
afterAll(() => stores.close());
beforeEach(async () => {
  await stores.sql(`DELETE FROM polling_configs;
    INSERT INTO polling_configs (id, name, task_type, card_condition, interval_seconds)
    VALUES (1, 'names', 'realname', 'any', 3600), (2, 'traffic', 'carddata', 'any', 1800)`);
  for (const ring of await stores.live.rings.list()) await stores.live.rings.drop(ring);
});

/** Over rings that are listed otherwise. */
function configsOver(
  list: Rings['list'] = () => stores.live.rings.list(),
  rateLimits: readonly RateLimit[] = [],
): ConfigOperations {
  const live = { ...stores.live, rings: { ...stores.live.rings, list } };
  return new ConfigOperations({
    records: stores.records,
    live,
    audit: stores.operations().audit,
    rateLimits,
    offers: () => true,
  });
}

function ringsWith(over: Partial<RingState>): Rings['list'] {
  return async () => (await stores.live.rings.list()).map((ring) => ({ ...ring, ...over }));
}

async function fill(configId: number, taskType: TaskType, cardIds: readonly number[]): Promise<void> {
  const { rings } = stores.live;
  const ring = { configId, taskType };
  await rings.configure(ring, { intervalMs: 3_600_000, enabled: true });
  await rings.startGeneration(ring, 1_024);
  await rings.add(ring, cardIds);
  await rings.activate(ring);
}

describe('a config', () => {
  it('shows its own ring alone, in every answer', async () => {
    await fill(2, 'realname', [4]);
    await fill(1, 'realname', [1, 2, 3]);
    const told = { members: 3, achievedIntervalSeconds: null, skippedRevolutions: 0, problems: [] };
    const configs = configsOver();
    const [first, second] = await configs.list();
    expect(first).toMatchObject({ id: 1, ...told });
    expect(second, 'which was of another task type').toMatchObject({
      id: 2,
      members: null,
      achievedIntervalSeconds: null,
      skippedRevolutions: 0,
    });
    expect(await configs.update(ANNA, 1, { name: 'all names' }, null)).toMatchObject(told);
    expect(await configs.remove(ANNA, 1)).toMatchObject({ members: 3 });
  });

  it('is refused where the gateway does not allow its interval for one card', async () => {
    const limit = { kind: 'card', interfaces: ['flow'], everySeconds: 900 } as const;
    const configs = configsOver(undefined, [limit]);
    const refused = {
      kind: 'invalid',
      fields: [
        {
          field: 'intervalSeconds',
          message: expect.stringMatching(/^must be at least 900: .* one poll of a card by flow every 900 s$/),
        },
      ],
    };
    const often = {
      name: 'often',
      taskType: 'carddata',
      cardCondition: 'verified',
      intervalSeconds: 899,
    } as const;
    const rest = { carrierId: null, priority: 1, status: 1 } as const;
    await expect(configs.create(ANNA, { ...often, ...rest })).rejects.toMatchObject(refused);
    await expect(configs.update(ANNA, 2, { intervalSeconds: 60 }, null)).rejects.toMatchObject(refused);
    expect(await configs.update(ANNA, 2, { intervalSeconds: 900 }, null)).toMatchObject({
      intervalSeconds: 900,
    });
    expect(
      await configs.update(ANNA, 1, { intervalSeconds: 60 }, null),
      'by another interface',
    ).toMatchObject({
      intervalSeconds: 60,
    });
  });

  it('a config whose ring lags says how often its cards are really polled', async () => {
    await fill(1, 'realname', [1]);
    const late = { achievedIntervalMs: 4_000_060, skippedRevolutions: 2 };
    expect(await configsOver(ringsWith(late)).show(1)).toMatchObject({
      achievedIntervalSeconds: 4_000.1,
      skippedRevolutions: 2,
    });
    const since = { ...late, lapStartedAtMs: clock.now() - 5_000_000 };
    expect(await configsOver(ringsWith(since)).show(1)).toMatchObject({ achievedIntervalSeconds: 5_000 });
    expect(await configsOver(ringsWith({ enabled: false })).show(1)).toMatchObject({
      achievedIntervalSeconds: null,
    });
  });

  it('without a card is a problem only once its ring is loaded and none is being built', async () => {
    expect(await configsOver().show(1)).toMatchObject({ members: null, problems: [] });
    await fill(1, 'realname', []);
    expect(await configsOver().show(1)).toMatchObject({ members: 0, problems: [NO_CARD] });
    expect(await configsOver(ringsWith({ loaded: false })).show(1)).toMatchObject({ problems: [] });
    await stores.live.rings.startGeneration({ configId: 1, taskType: 'realname' }, 1_024);
    expect(await configsOver().show(1)).toMatchObject({ problems: [] });
  });

  it('lists its conflicts with other configs, and an interval set with plain SQL', async () => {
    const configs = configsOver();
    const made = await configs.create(ANNA, {
      ...{ name: 'late', taskType: 'realname', cardCondition: 'verified', carrierId: 7 },
      ...{ intervalSeconds: 60, priority: -1, status: 1 },
    });
    expect(made.problems).toEqual(['every card it matches is polled by config 1']);
    await stores.sql('UPDATE polling_configs SET interval_seconds = 2592001 WHERE id = 2');
    expect((await configs.show(2)).problems).toEqual([
      'interval_seconds must be a whole number from 1 to 2592000',
    ]);
    expect((await configs.update(ANNA, 1, { status: 0 }, null)).problems).toEqual([]);
    expect((await configs.remove(ANNA, made.id)).problems).toContain('no enabled config polls realname');
  });
});

describe('while the live store is away', () => {
  const failing = (error: Error) => configsOver(() => Promise.reject(error));

  it('configs are read and changed, and the figures of the rings are unknown', async () => {
    await fill(1, 'realname', []);
    const unknown = { members: null, achievedIntervalSeconds: null, skippedRevolutions: null, problems: [] };
    const configs = failing(new CardpollError('unavailable', 'live_store_unreachable', 'away'));
    expect(await configs.list()).toMatchObject([
      { id: 1, ...unknown },
      { id: 2, ...unknown },
    ]);
    expect(await configs.update(ANNA, 2, { priority: 4 }, null)).toMatchObject({ priority: 4, ...unknown });
    expect(await configs.remove(ANNA, 2)).toMatchObject({ priority: 4, members: null });
  });

  it.each([new TypeError('a bug'), new CardpollError('busy', 'x', 'a bug')])(
    'nothing else is overlooked: %s',
    async (bug) => {
      await expect(failing(bug).list()).rejects.toBe(bug);
    },
  );
});

it('says in the answer of a change that it asks for far more than can be polled', async () => {
  const ids = Array.from({ length: 600 }, (_, i) => i + 1);
  await fill(1, 'realname', ids);
  await fill(2, 'carddata', ids);
  for (const taskType of ['realname', 'carddata'] as const) {
    await setLimit(stores.live.work, taskType, 10);
    const delta = statsDelta({ succeeded: 20, failed: 0, durationMs: 20_000 });
    await stores.live.stats.record(taskType, 'w', 1, delta);
  }
  const configs = configsOver();
  const set = async (intervalSeconds: number) =>
    (await configs.update(ANNA, 1, { intervalSeconds }, null)).problems;
  expect(await set(60)).toEqual([]);
  expect(await set(30)).toEqual([]);
  expect(await set(10)).toEqual([
    'the configs of realname need 60 polls a second, and its limit allows about 10: a backlog grows',
  ]);
  const vip = {
    name: 'VIP',
    taskType: 'realname',
    cardCondition: 'any',
    carrierId: 7,
    intervalSeconds: 3_600,
  } as const;
  expect(
    (await configs.create(ANNA, { ...vip, priority: 0, status: 1 })).problems,
    'not of one that asks for little',
  ).toEqual([expect.not.stringContaining('need')]);
  expect((await configs.list()).find(({ id }) => id === 2)?.problems).toEqual([]);
  const off = await configs.update(ANNA, 1, { status: 0 }, null);
  expect(off.problems.filter((one) => one.includes('need'))).toEqual([]);
});
