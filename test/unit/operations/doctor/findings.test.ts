// What the doctor says about instances, and about scheduled cards in states that no other test creates.

import { describe, expect, it } from 'vitest';
import { instanceFindings, ringSampleFindings } from '../../../../src/operations/doctor/fleet.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { INIT_NOT_STARTED, type InstanceInfo } from '../../../../src/store/ports/live/coordination.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { openLimitedLiveStore } from '../../../support/limits.ts';

describe('instances', () => {
  const worker = (instanceId: string, version: string) => ({ instanceId, version }) as InstanceInfo;

  it('instances of one version are well', () => {
    expect(instanceFindings([worker('a', '1.0.0'), worker('b', '1.0.0')])).toMatchObject([
      { status: 'ok', detail: '2 of 1.0.0' },
    ]);
    expect(instanceFindings([])).toMatchObject([{ status: 'skipped' }]);
  });

  it('lists several versions', () => {
    expect(instanceFindings([worker('a', '1.0.0'), worker('b', '0.9.0')])).toMatchObject([
      {
        status: 'warning',
        detail: expect.stringMatching(/^1 of 1.0.0, 1 of 0.9.0/),
        command: 'cardpoll stats instances',
      },
    ]);
  });
});

describe('the sample of scheduled cards', () => {
  const CONFIG = {
    id: 1,
    name: 'all',
    taskType: 'realname',
    cardCondition: 'any',
    carrierId: null,
    intervalSeconds: 60,
    priority: 1,
    status: 1,
  } as const;
  const card = (cardId: number) => ({ cardId, carrierId: 1, realNameVerified: false });
  const loaded = { ...INIT_NOT_STARTED, status: 'completed' as const };

  async function setUp(members: readonly number[], cards: readonly number[]) {
    const live = openLimitedLiveStore({ clock: systemClock });
    await live.rings.configure({ configId: 1, taskType: 'realname' }, { intervalMs: 60_000, enabled: true });
    await live.rings.startGeneration({ configId: 1, taskType: 'realname' }, 1_024);
    await live.rings.add({ configId: 1, taskType: 'realname' }, members);
    const records = {
      configs: { list: async () => [CONFIG] },
      cards: {
        lastId: async () => Math.max(...cards),
        page: async (after: number, limit: number) =>
          cards
            .filter((id) => id > after)
            .slice(0, limit)
            .map(card),
        byIds: async (ids: readonly number[]) => ids.filter((id) => cards.includes(id)).map(card),
      },
    } as unknown as RecordStore;
    return { live, records, isLed: true };
  }

  it('forgives what arrives while it waits, and what is gone by then', async () => {
    const stores = await setUp([1, 2], [1, 2, 3, 4]);
    const settle = async () => {
      await stores.live.rings.add({ configId: 1, taskType: 'realname' }, [3, 4]);
    };
    expect(await ringSampleFindings(stores, loaded, Math.random, settle)).toMatchObject([
      { status: 'ok', detail: '4 cards checked, all in the schedule' },
    ]);
  });

  it('reports cards that stay missing', async () => {
    const stores = await setUp([1, 2], [1, 2, 3]);
    expect(await ringSampleFindings(stores, loaded, Math.random, async () => {})).toMatchObject([
      {
        status: 'failed',
        detail: expect.stringMatching(/^1 card of 3/),
        command: 'cardpoll init rebuild --yes',
      },
    ]);
    const unled = await ringSampleFindings({ ...stores, isLed: false }, loaded, Math.random, async () => {});
    expect(unled, 'no leader would rebuild').toMatchObject([{ command: 'cardpoll stats instances' }]);
  });

  it('counts the memberships that cards should have, and looks at every ring for itself', async () => {
    const stores = await setUp([1, 2, 3], [1, 2, 3]);
    // Another type's ring of the config, another config's of the type, and one that was never built have nothing to say.
    const others = [
      { id: 1, taskType: 'carddata', priority: 0 },
      { id: 2, taskType: 'package', priority: 0 },
    ] as const;
    stores.records.configs.list = async () => [CONFIG, ...others.map((one) => ({ ...CONFIG, ...one }))];
    await stores.live.rings.configure({ configId: 2, taskType: 'package' }, { intervalMs: 1, enabled: true });
    expect(await ringSampleFindings(stores, loaded, Math.random, async () => {})).toMatchObject([
      { detail: '3 cards of 3 checked (9 places) are missing from the schedule' },
    ]);
  });

  it('is drawn from the first cards and from nineteen places more, and waits for nothing where all is well', async () => {
    const all = Array.from({ length: 2_000 }, (_, i) => i + 1);
    const stores = await setUp(all, all);
    let drawn = 0;
    const random = () => {
      drawn += 1;
      return drawn % 2 === 0 ? 0.5 : 0.25;
    };
    const settle = () => Promise.reject(new Error('waited'));
    expect(await ringSampleFindings(stores, loaded, random, settle)).toMatchObject([
      { status: 'ok', detail: '150 cards checked, all in the schedule' },
    ]);
    expect(drawn).toBe(19);
  });

  it('waits for the end of the initialisation', async () => {
    const stores = await setUp([], [1]);
    expect(await ringSampleFindings(stores, INIT_NOT_STARTED, Math.random, async () => {})).toMatchObject([
      { status: 'skipped' },
    ]);
  });
});
