// A real Redis whose clock is wrong: set forward by weeks, then back. The daemon goes on polling, counts usage in the present
// month, and shows what is wrong. And a daemon whose own clock is wrong: it reports the fleet as it is.
import pg from 'pg';
import { afterEach, expect, it } from 'vitest';
import { FakeTime } from '../support/fake-time.ts';
import { Fleet } from '../support/fleet.ts';
import { waitFor } from '../support/processes.ts';

const CARDS = 1_000;
const INTERVAL_SECONDS = 10;
const DAY_MS = 86_400_000;

const closing: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function startFleet(time: FakeTime, of: 'redisEnv' | 'env' = 'redisEnv'): Promise<Fleet> {
  const fleet = await Fleet.start({ [of]: time.env });
  closing.push(() => fleet.close());
  await fleet.startDaemon();
  await fleet.importCards(CARDS);
  await fleet.setIntervals(INTERVAL_SECONDS);
  await aRound(fleet);
  return fleet;
}

/** Waits until every card was polled about once, of every task type. @returns the longest time without a poll, ms */
async function aRound(fleet: Fleet): Promise<number> {
  const from = (await fleet.truth()).requests;
  let [seen, seenAt, longestMs] = [from, performance.now(), 0];
  await waitFor(
    async () => {
      const { requests } = await fleet.truth();
      const now = performance.now();
      longestMs = Math.max(longestMs, now - seenAt);
      if (requests > seen) [seen, seenAt] = [requests, now];
      return requests - from > 3 * CARDS;
    },
    { everyMs: 50, what: 'a round of polls' },
  );
  return longestMs;
}

const reasonsOf = async (fleet: Fleet) =>
  (
    await fleet.get<{ health_reasons: Array<{ code: string; severity: string; text: string }> }>(
      '/api/admin/polling-stats',
    )
  ).health_reasons;

it.each([90_000, 3_600_000])('set back by %i ms: polling goes on within seconds', async (backMs) => {
  const time = new FakeTime(backMs);
  const fleet = await startFleet(time);
  time.set(0);
  expect(await aRound(fleet)).toBeLessThan(15_000);
  await fleet.told('clock of the live store set back: followed', {});
});

it('45 days ahead and back: usage stays in the present month, and both clocks are named', async () => {
  const time = new FakeTime();
  const fleet = await startFleet(time);
  time.set(45 * DAY_MS);
  expect(await aRound(fleet)).toBeLessThan(15_000);
  const ahead = await waitFor(
    async () => (await reasonsOf(fleet)).find(({ code }) => code === 'clocks_differ') ?? null,
  );
  expect(ahead).toMatchObject({
    severity: 'alert',
    text: expect.stringMatching(/\b45 d ahead/),
  });
  time.set(0);
  expect(await aRound(fleet)).toBeLessThan(15_000);
  await waitFor(async () => !(await reasonsOf(fleet)).some(({ code }) => code === 'clocks_differ'));

  const client = new pg.Client({ connectionString: fleet.databaseUrl });
  await client.connect();
  closing.push(() => client.end());
  const { rows } = await client.query(
    `SELECT count(*) FILTER (WHERE month > now() + interval '2 days')::integer AS early,
       count(DISTINCT card_id)::integer AS cards FROM card_usage`,
  );
  expect(rows).toEqual([{ early: 0, cards: CARDS }]);
});

it.each([600_000, -600_000])(
  'a daemon whose clock is %i ms off reports the schedule as it is kept',
  async (offMs) => {
    const fleet = await startFleet(new FakeTime(offMs), 'env');
    await aRound(fleet);
    const { generated_at, tasks } = await fleet.get<{
      generated_at: string;
      tasks: Array<{ schedule_lag_seconds: number; achieved_interval_seconds: number }>;
    }>('/api/admin/polling-stats');
    for (const { schedule_lag_seconds, achieved_interval_seconds } of tasks) {
      expect(schedule_lag_seconds).toBeLessThan(INTERVAL_SECONDS);
      expect(achieved_interval_seconds).toBeLessThan(3 * INTERVAL_SECONDS);
    }
    await waitFor(async () => (await reasonsOf(fleet)).some(({ code }) => code === 'instance_clocks_differ'));
    const { items } = await fleet.get<{ items: Array<{ at: string }> }>(
      '/api/admin/polling-stats/history?minutes=1',
    );
    for (const at of [generated_at, items.at(-1)?.at ?? ''])
      expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(60_000);
  },
);
