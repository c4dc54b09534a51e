// Statistics: totals, the rolling window, flushes that come twice.
import { expect, it } from 'vitest';
import { sumOfCounts } from '../../../src/domain/numbers.ts';
import type { CarrierPolls } from '../../../src/domain/results/carrier-polls.ts';
import { GROWTH_HOURS, hourOf, minuteOf } from '../../../src/domain/results/usage-growth.ts';
import {
  type CarrierCounts,
  carrierSlotAt,
  SLOT_CARRIERS_MAX,
  sumOfSlotCounts,
} from '../../../src/domain/stats/carrier-slots.ts';
import { statsDelta } from '../../support/stats-delta.ts';
import { describeLiveStore, REALNAME, range } from './stores.ts';

describeLiveStore('polls by carrier', (live) => {
  const record = (instance: string, flush: number, ...carriers: Array<[number | null, CarrierCounts]>) =>
    live.store.stats.record(REALNAME, instance, flush, statsDelta({ byCarrier: new Map(carriers) }));
  const slot = async () => {
    const present = carrierSlotAt(await live.store.now());
    const slots = await live.store.stats.carrierSlots(REALNAME, [present - 1, present]);
    return sumOfSlotCounts(slots.values());
  };

  it('are counted in slots of ten minutes, each flush once, by task type', async () => {
    expect(await slot()).toEqual(new Map());
    const few = { polls: 1, failed: 0, timed: 0, late: 0 };
    await record('a', 1, [7, { polls: 3, failed: 1, timed: 2, late: 1 }], [-1, few]);
    await record('a', 1, [7, { polls: 9, failed: 9, timed: 9, late: 9 }]);
    await record('b', 1, [7, { polls: 2, failed: 0, timed: 2, late: 0 }]);
    await record('b', 2);
    expect(await slot()).toEqual(
      new Map([
        [7, { polls: 5, failed: 1, timed: 4, late: 1 }],
        [-1, few],
      ]),
    );
    const present = carrierSlotAt(await live.store.now());
    expect(await live.store.stats.carrierSlots('package', [present - 1, present])).toEqual(new Map());
    expect(await live.store.stats.carrierSlots(REALNAME, [])).toEqual(new Map());
  });

  it('name fifty carriers, and count further ones together', async () => {
    const one = { polls: 1, failed: 1, timed: 1, late: 0 };
    const fifty = range(SLOT_CARRIERS_MAX, 1).map((id): [number, CarrierCounts] => [id, one]);
    await record('a', 1, ...fifty, [null, one]);
    await record('b', 1, [50, one], [51, one]);
    const found = await slot();
    expect(found.size).toBe(SLOT_CARRIERS_MAX + 1);
    expect([found.get(50)?.polls, found.get(51), found.get(null)]).toEqual([
      2,
      undefined,
      { polls: 2, failed: 2, timed: 2, late: 0 },
    ]);
  });
});

