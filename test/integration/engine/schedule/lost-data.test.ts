// A live store that loses everything more often than the interval: every card is polled in its turn nevertheless.

import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import { configOf, idsBetween, viewOf } from '../../../support/card-table.ts';
import type { FakeClock } from '../../../support/fake-clock.ts';
import { freshRedis } from '../../../support/fresh-stores.ts';
import { openLimitedLiveStore, setLimits } from '../../../support/limits.ts';
import { type LosableStore, LosingFleet } from '../../../support/losing-fleet.ts';
import { openTimedRedisLiveStore } from '../../../support/timed-redis.ts';

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
const CARDS = 600;

type Open = (clock: FakeClock) => LosableStore;

/** Runs a test with a way to open the store. */
async function onRedis(test: (open: Open) => Promise<void>): Promise<void> {
  let nowMs = 0;
  const follow = (ms: number) => {
    nowMs = ms;
  };
  const { url } = await freshRedis();
  const live = openTimedRedisLiveStore(url, () => nowMs);
  const client = new Redis(url);
  const lose = async () => {
    await client.flushall();
    await setLimits(live.work);
  };
  try {
    await setLimits(live.work);
    await test((clock) => {
      follow(clock.now());
      return { live, follow, lose };
    });
  } finally {
    client.disconnect();
    await live.close();
  }
}

async function onEmbedded(test: (open: Open) => Promise<void>): Promise<void> {
  await test((clock) => {
    let current = openLimitedLiveStore({ clock });
    /** Always of the present store. */
    const part = (name: keyof LiveStore) =>
      new Proxy({}, { get: (_, method) => Reflect.get(current[name] as object, method) });
    const live = {
      ...Object.fromEntries(
        (Object.keys(current) as Array<keyof LiveStore>).map((name) => [name, part(name)]),
      ),
      identity: () => current.identity(),
      now: () => current.now(),
    } as unknown as LiveStore;
    const lose = async () => {
      current = openLimitedLiveStore({ clock });
    };
    return { live, follow: () => {}, lose };
  });
}

/** The longest time in which a card was not polled, from the beginning to the end. */
function longestGapMs({ polls, atMs }: LosingFleet, cards: readonly number[]): number {
  const gaps = cards.map((card) => {
    const times = [0, ...(polls.get(card) ?? []), atMs];
    return Math.max(...times.slice(1).map((time, i) => time - (times[i] as number)));
  });
  return Math.max(...gaps);
}

describe.each([
  ['Redis', onRedis],
  ['embedded', onEmbedded],
])('a live store that loses its data: %s', (_, on) => {
  const ids = idsBetween(1, CARDS);
  const view = viewOf([configOf(1, { intervalSeconds: 90 })]);

  it('every 30 s, at the same phases each time: all cards are polled within an interval and what was lost', () =>
    on(async (open) => {
      const fleet = new LosingFleet(view, open);
      fleet.table.put(ids);
      await fleet.run(90 * SECOND_MS, 500);
      const before = [...fleet.polls.values()].flat().length;
      for (let loss = 0; loss < 9; loss += 1) {
        await fleet.lose();
        await fleet.run(30 * SECOND_MS, 500);
      }
      expect(fleet.polls.size).toBe(CARDS);
      expect(longestGapMs(fleet, ids)).toBeLessThanOrEqual((90 + 3 * 2) * SECOND_MS);
      // Three intervals. A loss brings the cards of the ten seconds again that passed since the last mark.
      const polled = [...fleet.polls.values()].flat().length - before;
      expect(polled).toBeLessThan(CARDS * (3 + (9 * 12) / 90));
    }));

  it('with the process, which is away for three seconds, every 30 s', () =>
    on(async (open) => {
      const fleet = new LosingFleet(view, open);
      fleet.table.put(ids);
      await fleet.run(90 * SECOND_MS, 500);
      for (let loss = 0; loss < 9; loss += 1) {
        await fleet.lose();
        fleet.pass(3 * SECOND_MS);
        fleet.restart();
        await fleet.run(27 * SECOND_MS, 500);
      }
      expect(fleet.polls.size).toBe(CARDS);
      expect(longestGapMs(fleet, ids)).toBeLessThanOrEqual((90 + 3 * 5) * SECOND_MS);
    }));
});

it('a week after week, with an interval of 30 days and half a day to come back: all cards are polled in their turn', () =>
  onEmbedded(async (open) => {
    const fleet = new LosingFleet(viewOf([configOf(1, { intervalSeconds: 30 * 86_400 })]), open);
    const ids = idsBetween(1, 500);
    fleet.table.put(ids);
    for (let week = 0; week < 9; week += 1) {
      await fleet.run(6.5 * DAY_MS, DAY_MS / 24);
      await fleet.lose();
      fleet.pass(0.5 * DAY_MS);
      fleet.restart();
    }
    await fleet.run(DAY_MS, DAY_MS / 24);
    expect(fleet.polls.size).toBe(500);
    expect(longestGapMs(fleet, ids)).toBeLessThanOrEqual(31 * DAY_MS);
    // 64 days of 30, and what was handed out within an hour before each loss.
    expect([...fleet.polls.values()].flat().length).toBeLessThan(500 * 2.3);
  }));
