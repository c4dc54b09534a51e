import { describe, expect, it } from 'vitest';
import { demoCards, demoIccid, SimulatedFleet } from '../../../../src/gateway/simulate/simulated-fleet.ts';

const ICCIDS = Array.from({ length: 10_000 }, (_, i) => demoIccid(i + 1));

describe('the simulated fleet', () => {
  it('answers the same for the same calls', () => {
    const [a, b] = [new SimulatedFleet(null, 0.2), new SimulatedFleet(null, 0.2)];
    const ask = (fleet: SimulatedFleet) =>
      ICCIDS.slice(0, 500).map((iccid) => [
        fleet.realStatus(iccid),
        fleet.readUsed(iccid),
        fleet.readUsed(iccid),
      ]);
    expect(ask(a)).toEqual(ask(b));
  });

  it('has about nine cards in ten verified, for good', () => {
    const fleet = new SimulatedFleet(null, 0.2);
    const verified = ICCIDS.filter((iccid) => fleet.realStatus(iccid));
    expect(verified.length).toBeGreaterThan(8_800);
    expect(verified.length).toBeLessThan(9_200);
    expect(ICCIDS.filter((iccid) => fleet.realStatus(iccid))).toEqual(verified);
  });

  it.each([0, 0.2, 1])('shows new usage in a share of %f of the reads, and never less', (changeRate) => {
    const fleet = new SimulatedFleet(null, changeRate);
    let last = ICCIDS.map((iccid) => fleet.readUsed(iccid));
    for (let round = 0; round < 7; round += 1) {
      const next = ICCIDS.map((iccid) => fleet.readUsed(iccid));
      expect(next.filter((used, i) => used < (last[i] ?? 0))).toEqual([]);
      const changed = next.filter((used, i) => used !== last[i]).length;
      expect(Math.abs(changed / ICCIDS.length - changeRate)).toBeLessThan(0.02);
      last = next;
    }
  });

  it('uses nothing while a card is stopped', () => {
    const fleet = new SimulatedFleet(null, 1);
    const [iccid = ''] = ICCIDS;
    const before = fleet.readUsed(iccid);
    fleet.stop(iccid);
    const stopped = [fleet.readUsed(iccid), fleet.readUsed(iccid), fleet.readUsed(iccid)];
    expect(new Set(stopped)).toEqual(new Set([before + 0.5]));
    fleet.start(iccid);
    expect([fleet.readUsed(iccid), fleet.readUsed(iccid)]).toEqual([before + 0.5, before + 1]);
  });

  it('is stopped from stop to start, and counts every stop', () => {
    const fleet = new SimulatedFleet(null, 0.2);
    const [a = '', b = ''] = ICCIDS;
    const seen = [fleet.cardStatus(a)];
    fleet.stop(a);
    fleet.stop(a);
    seen.push(fleet.cardStatus(a), fleet.cardStatus(b));
    fleet.start(a);
    seen.push(fleet.cardStatus(a));
    expect(seen).toEqual(['active', 'stopped', 'active', 'active']);
    expect(Object.fromEntries(fleet.stops)).toEqual({ [a]: 2 });
  });

  it('has room for as many cards as were asked for, whatever their numbers', () => {
    const fleet = new SimulatedFleet(3, 0.2);
    const known = ['1', '22', '333', '4444', '333', '22', '1'].map((iccid) => fleet.knows(iccid));
    expect(known).toEqual([true, true, true, false, true, true, true]);
  });

  it('keeps its counters when its table grows', () => {
    const fleet = new SimulatedFleet(null, 1);
    const [first = ''] = ICCIDS;
    const before = fleet.readUsed(first);
    for (let id = 1; id <= 200_000; id += 1) fleet.knows(demoIccid(id));
    expect(fleet.readUsed(first)).toBe(before + 0.5);
  });
});

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
