// Whom a result is about: the SIM that was called. What arrives after the card got another one is not written, and the first reading
// of another SIM is where its count begins.
import { beforeEach, describe, expect, it } from 'vitest';
import { applyReading } from '../../../src/domain/cards/usage-month.ts';
import { addCards, describeRecordStore, iccidOf, reading } from './stores.ts';

const MONTH = '2026-11';
const MBIT_PER_SECOND = 150;
const [OLD, NEW] = [iccidOf(1), iccidOf(777)];

describeRecordStore('results of a card whose SIM changed', (db) => {
  const usageOf = async () => (await db.store.cards.byIds([1]))[0]?.usage ?? null;
  const setIccid = (iccid: string) => db.sql(`UPDATE cards SET iccid = '${iccid}' WHERE card_id = 1`);
  let atMs = 0;

  /** A poll by the card as it is now: what the gateway shows of its SIM, a minute after the last. */
  async function polls(usedMb: number, iccid: string, month = MONTH): Promise<void> {
    atMs = Math.max(atMs + 60_000, Date.now() + 1_000);
    const last = await usageOf();
    const next = applyReading(last, { usedMb, atMs, month }, MBIT_PER_SECOND);
    if (next === null) return;
    const usage = { next, basedOnReadAtMs: last?.readAtMs ?? null };
    const outcome = { cardId: 1, iccid, taskType: 'carddata', polledAtMs: atMs, usage } as const;
    expect(await db.store.results.write([outcome])).toEqual({ staleUsage: [], otherIccid: [] });
  }

  beforeEach(async () => {
    atMs = Date.now() - 3_600_000;
    await addCards(db.store, 1, 2);
    await db.store.results.write([reading(1, { month: MONTH, usedMb: 10, atMs, basedOn: null })]);
  });

  it('are not written when they are of the former SIM, and the card is named', async () => {
    await setIccid(NEW);
    const last = await usageOf();
    const usage = {
      next: { ...(last as NonNullable<typeof last>), usedMb: 4_000, readAtMs: atMs + 1 },
      basedOnReadAtMs: atMs,
    };
    const late = { cardId: 1, iccid: OLD, polledAtMs: atMs + 1 } as const;
    const written = await db.store.results.write([
      { ...late, taskType: 'carddata', usage },
      { ...late, taskType: 'realname', realNameVerified: true },
      { ...late, taskType: 'package', stopped: true },
      { cardId: 2, iccid: iccidOf(2), taskType: 'package', polledAtMs: atMs + 1, stopped: true },
    ]);
    expect(written).toEqual({ staleUsage: [], otherIccid: [1] });
    expect(await db.store.cards.find('1')).toMatchObject({
      realNameVerified: false,
      stopped: false,
      usage: { usedMb: 10 },
      lastPolledAtMs: {},
    });
    expect(await db.store.cards.find('2')).toMatchObject({
      stopped: true,
      lastPolledAtMs: { package: atMs + 1 },
    });
  });

  it('take what is of the present SIM from a batch that has both', async () => {
    await setIccid(NEW);
    const late = { cardId: 1, taskType: 'realname', polledAtMs: atMs + 5 } as const;
    const written = await db.store.results.write([
      { ...late, iccid: OLD, realNameVerified: false },
      { ...late, iccid: NEW, realNameVerified: true, polledAtMs: atMs + 6 },
    ]);
    expect(written).toEqual({ staleUsage: [], otherIccid: [1] });
    expect(await db.store.cards.find('1')).toMatchObject({
      realNameVerified: true,
      lastPolledAtMs: { realname: atMs + 6 },
    });
  });

  describe('usage', () => {
    it('usage of a new SIM begins at its first reading, whatever another card has used of it', async () => {
      await setIccid(NEW);
      await polls(101, NEW);
      expect(await usageOf()).toMatchObject({ usedMb: 10, lastReadingMb: 101, suspectedMb: null });
      expect(await usageOf()).not.toHaveProperty('ofFormerIccid');
      await polls(121, NEW);
      expect(await usageOf()).toMatchObject({ usedMb: 30, lastReadingMb: 121 });
    });

    it('usage of a new SIM that shows less than the former one is no dip', async () => {
      await setIccid(NEW);
      await polls(8, NEW);
      await polls(9, NEW);
      expect(await usageOf()).toMatchObject({ usedMb: 11, lastReadingMb: 9, suspectedMb: null });
    });

    it('usage of a SIM that returns begins again: another card may have used it in between', async () => {
      await setIccid(NEW);
      await setIccid(OLD);
      expect(await usageOf()).toMatchObject({ ofFormerIccid: true });
      await polls(500, OLD);
      expect(await usageOf()).toMatchObject({ usedMb: 10, lastReadingMb: 500 });
    });

    it('usage of a new SIM at the turn of a month adds nothing to either month', async () => {
      await setIccid(NEW);
      await db.store.results.ensurePartitions('2026-12');
      await polls(101, NEW, '2026-12');
      expect(await usageOf()).toMatchObject({ month: '2026-12', usedMb: 0, lastReadingMb: 101 });
      expect(await db.store.cards.monthlyUsage(1, 2)).toMatchObject([
        { usedMb: 0 },
        { month: MONTH, usedMb: 10 },
      ]);
    });

    it('usage that a version before wrote counts for the SIM that the card has', async () => {
      expect(await db.sql('SELECT iccid FROM card_usage')).toEqual([{ iccid: OLD }]);
      await db.sql('UPDATE card_usage SET iccid = NULL');
      await polls(15, OLD);
      expect(await usageOf()).toMatchObject({ usedMb: 15 });
    });
  });
});
