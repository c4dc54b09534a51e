import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock, withTimeout } from '../../../src/platform/clock.ts';
import { FakeClock } from '../../support/fake-clock.ts';

it('has the time of the machine, and one that never goes back', () => {
  const before = Date.now();
  expect(systemClock.now()).toBeGreaterThanOrEqual(before);
  expect(systemClock.now()).toBeLessThanOrEqual(Date.now());
  const start = performance.now();
  expect(systemClock.monotonic()).toBeGreaterThanOrEqual(start);
  expect(systemClock.monotonic()).toBeLessThanOrEqual(performance.now());
});

it('sleeps for the given time', async () => {
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

describe('withTimeout', () => {
  it('work in time', async () => {
    const clock = new FakeClock();
    expect(await withTimeout(1_000, Promise.resolve(), clock)).toBe(true);
    expect(clock.sleepers).toBe(0);
  });

  it('work that takes longer goes on alone', async () => {
    const clock = new FakeClock();
    const ended = withTimeout(1_000, new Promise(() => {}), clock);
    clock.advance(999);
    expect(await Promise.race([ended, nextTurn('not yet')])).toBe('not yet');
    clock.advance(1);
    expect(await ended).toBe(false);
  });

  it('work that fails', async () => {
    const clock = new FakeClock();
    await expect(withTimeout(1_000, Promise.reject(new Error('broken')), clock)).rejects.toThrow('broken');
    expect(clock.sleepers).toBe(0);
  });
});
