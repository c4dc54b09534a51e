import { expect, it } from 'vitest';
import { Deadline } from '../../../../src/engine/work/task.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const CLAIMED_AT_MS = Date.parse('2026-11-01T00:00:00Z');

it("gives the fleet's time, independent of this worker's own clock", () => {
  const clock = new FakeClock('1970-01-01T00:00:00Z');
  const deadline = new Deadline(clock, clock.monotonic(), 15_000, CLAIMED_AT_MS);
  expect(deadline.nowMs()).toBe(CLAIMED_AT_MS);
  clock.advance(1_500.7);
  clock.set('2126-01-01T00:00:00Z');
  expect(deadline.nowMs()).toBe(CLAIMED_AT_MS + 1_500);
});

it('is over after half the lease', () => {
  const clock = new FakeClock();
  const deadline = new Deadline(clock, clock.monotonic(), 15_000, CLAIMED_AT_MS);
  clock.advance(7_499);
  expect(deadline.remainingMs()).toBe(1);
  clock.advance(2);
  expect(deadline.remainingMs()).toBe(-1);
});
