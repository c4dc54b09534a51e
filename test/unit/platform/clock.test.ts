import { expect, it } from 'vitest';
import { systemClock } from '../../../src/platform/clock.ts';

it('tells the time of the machine, and one that never goes back', () => {
  const before = Date.now();
  expect(systemClock.now()).toBeGreaterThanOrEqual(before);
  expect(systemClock.now()).toBeLessThanOrEqual(Date.now());
  const start = performance.now();
  expect(systemClock.monotonic()).toBeGreaterThanOrEqual(start);
  expect(systemClock.monotonic()).toBeLessThanOrEqual(performance.now());
});

it('sleeps as long as it was told', async () => {
  const start = performance.now();
  await systemClock.sleep(20);
  // Timers count whole milliseconds from the start of their turn.
  expect(performance.now() - start).toBeGreaterThan(15);
});

it('wakes at once when the signal is aborted, before or meanwhile', async () => {
  const day = 24 * 60 * 60 * 1_000;
  await systemClock.sleep(day, AbortSignal.abort());
  const controller = new AbortController();
  const slept = systemClock.sleep(day, controller.signal);
  controller.abort();
  await slept;
});

it('refuses to sleep for NaN, which a timer takes for no time at all', async () => {
  await expect(systemClock.sleep(Number.NaN)).rejects.toThrow(RangeError);
});
