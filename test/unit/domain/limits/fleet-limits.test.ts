import { describe, expect, it } from 'vitest';
import { divideCeiling, grantWithin, type PerType } from '../../../../src/domain/limits/fleet-limits.ts';
import { perTaskType, TASK_TYPES } from '../../../../src/domain/task-type.ts';

/** Task types these tests have no number of their own for. */
const OTHERS = TASK_TYPES.length - 3;

const of = (realname: number, carddata: number, pack: number, others = 0): PerType => ({
  ...perTaskType(() => others),
  realname,
  carddata,
  package: pack,
});
/** No shares are in force. */
const NONE = of(0, 0, 0);
const sum = (shares: PerType) => Object.values(shares).reduce((total, share) => total + share, 0);

describe('divideCeiling', () => {
  it.each<[string, number, PerType, PerType]>([
    ['the same for all who need more', 30 * TASK_TYPES.length, of(500, 500, 500, 500), of(30, 30, 30, 30)],
    ['what one leaves to the others', 90 + OTHERS, of(500, 10, 500), of(40, 10, 40, 1)],
    ['what two leave to the third', 90 + OTHERS, of(5, 10, 500), of(5, 10, 75, 1)],
    [
      'the rest to everybody when nobody needs it',
      31 + OTHERS + 20 * TASK_TYPES.length,
      of(0, 10, 20),
      of(21, 30, 40, 21),
    ],
    ['one at least to him who needs nothing', 90 + OTHERS, of(0, 500, 500), of(1, 45, 44, 1)],
    ['a remainder in order', TASK_TYPES.length + 1, of(9, 9, 9, 9), of(2, 1, 1, 1)],
    ['one each at the smallest ceiling', TASK_TYPES.length, of(9, 9, 9, 9), of(1, 1, 1, 1)],
    [
      'one each even where the ceiling is smaller than the number of types',
      TASK_TYPES.length - 1,
      of(9, 9, 9, 9),
      of(1, 1, 1, 1),
    ],
    ['a need of one call', 3 * TASK_TYPES.length + 1, of(1, 1, 1, 1), of(4, 3, 3, 3)],
  ])('gives %s', (_, ceiling, needs, shares) => {
    expect(divideCeiling(ceiling, needs, NONE)).toEqual(shares);
  });

  it('never gives more than there is, nor less than one, nor leaves anything while an instance is short', () => {
    const numbers = [0, 1, 2, 7, 33, 100, 5_000];
    for (const more of [0, 1, 2, 7, 96, 297, 299_997]) {
      const ceiling = TASK_TYPES.length + more;
      for (const a of numbers) {
        for (const b of numbers) {
          for (const c of numbers) {
            const needs = of(a, b, c);
            const shares = divideCeiling(ceiling, needs, NONE);
            expect(sum(shares)).toBe(ceiling);
            expect(Math.min(...Object.values(shares))).toBeGreaterThanOrEqual(1);
          }
        }
      }
    }
  });

  it('keeps the shares in force while no instance is short', () => {
    const present = of(15, 60, 15, 1);
    // One more for each type than it needs, and one that is left.
    const ceiling = 16 + 60 + 10 + OTHERS + TASK_TYPES.length + 1;
    expect(divideCeiling(ceiling, of(3, 60, 10), present)).toEqual(present);
    expect(divideCeiling(ceiling, of(16, 60, 10), present)).toEqual(of(18, 61, 11, 2));
    expect(divideCeiling(60, of(3, 10, 10), present)).not.toEqual(present);
  });
});

describe('grantWithin', () => {
  it('raises a share only by what the others no longer use', () => {
    // realname was lowered from 60 to 10 and still has 60 in flight.
    const draining = grantWithin(90, of(10, 70, 10), of(10, 20, 10), of(60, 20, 10));
    expect(draining).toEqual(of(10, 20, 10));
    const half = grantWithin(90, of(10, 70, 10), of(10, 20, 10), of(35, 20, 10));
    expect(half).toEqual(of(10, 45, 10));
    const drained = grantWithin(90, of(10, 70, 10), of(10, 20, 10), of(10, 20, 10));
    expect(drained).toEqual(of(10, 70, 10));
  });

  it('counts what a type may begin until its limit is lowered', () => {
    const idle = of(0, 20, 10);
    const lowered = grantWithin(90, of(10, 70, 10), of(60, 20, 10), idle);
    expect(lowered).toEqual(of(10, 20, 10));
    expect(grantWithin(90, of(10, 70, 10), lowered, idle)).toEqual(of(10, 70, 10));
  });

  it('keeps in force and in flight together under the ceiling whatever is asked for', () => {
    const numbers = [1, 10, 40, 90];
    for (const target of numbers) {
      for (const inForce of numbers) {
        for (const inFlight of numbers) {
          const before = of(inForce, 5, 5);
          const running = of(inFlight, 0, 30);
          const held = (limits: PerType) =>
            Math.max(limits.realname, running.realname) +
            Math.max(limits.carddata, running.carddata) +
            Math.max(limits.package, running.package);
          const granted = grantWithin(90, of(target, target, target), before, running);
          expect(held(granted)).toBeLessThanOrEqual(Math.max(90, held(before)));
        }
      }
    }
  });
});
