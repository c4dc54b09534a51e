// How long the work of a vendor is waited for, and when its card is looked at. The orders that wait: enumeration.test.ts.
import { expect, it } from 'vitest';
import {
  isOverdue,
  isUnderWay,
  NO_WORK,
  nextLookAt,
  workSeen,
} from '../../../../src/domain/orders/vendor-work.ts';

const MINUTE_MS = 60_000;
const T = 1_795_251_272_123;

function looksAfter(forMs: number): number[] {
  const work = workSeen(NO_WORK, T, forMs);
  const looks: number[] = [];
  for (let now = T; isUnderWay(work, now); ) {
    now = nextLookAt(work, now);
    looks.push((now - T) / 1_000);
  }
  return looks;
}

it('the status is asked in steps that double up to two minutes, and when the time is over', () => {
  expect(looksAfter(10 * MINUTE_MS)).toEqual([10, 20, 40, 80, 160, 280, 400, 520, 600]);
  expect(looksAfter(5_000)).toEqual([5]);
});

it('the end of work that is known does not move, whatever is shown later', () => {
  const work = workSeen(NO_WORK, T, MINUTE_MS);
  expect(workSeen(work, T + MINUTE_MS / 2, MINUTE_MS)).toEqual(work);
  expect(isOverdue(work, T + MINUTE_MS)).toBe(true);
});

it('the work on a further call is counted from the first one', () => {
  const first = workSeen(NO_WORK, T, MINUTE_MS);
  const again = workSeen({ ...first, pendingUntil: null }, T + 2 * MINUTE_MS, MINUTE_MS);
  expect(again).toEqual({ pendingSince: T, pendingUntil: T + 3 * MINUTE_MS });
});
