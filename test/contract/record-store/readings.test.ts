// Readings from the gateway to the month's row: the carddata task and the record store together, on a clock that the test
// moves. What a gateway shows wrongly, late or twice must not be counted (docs/decisions/0004-usage-month.md).
import { expect, it } from 'vitest';
import { MonthCalendar } from '../../../src/domain/cards/month-calendar.ts';
import type { PollOutcome } from '../../../src/domain/results/poll-outcome.ts';
import { CarddataTask } from '../../../src/engine/tasks/reading-tasks.ts';
import { Deadline } from '../../../src/engine/work/task.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import type { RecordStore } from '../../../src/store/ports/records/record-store.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { ONE_CARD_A_CALL } from '../../support/one-card-calls.ts';
import { addCards, describeRecordStore, range } from './stores.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LEASE_MS = 15_000;
const calendar = new MonthCalendar('Asia/Shanghai');

describeRecordStore('readings', (db) => {
  /** Polls card 1 as one worker does; the gateway shows `usedMb`. */
  async function poll(
    usedMb: number,
    { store = db.store, fleet, own = fleet }: { store?: RecordStore; fleet: FakeClock; own?: Clock },
  ): Promise<PollOutcome> {
    const [card] = await store.cards.byIds([1]);
    if (card === undefined) throw new Error('card 1 is missing');
    const gateway = {
      ...ONE_CARD_A_CALL,
      call: async () => ({ value: usedMb, durationMs: 1 }),
      isStoppedStatus: () => false,
    };
    const meter = { implausibleReading: () => {} };
    const task = new CarddataTask({ gateway, calendar, maxMbitPerSecond: 150, meter });
    const { outcome } = await task.poll(card, new Deadline(own, own.monotonic(), LEASE_MS, fleet.now()));
    return outcome;
  }

  /** Polls and writes; a reading that comes second is polled again, as the result writer has it done. */
  async function read(usedMb: number, worker: Parameters<typeof poll>[1]): Promise<void> {
    const { staleUsage } = await (worker.store ?? db.store).results.write([await poll(usedMb, worker)]);
    if (staleUsage.length > 0) await read(usedMb, worker);
  }

  const months = () =>
    db.sql(`SELECT to_char(month, 'YYYY-MM') AS month, used_mb, suspected_mb FROM card_usage ORDER BY month`);

  async function readAll(
    readings: readonly number[],
    fleet = new FakeClock(),
    apartMs = HOUR_MS / 2,
  ): Promise<void> {
    await addCards(db.store, 1);
    for (const usedMb of readings) {
      await read(usedMb, { fleet });
      fleet.advance(apartMs);
    }
  }

  it.each<[string, readonly number[], number]>([
    ['a dip', [900, 899.9, 900, 899.9, 900], 900],
    ['a wrong answer', [900, 0, 901], 901],
    ['hours of wrong answers', [900, 0, 0, 0, 901], 901],
    ['hours in a smaller unit', [900, 0.875, 0.875, 0.876, 901], 901],
  ])('counts each megabyte once through %s', async (_, readings, total) => {
    await readAll(readings);
    expect(await months()).toEqual([{ month: '2026-11', used_mb: total, suspected_mb: null }]);
  });

  it('counts what a counter shows that has restarted for a day', async () => {
    await readAll([900, 5, 12], new FakeClock(), DAY_MS);
    expect(await months()).toEqual([{ month: '2026-11', used_mb: 912, suspected_mb: null }]);
  });

  it('keeps a suspicion with the card and what was shown in the records', async () => {
    await readAll([900, 5]);
    const [card] = await db.store.cards.byIds([1]);
    expect(card?.usage).toMatchObject({ usedMb: 900, lastReadingMb: 900, suspectedMb: 5 });
    expect(await db.sql('SELECT reading_mb, used_mb FROM usage_records ORDER BY recorded_at')).toEqual([
      { reading_mb: 900, used_mb: 900 },
      { reading_mb: 5, used_mb: 900 },
    ]);
  });

  it('takes back what a gateway with another unit counted over night', async () => {
    await readAll([30, 31, 31 * 1_024, 32 * 1_024]);
    const [wrong] = await db.store.cards.byIds([1]);
    expect(wrong?.usage).toMatchObject({
      usedMb: 32 * 1_024,
      jump: { fromMb: 31, fromUsedMb: 31, atMs: new FakeClock().now() + HOUR_MS },
    });
    const fleet = new FakeClock(new FakeClock().now() + 3 * HOUR_MS);
    await read(33, { fleet });
    const [right] = await db.store.cards.byIds([1]);
    expect(right?.usage).toMatchObject({ usedMb: 33, lastReadingMb: 33, suspectedMb: null, jump: null });
  });

  it('leaves the row of a card as it is when a reading is implausible', async () => {
    await readAll([30, 500_000, 30]);
    expect(await db.sql('SELECT used_mb, last_reading_mb FROM card_usage')).toEqual([
      { used_mb: 30, last_reading_mb: 30 },
    ]);
    expect(await db.sql('SELECT reading_mb FROM usage_records')).toEqual([{ reading_mb: 30 }]);
  });

  it('takes a jump back after the turn of the month, from the new month only', async () => {
    // 23:00 on 31 October in Shanghai.
    await readAll([20, 20_480, 20_490, 21, 22, 23], new FakeClock('2026-10-31T15:00:00Z'));
    expect(await months()).toEqual([
      { month: '2026-10', used_mb: 20_480, suspected_mb: null },
      { month: '2026-11', used_mb: 3, suspected_mb: null },
    ]);
  });

  it('keeps the reading before the last change, also into the next month', async () => {
    const previous = () => db.sql('SELECT previous_reading_mb AS mb FROM card_usage ORDER BY month');
    // 22:30 on 31 October in Shanghai.
    const fleet = new FakeClock('2026-10-31T14:30:00Z');
    await readAll([500], fleet);
    expect(await previous()).toEqual([{ mb: null }]);
    const told: unknown[] = [];
    for (const usedMb of [510, 509, 3, 511, 511, 520, 2]) {
      await read(usedMb, { fleet });
      told.push((await previous()).map(({ mb }) => mb));
      fleet.advance(HOUR_MS / 2);
    }
    // 23:00 to 02:00: growth; a dip and, in the new month, a suspicion, which change no reading; growth; none; growth.
    expect(told).toEqual([[500], [500], [500, 500], [500, 510], [500, 510], [500, 511], [500, 511]]);
  });

  it('turns the month with a counter that is reset on time', async () => {
    // 23:00 on 31 October in Shanghai.
    await readAll([500, 501, 2, 7], new FakeClock('2026-10-31T15:00:00Z'));
    expect(await months()).toEqual([
      { month: '2026-10', used_mb: 501, suspected_mb: null },
      { month: '2026-11', used_mb: 7, suspected_mb: null },
    ]);
  });

  it('turns the month with a dip, and a counter that is reset late', async () => {
    await readAll([500, 501, 500.9, 502, 3, 4], new FakeClock('2026-10-31T15:00:00Z'));
    expect(await months()).toEqual([
      { month: '2026-10', used_mb: 501, suspected_mb: null },
      { month: '2026-11', used_mb: 5, suspected_mb: null },
    ]);
  });

  it('ignores an answer that comes after a later one was kept', async () => {
    const fleet = new FakeClock();
    await addCards(db.store, 1);
    await read(900, { fleet });
    fleet.advance(HOUR_MS);
    const late = await poll(300, { fleet });
    fleet.advance(1_000);
    await read(905, { fleet });
    expect(await db.store.results.write([late])).toMatchObject({ staleUsage: [1] });
    fleet.set(fleet.now() - 500);
    await read(300, { fleet });
    expect(await months()).toEqual([{ month: '2026-11', used_mb: 905, suspected_mb: null }]);
  });

  it('counts once what two workers read of one card', async () => {
    const fleet = new FakeClock();
    const stores = [await db.another(), await db.another()];
    await addCards(db.store, 1);
    const RESET_AT = 20;
    // Enough that no growth is a step.
    let shown = 100;
    let truth = shown;
    for (const step of range(39)) {
      const isReset = step === RESET_AT;
      if (isReset) shown = 0;
      shown += step;
      truth += step;
      // Both ask at the same instant, so either reading may be the late one; one is shown a dip now and then. What a dip
      // hides the next step shows, except before a reset.
      const dips = step % 5 === 0 && Math.abs(step - RESET_AT) > 1;
      const answers = [shown, dips ? shown * 0.99 : shown];
      await Promise.all(stores.map((store, i) => read(answers[i] as number, { store, fleet })));
      fleet.advance(isReset ? DAY_MS : HOUR_MS);
    }
    const rows = await months();
    expect(rows.reduce((sum, row) => sum + Number(row.used_mb), 0)).toBeCloseTo(truth, 6);
  });

  it.each([
    ['ahead', DAY_MS],
    ['behind', -DAY_MS],
  ])("takes the fleet's time for a reading, not that of a worker %s", async (_, offMs) => {
    const fleet = new FakeClock('2026-10-31T15:30:00Z');
    await addCards(db.store, 1);
    await read(100, { fleet, own: new FakeClock(fleet.now() + offMs) });
    fleet.advance(1_000);
    await read(130, { fleet });
    expect(await months()).toEqual([{ month: '2026-10', used_mb: 130, suspected_mb: null }]);
  });

  it('goes on from a reading that a clock ahead left behind', async () => {
    const fleet = new FakeClock();
    await addCards(db.store, 1);
    await read(100, { fleet: new FakeClock(fleet.now() + DAY_MS) });
    await read(130, { fleet });
    await read(140, { fleet: new FakeClock(fleet.now() + 1) });
    expect(await months()).toEqual([{ month: '2026-11', used_mb: 140, suspected_mb: null }]);
  });
});
