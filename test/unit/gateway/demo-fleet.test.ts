import { describe, expect, it } from 'vitest';
import { demoCards, demoIccid } from '../../../src/gateway/demo-fleet.ts';

/** Luhn's rule over the whole number, the other way round than the code computes its digit. */
function passesLuhn(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, place) => {
    const value = Number(digit) * (place % 2 === 1 ? 2 : 1);
    return total + Math.floor(value / 10) + (value % 10);
  }, 0);
  return sum % 10 === 0;
}

describe('the demo fleet', () => {
  it('has valid, distinct iccids of 20 digits', () => {
    const iccids = [...demoCards(2_000)].map((card) => card.iccid);
    expect(new Set(iccids).size).toBe(2_000);
    expect(iccids.filter((iccid) => !/^8986\d{16}$/.test(iccid) || !passesLuhn(iccid))).toEqual([]);
    expect(demoIccid(30_000_000)).toMatch(/^8986000000030000000\d$/);
  });

  it('has one card in a hundred with a small allowance', () => {
    const allowances = [...demoCards(10_000)].map((card) => card.allowanceMb);
    expect(allowances.filter((mb) => mb === 256)).toHaveLength(100);
    expect(allowances.filter((mb) => mb === 10_240)).toHaveLength(9_900);
  });
});
