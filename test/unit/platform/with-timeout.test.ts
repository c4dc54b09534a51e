import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { withTimeout } from '../../../src/platform/with-timeout.ts';
import { FakeClock } from '../../support/fake-clock.ts';

it('work in time', async () => {
  const clock = new FakeClock();
  expect(await withTimeout(1_000, Promise.resolve(), clock)).toBe(true);
  expect(clock.sleepers).toBe(0);
});

it('work that takes longer goes on without anybody', async () => {
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
