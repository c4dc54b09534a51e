// The walk round the cards that loads rings, while configs change all the time; and intervals that change under the rings.

import { describe, expect, it } from 'vitest';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import { configOf, idsBetween, viewOf } from '../../../support/card-table.ts';
import { firstRows } from '../../../support/effort.ts';
import { openLimitedLiveStore } from '../../../support/limits.ts';
import { LosingFleet } from '../../../support/losing-fleet.ts';

const SECOND_MS = 1_000;

function fleetOf(configs: Parameters<typeof viewOf>[0]): { fleet: LosingFleet; live: LiveStore } {
  let live!: LiveStore;
  const fleet = new LosingFleet(viewOf(configs), (clock) => {
    live = openLimitedLiveStore({ clock });
    return { live, follow: () => {}, lose: async () => {} };
  });
  return { fleet, live };
}

describe('a config that changes every ten seconds while rings are loaded', () => {
  const CARDS = 12_000;
  const steady = configOf(1);
  /** Wins over the other where it matches. */
  const restless = (carrierId: number) => configOf(2, { carrierId, priority: 1 });

  async function begin(configs: Parameters<typeof viewOf>[0]) {
    const { fleet, live } = fleetOf(configs);
    fleet.initBatch = 1_000;
    fleet.restart();
    fleet.table.put(idsBetween(1, CARDS));
    return { fleet, live };
  }

  it('costs no ring of another type anything: it is loaded within one walk', async () => {
    const other = { ...steady, taskType: 'package' } as const;
    const { fleet, live } = await begin([other, restless(1)]);
    for (let carrier = 2; carrier < 5; carrier += 1) {
      await fleet.run(10 * SECOND_MS, 500);
      fleet.matcher = viewOf([other, restless(carrier)]);
    }
    // Twelve batches, a second apart; three changes cost a pass of the loop each.
    const ring = (await live.rings.list()).find(({ taskType }) => taskType === 'package');
    expect(ring).toMatchObject({ loaded: true, building: null, members: CARDS });
  });

  it('leaves no card of the ring unpolled whose selection it changes, and shows no end before there is one', async () => {
    const { fleet, live } = await begin([steady, restless(1)]);
    for (let carrier = 2; carrier < 10; carrier += 1) {
      await fleet.run(10 * SECOND_MS, 500);
      fleet.matcher = viewOf([steady, restless(carrier)]);
    }
    expect(fleet.polls.size).toBe(CARDS);
    expect(fleet.reported.every(({ status }) => status === 'running')).toBe(true);
    for (const { loaded, total } of fleet.reported) expect(loaded).toBeLessThan(total);
    await fleet.run(20 * SECOND_MS, 500);
    expect(fleet.reported.at(-1)).toMatchObject({ status: 'completed', loaded: CARDS, total: CARDS });
    for (const ring of await live.rings.list()) expect(ring).toMatchObject({ loaded: true, building: null });
  });

  it('is loaded by one walk from where it joins, the other rings by the rest of theirs', async () => {
    const { fleet, live } = await begin([steady]);
    await fleet.run(6 * SECOND_MS, 500);
    const { lastCardId } = await live.coordination.initProgress();
    expect(lastCardId).toBeGreaterThan(3_000);
    const late = configOf(3, { taskType: 'carddata' });
    fleet.matcher = viewOf([steady, late]);
    await fleet.run(SECOND_MS, 500);
    const ring = async (id: number) => (await live.rings.list()).find(({ configId }) => configId === id);
    expect((await ring(3))?.joinedAfterId).toBeGreaterThanOrEqual(lastCardId);
    await fleet.run(8 * SECOND_MS, 500);
    expect(await ring(1)).toMatchObject({ loaded: true, members: CARDS });
    expect((await ring(3))?.loaded).toBe(false);
    await fleet.run(7 * SECOND_MS, 500);
    expect(await ring(3)).toMatchObject({ loaded: true, members: CARDS });
  });
});

it('begins again where the progress of a walk is lost', async () => {
  const { fleet, live } = fleetOf([configOf(1)]);
  fleet.initBatch = 100;
  fleet.restart();
  fleet.table.put(idsBetween(1, 1_000));
  await fleet.run(5 * SECOND_MS, 500);
  const { changeMark: _, ...progress } = await live.coordination.initProgress();
  await live.coordination.saveInitProgress({ ...progress, status: 'pending', lastCardId: 0, changeMark: '' });
  await fleet.run(4 * SECOND_MS, 500);
  expect(await live.rings.list()).toMatchObject([{ loaded: false, joinedAfterId: 0 }]);
  await fleet.run(10 * SECOND_MS, 500);
  expect(await live.rings.list()).toMatchObject([{ loaded: true, members: 1_000 }]);
});

describe('an interval that changes', () => {
  it.each(
    firstRows(2, [
      [600, 420],
      [40, 1_800],
      [1_800, 40],
      [420, 600],
    ] as const),
  )(
    'from %i to %i s leaves no card out for longer than the longer one, and polls none twice in a burst',
    async (from, to) => {
      const { fleet } = fleetOf([configOf(1, { intervalSeconds: from })]);
      const ids = idsBetween(1, 300);
      fleet.table.put(ids);
      await fleet.run(1.6 * from * SECOND_MS, 500);
      fleet.matcher = viewOf([configOf(1, { intervalSeconds: to })]);
      const changedAtMs = fleet.atMs;
      await fleet.run(2.5 * to * SECOND_MS, 500);
      const gaps = ids.flatMap((id) => {
        const polls = fleet.polls.get(id) ?? [];
        return polls
          .slice(1)
          .map((at, i) => ({ at, gap: at - (polls[i] as number) }))
          .filter(({ at }) => at > changedAtMs)
          .map(({ gap }) => gap);
      });
      expect(Math.max(...gaps)).toBeLessThanOrEqual(1.01 * Math.max(from, to) * SECOND_MS + 1_000);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(0.49 * Math.min(from, to) * SECOND_MS - 1_000);
    },
  );
});
