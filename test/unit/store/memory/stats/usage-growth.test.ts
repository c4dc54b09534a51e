// The growth of usage in this process's memory is bounded, as it is in Redis (test/contract/live-store).
import { expect, it } from 'vitest';
import { GROWTH_MINUTES, minuteOf } from '../../../../../src/domain/results/usage-growth.ts';
import { embeddedPollStats } from '../../../../../src/store/memory/stats/stats.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { statsDelta } from '../../../../support/stats-delta.ts';

it('keeps the growth of the last minutes, also after the clock was set back', async () => {
  const clock = new FakeClock();
  const stats = embeddedPollStats(clock);
  let flush = 0;
  const record = () =>
    stats.record(
      'carddata',
      'w',
      ++flush,
      statsDelta({
        succeeded: 1,
        failed: 0,
        durationMs: 1,
        usageGrowth: { 37: 1 },
      }),
    );
  for (let minute = 0; minute < GROWTH_MINUTES + 20; minute += 1) {
    await record();
    clock.advance(60_000);
  }
  expect((await stats.usageGrowth()).minutes.size).toBe(GROWTH_MINUTES);
  clock.set(clock.now() - 30 * 60_000);
  await record();
  const { minutes } = await stats.usageGrowth();
  expect(Math.max(...minutes.keys())).toBe(minuteOf(clock.now()));
  expect(minutes.get(minuteOf(clock.now()))).toEqual({ 37: 2 });
});