describeLiveStore('statistics', (live) => {
  it('are zero before the first count', async () => {
    const reading = await live.store.stats.read(REALNAME);
    expect(reading).toMatchObject({ total: 0, succeeded: 0, failed: 0 });
    expect(reading.window).toMatchObject({ succeeded: 0, failed: 0, durationMs: 0 });
  });

  it('add up over workers, by task type', async () => {
    await live.store.stats.record(
      REALNAME,
      'a',
      1,
      statsDelta({ succeeded: 10, failed: 1, durationMs: 1_100.5 }),
    );
    await live.store.stats.record(REALNAME, 'b', 1, statsDelta({ succeeded: 5, failed: 0, durationMs: 500 }));
    await live.store.stats.record('package', 'b', 1, statsDelta({ succeeded: 1, failed: 1, durationMs: 20 }));
    const reading = await live.store.stats.read(REALNAME);
    expect(reading).toMatchObject({ total: 16, succeeded: 15, failed: 1 });
    expect(reading.window).toMatchObject({ succeeded: 15, failed: 1, durationMs: 1_600.5 });
    expect(reading.window.seconds).toBeGreaterThanOrEqual(1);
    expect(reading.window.seconds).toBeLessThan(60);
    expect(reading.recent.polls).toBe(16);
    expect(reading.recent.seconds).toBeGreaterThanOrEqual(1);
    expect(reading.recent.seconds).toBeLessThanOrEqual(20);
  });

  it('count a flush once however often it comes', async () => {
    const delta = { succeeded: 3, failed: 2, durationMs: 50 };
    await live.store.stats.record(REALNAME, 'a', 1, statsDelta(delta));
    await live.store.stats.record(REALNAME, 'a', 1, statsDelta(delta));
    await live.store.stats.record(REALNAME, 'a', 2, statsDelta(delta));
    await live.store.stats.record(
      REALNAME,
      'a',
      1,
      statsDelta({ ...delta, succeeded: 0, failed: 0, durationMs: 0 }),
    );
    const reading = await live.store.stats.read(REALNAME);
    expect(reading).toMatchObject({ total: 10, succeeded: 6, failed: 4 });
  });

  it('keep how long polls took and why they failed', async () => {
    const { stats } = live.store;
    const sums = { succeeded: 3, failed: 2, durationMs: 50 };
    await stats.record(
      REALNAME,
      'a',
      1,
      statsDelta({ ...sums, durations: { 0: 1, 12: 4 }, reasons: { timeout: 2 } }),
    );
    await stats.record(
      REALNAME,
      'b',
      1,
      statsDelta({ ...sums, durations: { 12: 5 }, reasons: { timeout: 1, http: 1 } }),
    );
    await stats.record(REALNAME, 'c', 1, statsDelta(sums));
    const { window, recent } = await stats.read(REALNAME);
    expect(window).toMatchObject({ succeeded: 9, failed: 6, durationMs: 150 });
    expect(window.durations).toEqual({ 0: 1, 12: 9 });
    expect(window.reasons).toEqual({ timeout: 3, http: 1 });
    expect(recent.durations).toEqual({ 0: 1, 12: 9 });
  });

  it('keep how long the polls took that succeeded', async () => {
    const { stats } = live.store;
    const delta = { succeeded: 3, failed: 2, durationMs: 50, succeededMs: 20.25 };
    await stats.record(
      REALNAME,
      'a',
      1,
      statsDelta({ ...delta, carriers: carriersOf([7], { polls: 5, failed: 2 }) }),
    );
    await stats.record(REALNAME, 'b', 1, statsDelta(delta));
    await stats.record(REALNAME, 'c', 1, statsDelta({ succeeded: 0, failed: 1, durationMs: 9 }));
    const { window, recent } = await stats.read(REALNAME);
    expect(window).toMatchObject({ succeeded: 6, durationMs: 109, succeededMs: 40.5 });
    expect(recent).toMatchObject({ polls: 11, succeeded: 6 });
  });

  it('count readings that were not believed', async () => {
    const { stats } = live.store;
    const delta = { succeeded: 3, failed: 2, durationMs: 50 };
    await stats.record('carddata', 'a', 1, statsDelta({ ...delta, implausible: 2 }));
    await stats.record('carddata', 'b', 1, statsDelta(delta));
    await stats.record('carddata', 'b', 2, statsDelta({ ...delta, implausible: 1 }));
    await stats.record('carddata', 'b', 2, statsDelta({ ...delta, implausible: 1 }));
    expect((await stats.read('carddata')).window).toMatchObject({ succeeded: 9, implausible: 3 });
    expect((await stats.read('package')).window).toMatchObject({ succeeded: 0, implausible: 0 });
  });

  it('count readings of cards that have used something, and those that fell', async () => {
    const { stats } = live.store;
    const delta = { succeeded: 3, failed: 0, durationMs: 50 };
    await stats.record('carddata', 'a', 1, statsDelta({ ...delta, counters: 3, fallen: 2 }));
    await stats.record('carddata', 'b', 1, statsDelta({ ...delta, counters: 1 }));
    await stats.record('carddata', 'b', 2, statsDelta({ ...delta, counters: 2, fallen: 1 }));
    expect((await stats.read('carddata')).window).toMatchObject({ counters: 6, fallen: 3 });
  });

  it('keep by minute how fast readings of usage grew', async () => {
    const { stats } = live.store;
    const sums = { succeeded: 3, failed: 2, durationMs: 50 };
    expect((await stats.usageGrowth()).minutes).toEqual(new Map());
    const before = minuteOf(await live.store.now());
    const first = { ...sums, usageGrowth: { 0: 1, 37: 2 } };
    await stats.record('carddata', 'a', 1, statsDelta(first));
    await stats.record('carddata', 'a', 1, statsDelta(first));
    await stats.record('carddata', 'b', 1, statsDelta({ ...sums, usageGrowth: { 37: 3, 80: 4 } }));
    await stats.record('carddata', 'b', 2, statsDelta({ ...sums, usageGrowth: {} }));
    await stats.record('carddata', 'b', 3, statsDelta(sums));
    const { minutes } = await stats.usageGrowth();
    expect(sumOfCounts([...minutes.values()])).toEqual({ 0: 1, 37: 5, 80: 4 });
    for (const minute of minutes.keys()) {
      expect(minute).toBeGreaterThanOrEqual(before);
      expect(minute).toBeLessThanOrEqual(minuteOf(await live.store.now()));
    }
    expect(await stats.read('carddata')).toMatchObject({ total: 20 });
  });

  it('forget from a time on how fast readings grew', async () => {
    const { stats } = live.store;
    const delta = { succeeded: 1, failed: 0, durationMs: 50, usageGrowth: { 37: 2 } };
    const beganMs = await live.store.now();
    await stats.forgetUsageGrowth(beganMs);
    await stats.record('carddata', 'a', 1, statsDelta(delta));
    await stats.forgetUsageGrowth((await live.store.now()) + 60_000);
    expect(sumOfCounts([...(await stats.usageGrowth()).minutes.values()])).toEqual({ 37: 2 });
    await stats.forgetUsageGrowth(beganMs);
    expect((await stats.usageGrowth()).minutes).toEqual(new Map());
    await stats.record('carddata', 'a', 2, statsDelta(delta));
    expect(sumOfCounts([...(await stats.usageGrowth()).minutes.values()])).toEqual({ 37: 2 });
  });

  it('keep the fastest growth of the last hours, as many as are looked back to', async () => {
    const { stats } = live.store;
    const hour = hourOf(await live.store.now());
    expect((await stats.usageGrowth()).hours).toEqual(new Map());
    for (let ago = GROWTH_HOURS + 10; ago >= 0; ago -= 1) await stats.noteUsagePeak(hour - ago, ago / 7);
    await stats.noteUsagePeak(hour, 0.25);
    const { hours } = await stats.usageGrowth();
    expect(hours.size).toBe(GROWTH_HOURS);
    expect(hours.get(hour)).toBe(0.25);
    expect(hours.get(hour - 24 * 7 - 1)).toBe((24 * 7 + 1) / 7);
    expect(hours.has(hour - GROWTH_HOURS)).toBe(false);
    await stats.forgetUsageGrowth((hour - 2) * 3_600_000 + 1);
    expect(Math.max(...(await stats.usageGrowth()).hours.keys())).toBe(hour - 3);
  });

  it('keep the polls of each carrier, and how long they took', async () => {
    const { stats } = live.store;
    const sums = { succeeded: 3, failed: 2, durationMs: 50 };
    const counted = { ...sums, durations: { 7: 5 }, reasons: { timeout: 2 } };
    await stats.record(
      REALNAME,
      'a',
      1,
      statsDelta({
        ...counted,
        carriers: carriersOf([7, -2_147_483_648], { polls: 2, failed: 1, succeededMs: 40 }),
      }),
    );
    await stats.record(
      REALNAME,
      'b',
      1,
      statsDelta({ ...sums, carriers: carriersOf([0, 7], { polls: 1, failed: 0, succeededMs: 10.5 }) }),
    );
    await stats.record(REALNAME, 'c', 1, statsDelta(counted));
    const { window } = await stats.read(REALNAME);
    expect(window.carriers).toEqual(
      new Map([
        [7, { polls: 3, failed: 1, succeededMs: 50.5 }],
        [-2_147_483_648, { polls: 2, failed: 1, succeededMs: 40 }],
        [0, { polls: 1, failed: 0, succeededMs: 10.5 }],
      ]),
    );
    expect(window).toMatchObject({ succeeded: 9, failed: 6, durations: { 7: 10 }, reasons: { timeout: 4 } });
    expect((await stats.read('package')).window.carriers).toEqual(new Map());
  });

  it('name the first fifty carriers of ten seconds, and count on for these', async () => {
    const { stats } = live.store;
    const one = { polls: 1, failed: 1 };
    const record = (flushNumber: number, carrierIds: readonly number[]) => {
      const carriers = carriersOf(carrierIds, one);
      return stats.record(
        REALNAME,
        'a',
        flushNumber,
        statsDelta({ succeeded: 0, failed: 60, durationMs: 1, carriers }),
      );
    };
    await record(1, range(60));
    const first = (await stats.read(REALNAME)).window;
    expect([...first.carriers.keys()].sort((a, b) => a - b)).toEqual(range(50));
    for (let flush = 2; flush <= 10; flush += 1) await record(flush, [...range(49, 60 * flush), 50]);
    const { carriers, failed } = (await stats.read(REALNAME)).window;
    expect(carriers.get(50)).toEqual({ polls: 10, failed: 10 });
    expect(carriers.get(1), 'which came first').toEqual(one);
    // The flushes may fall into two slots.
    expect(carriers.size).toBeLessThanOrEqual(100);
    expect(failed).toBe(600);
  });
});

function carriersOf(carrierIds: readonly number[], counted: CarrierPolls): Map<number, CarrierPolls> {
  return new Map(carrierIds.map((carrierId) => [carrierId, counted]));
}
