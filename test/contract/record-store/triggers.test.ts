// Manual triggers: what is handed out, that every card is counted once, and when a trigger is over.
import { beforeEach, describe, expect, it } from 'vitest';
import type { CardSelection, ManualTrigger } from '../../../src/domain/manual-trigger.ts';
import type { TaskType } from '../../../src/domain/task-type.ts';
import type { RecordStore } from '../../../src/store/ports/records/record-store.ts';
import type { NewTrigger, OwedCard } from '../../../src/store/ports/records/trigger-records.ts';
import { type Context, describeRecordStore, range, type Sql } from './stores.ts';

const ANY: CardSelection = { carrierId: null, status: null };
let made = 0;

function listed(cardIds: readonly number[], kind: 'single' | 'batch' = 'batch'): NewTrigger {
  made += 1;
  return { triggerId: `t${made}`, taskType: 'realname', cards: { kind, cardIds } };
}

function selecting(selection: CardSelection, total: number, totalEstimated = false): NewTrigger {
  made += 1;
  const cards = { kind: 'by_condition', selection, total, totalEstimated } as const;
  return { triggerId: `t${made}`, taskType: 'realname', cards };
}

const owedCards = (triggerId: string, cardIds: readonly number[]): OwedCard[] =>
  cardIds.map((cardId) => ({ triggerId, cardId }));
const results = (triggerId: string, cardIds: readonly number[], succeeded = true) =>
  cardIds.map((cardId) => ({ triggerId, cardId, succeeded }));

/** Hands out everything that is left. */
async function handOutAll(store: RecordStore, triggerId: string, limit = 1_000): Promise<number[]> {
  const all: number[] = [];
  for (;;) {
    const { cardIds, more } = await store.triggers.handOut(triggerId, limit);
    all.push(...cardIds);
    if (!more) return all;
  }
}

async function found(store: RecordStore, triggerId: string): Promise<ManualTrigger> {
  return (await store.triggers.find(triggerId)) as ManualTrigger;
}

/** Cards 1 to `count`, carriers 0 to 3 and statuses 0 to 2 in turn. */
async function addCards(sql: Sql, count: number): Promise<void> {
  await sql(`INSERT INTO cards (card_id, iccid, carrier_id, status)
    SELECT id, '8986' || lpad(id::text, 16, '0'), id % 4, id % 3 FROM generate_series(1, ${count}) AS id`);
}

describeRecordStore('manual triggers', (db: Context) => {
  describe('lists of cards', () => {
    it('are handed out when they are made', async () => {
      const made = listed([5, 3, 9]);
      const { trigger, cardIds } = await db.store.triggers.create(made, 1_000);
      expect(cardIds).toEqual([5, 3, 9]);
      expect(trigger).toEqual({
        triggerId: made.triggerId,
        kind: 'batch',
        taskType: 'realname',
        status: 'queued',
        selection: null,
        total: 3,
        totalEstimated: false,
        succeeded: 0,
        failed: 0,
        createdAtMs: expect.any(Number),
        finishedAtMs: null,
      });
      expect(Math.abs(trigger.createdAtMs - Date.now())).toBeLessThan(60_000);
      expect(await found(db.store, made.triggerId)).toEqual(trigger);
      expect(await db.store.triggers.feeding(10)).toEqual([]);
    });

    it('are handed out in pieces, in their order', async () => {
      const made = listed(range(2_500).reverse());
      const { trigger, cardIds } = await db.store.triggers.create(made, 1_000);
      expect([trigger.total, cardIds]).toEqual([2_500, range(1_000, 1_501).reverse()]);
      expect(await db.store.triggers.feeding(10)).toEqual([
        { triggerId: made.triggerId, taskType: 'realname', status: 'queued' },
      ]);
      const next = await db.store.triggers.handOut(made.triggerId, 1_000);
      expect(next).toEqual({ cardIds: range(1_000, 501).reverse(), more: true });
      const last = await db.store.triggers.handOut(made.triggerId, 1_000);
      expect(last).toEqual({ cardIds: range(500).reverse(), more: false });
      expect(await db.store.triggers.handOut(made.triggerId, 1_000)).toEqual({ cardIds: [], more: false });
      expect(await db.store.triggers.feeding(10)).toEqual([]);
    });

    it('are those of each task type that got least, the oldest first, after those whose cards are to be taken back', async () => {
      const large = async (taskType: TaskType) => {
        const { trigger } = await db.store.triggers.create({ ...listed(range(3_000)), taskType }, 1_000);
        return trigger.triggerId;
      };
      const [first, second, third, fourth] = [
        await large('realname'),
        await large('realname'),
        await large('realname'),
        await large('realname'),
      ];
      const other = await large('package');
      const due = async () => (await db.store.triggers.feeding(2)).map(({ triggerId }) => triggerId);
      expect(await due()).toEqual([first, second, other]);
      await db.store.triggers.cancel(fourth);
      expect(await due()).toEqual([fourth, first, second, other]);
      await db.store.triggers.handOut(first, 1_000);
      expect(await due()).toEqual([fourth, second, third, other]);
      await db.store.triggers.handOut(second, 999);
      await db.store.triggers.handOut(third, 1_000);
      await db.store.triggers.takeBack(fourth, []);
      expect(await due()).toEqual([other, second, first]);
    });

    it('are completed at once when they are empty', async () => {
      const { trigger, cardIds } = await db.store.triggers.create(listed([]), 1_000);
      expect(cardIds).toEqual([]);
      expect(trigger).toMatchObject({ status: 'completed', total: 0, finishedAtMs: expect.any(Number) });
    });

    it('know which cards exist', async () => {
      await addCards(db.sql, 3);
      expect(await db.store.triggers.knownCards([4, 3, 1, 9_007_199_254_740_991])).toHaveLength(2);
      expect(await db.store.triggers.knownCards([])).toEqual([]);
    });
  });

  describe('selections', () => {
    beforeEach(() => addCards(db.sql, 12_000));

    it.each([
      [ANY, 12_000],
      [{ carrierId: 1, status: null }, 3_000],
      [{ carrierId: null, status: 2 }, 4_000],
      [{ carrierId: 1, status: 2 }, 1_000],
      [{ carrierId: 99, status: null }, 0],
    ])('%j match %d cards and hand out exactly those', async (selection, count) => {
      expect(await db.store.triggers.countSelected(selection)).toEqual({ rows: count, estimated: false });
      const made = selecting(selection, count);
      const { trigger, cardIds } = await db.store.triggers.create(made, 0);
      expect(cardIds).toEqual([]);
      expect(trigger).toMatchObject({ kind: 'by_condition', selection, total: count, status: 'queued' });
      const { carrierId, status } = selection;
      const matching = range(12_000).filter(
        (id) => (carrierId === null || id % 4 === carrierId) && (status === null || id % 3 === status),
      );
      expect(await handOutAll(db.store, made.triggerId, 700)).toEqual(matching);
      await db.store.triggers.count(results(made.triggerId, matching));
      expect(await found(db.store, made.triggerId)).toMatchObject({ status: 'completed', succeeded: count });
    });

    it('give every card to one caller only', async () => {
      const made = selecting(ANY, 12_000);
      await db.store.triggers.create(made, 0);
      const stores = [db.store, await db.another(), await db.another()];
      const handed = await Promise.all(stores.map((store) => handOutAll(store, made.triggerId, 500)));
      expect(handed.flat().sort((a, b) => a - b)).toEqual(range(12_000));
    });

    it('count cards that went before their turn as failed', async () => {
      const made = selecting(ANY, 12_000);
      await db.store.triggers.create(made, 0);
      const first = await db.store.triggers.handOut(made.triggerId, 1_000);
      await db.sql('DELETE FROM cards WHERE card_id > 11990');
      const rest = await handOutAll(db.store, made.triggerId, 5_000);
      await db.store.triggers.count(results(made.triggerId, [...first.cardIds, ...rest]));
      expect(await found(db.store, made.triggerId)).toMatchObject({
        status: 'completed',
        total: 12_000,
        succeeded: 11_990,
        failed: 10,
      });
    });

    it.each([
      [5, 'grows to what was found'],
      [50_000, 'shrinks to what was found'],
    ])('an estimate of %d %s', async (estimate) => {
      const made = selecting(ANY, estimate, true);
      await db.store.triggers.create(made, 0);
      await db.store.triggers.handOut(made.triggerId, 1_000);
      expect(await found(db.store, made.triggerId)).toMatchObject({
        totalEstimated: true,
        total: Math.max(estimate, 1_000),
      });
      await handOutAll(db.store, made.triggerId, 5_000);
      expect(await found(db.store, made.triggerId)).toMatchObject({
        totalEstimated: false,
        total: 12_000,
        failed: 0,
        status: 'queued',
      });
    });

    it('are not completed while they are still fed, also when all known cards have their results', async () => {
      const { triggerId } = (await db.store.triggers.create(selecting(ANY, 5, true), 0)).trigger;
      const { cardIds } = await db.store.triggers.handOut(triggerId, 1_000);
      await db.store.triggers.count(results(triggerId, cardIds));
      const fed = await found(db.store, triggerId);
      expect(fed).toMatchObject({ status: 'running', total: 1_000, succeeded: 1_000, finishedAtMs: null });
      expect(await handOutAll(db.store, triggerId, 5_000)).toHaveLength(11_000);
      expect(await found(db.store, triggerId)).toMatchObject({ status: 'running', total: 12_000 });
    });

    it('are not completed by a hand-out that found no card yet', async () => {
      const none = selecting({ carrierId: 99, status: null }, 0, true);
      await db.store.triggers.create(none, 0);
      expect(await db.store.triggers.handOut(none.triggerId, 1_000)).toEqual({ cardIds: [], more: true });
      expect(await found(db.store, none.triggerId)).toMatchObject({ status: 'queued', finishedAtMs: null });
      expect(await db.store.triggers.handOut(none.triggerId, 1_000)).toEqual({ cardIds: [], more: false });
      expect(await found(db.store, none.triggerId)).toMatchObject({ status: 'completed' });
    });

    it('are completed by the hand-out that finds no more when all results are in already', async () => {
      const made = selecting({ carrierId: 1, status: null }, 3_000);
      await db.store.triggers.create(made, 0);
      let more = true;
      while (more) {
        const next = await db.store.triggers.handOut(made.triggerId, 3_000);
        await db.store.triggers.count(results(made.triggerId, next.cardIds));
        more = next.more;
      }
      expect(await found(db.store, made.triggerId)).toMatchObject({ status: 'completed', succeeded: 3_000 });
    });
  });

  describe('results', () => {
    it('are counted once, however often they come', async () => {
      const { trigger } = await db.store.triggers.create(listed(range(10)), 1_000);
      const { triggerId } = trigger;
      await db.store.triggers.count([...results(triggerId, [1, 2]), ...results(triggerId, [3], false)]);
      await db.store.triggers.count([...results(triggerId, [1, 1, 2], false), ...results(triggerId, [3])]);
      await db.store.triggers.count([...results(triggerId, [77]), ...results('unknown', [1])]);
      expect(await found(db.store, triggerId)).toMatchObject({ status: 'running', succeeded: 2, failed: 1 });
      await db.store.triggers.count([...results(triggerId, [4, 4, 5, 6, 7, 8, 9])]);
      expect(await found(db.store, triggerId)).toMatchObject({ status: 'running', finishedAtMs: null });
      await db.store.triggers.count(results(triggerId, [10]));
      const done = await found(db.store, triggerId);
      expect(done).toMatchObject({ status: 'completed', succeeded: 9, failed: 1 });
      expect(done.finishedAtMs).toBeGreaterThanOrEqual(done.createdAtMs);
      await db.store.triggers.count(results(triggerId, range(10)));
      expect(await found(db.store, triggerId)).toEqual(done);
      expect(await db.sql('SELECT * FROM manual_trigger_cards')).toEqual([]);
    });

    it('add up when many writers count for the same triggers while cards are handed out', async () => {
      const cardIds = range(6_000);
      const triggers = [listed(cardIds), listed(cardIds)];
      for (const one of triggers) await db.store.triggers.create(one, 3_000);
      const stores = await Promise.all(range(4).map(() => db.another()));
      const count = async (store: RecordStore, n: number, ids: readonly number[]) => {
        for (let from = 0; from < ids.length; from += 100) {
          // Each writer knows both triggers, in its own order, and two writers have every card.
          const order = n % 2 === 0 ? triggers : [...triggers].reverse();
          await store.triggers.count(
            order.flatMap(({ triggerId }) => results(triggerId, ids.slice(from, from + 100), n < 2)),
          );
        }
      };
      const first = Promise.all(stores.map((store, n) => count(store, n, cardIds.slice(0, 3_000))));
      await Promise.all([first, ...triggers.map(({ triggerId }) => handOutAll(db.store, triggerId, 700))]);
      await Promise.all(stores.map((store, n) => count(store, n, cardIds.slice(3_000))));
      for (const { triggerId } of triggers) {
        const done = await found(db.store, triggerId);
        expect(done.succeeded + done.failed).toBe(6_000);
        expect(done.status).toBe('completed');
      }
    });
  });

  describe('cancelling', () => {
    it('ends the handing out, lets running cards be counted and takes the others back', async () => {
      const { trigger } = await db.store.triggers.create(listed(range(2_000)), 1_000);
      const { triggerId } = trigger;
      await db.store.triggers.count(results(triggerId, [1, 2]));
      const cancelled = await db.store.triggers.cancel(triggerId);
      expect(cancelled).toMatchObject({
        status: 'cancelled',
        succeeded: 2,
        finishedAtMs: expect.any(Number),
      });
      expect(await db.store.triggers.handOut(triggerId, 1_000)).toEqual({ cardIds: [], more: false });
      expect(await db.store.triggers.feeding(10)).toEqual([
        { triggerId, taskType: 'realname', status: 'cancelled' },
      ]);
      expect(await db.store.triggers.owed('realname', -1_000, null, 10)).toEqual([]);
      await db.store.triggers.takeBack(triggerId, [3, 4]);
      await db.store.triggers.count([...results(triggerId, [3], false), ...results(triggerId, [5])]);
      expect(await found(db.store, triggerId)).toEqual({ ...cancelled, failed: 1 });
      expect(await db.store.triggers.feeding(10)).toHaveLength(1);
      await db.store.triggers.takeBack(triggerId, []);
      expect(await db.store.triggers.feeding(10)).toEqual([]);
      expect(await db.sql('SELECT * FROM manual_trigger_cards')).toEqual([]);
    });

    it('cancelling all ends the unfinished triggers of a task type or of all, and leaves a new one its turn', async () => {
      const create = async (cards: readonly number[], taskType: TaskType) =>
        (await db.store.triggers.create({ ...listed(cards), taskType }, 1)).trigger.triggerId;
      const [one, two, other] = [
        await create(range(3), 'realname'),
        await create(range(5), 'realname'),
        await create(range(2), 'package'),
      ];
      await create([], 'realname');
      await db.store.triggers.count(results(two, [1]));
      expect(await db.store.triggers.openTotals('realname')).toEqual({ triggers: 2, cards: 7 });
      expect(await db.store.triggers.openTotals(null)).toEqual({ triggers: 3, cards: 9 });
      const cancelled = await db.store.triggers.cancelAll('realname');
      expect([...cancelled].sort((a, b) => a.cards - b.cards)).toEqual([
        { triggerId: one, taskType: 'realname', cards: 3 },
        { triggerId: two, taskType: 'realname', cards: 4 },
      ]);
      expect(await found(db.store, two)).toMatchObject({ status: 'cancelled', succeeded: 1 });
      expect(await db.store.triggers.openTotals(null)).toEqual({ triggers: 1, cards: 2 });
      const fresh = await create(range(3), 'realname');
      const due = (await db.store.triggers.feeding(1)).map(({ triggerId }) => triggerId);
      expect(new Set(due)).toEqual(new Set([expect.toBeOneOf([one, two]), other, fresh]));
      expect(await db.store.triggers.cancelAll(null)).toHaveLength(2);
      expect(await db.store.triggers.cancelAll(null)).toEqual([]);
    });

    it('counts the open selections of a task type', async () => {
      await db.store.triggers.create(selecting(ANY, 3), 0);
      await db.store.triggers.create({ ...selecting(ANY, 3), taskType: 'package' }, 0);
      await db.store.triggers.create(listed([1]), 1);
      expect(await db.store.triggers.countOpenConditions('realname')).toBe(1);
      await db.store.triggers.cancelAll('realname');
      expect(await db.store.triggers.countOpenConditions('realname')).toBe(0);
    });

    it('is for unfinished triggers', async () => {
      const { trigger } = await db.store.triggers.create(listed([1]), 1_000);
      await db.store.triggers.count(results(trigger.triggerId, [1]));
      expect(await db.store.triggers.cancel(trigger.triggerId)).toBeNull();
      expect(await db.store.triggers.cancel('unknown')).toBeNull();
      const other = (await db.store.triggers.create(listed([1]), 1_000)).trigger.triggerId;
      expect(await db.store.triggers.cancel(other)).not.toBeNull();
      expect(await db.store.triggers.cancel(other)).toBeNull();
    });
  });

  describe('owed cards', () => {
    it('are those of unfinished triggers of the type, page by page, until they are counted', async () => {
      const one = (await db.store.triggers.create(listed(range(5)), 1_000)).trigger.triggerId;
      const two = (await db.store.triggers.create(listed(range(3)), 1_000)).trigger.triggerId;
      const all = [...owedCards(one, range(5)), ...owedCards(two, range(3))].sort((a, b) =>
        `${a.triggerId} ${a.cardId}` < `${b.triggerId} ${b.cardId}` ? -1 : 1,
      );
      const page = await db.store.triggers.owed('realname', -1_000, null, 6);
      expect(page).toEqual(all.slice(0, 6));
      expect(await db.store.triggers.owed('realname', -1_000, page[5] as OwedCard, 6)).toEqual(all.slice(6));
      expect(await db.store.triggers.owed('package', -1_000, null, 10)).toEqual([]);
      await db.store.triggers.count(results(one, range(4)));
      expect(await db.store.triggers.owed('realname', -1_000, null, 10)).toEqual(
        [...owedCards(one, [5]), ...owedCards(two, range(3))].sort((a, b) =>
          a.triggerId < b.triggerId ? -1 : 1,
        ),
      );
    });

    it('are owed again after their wait when they may not be polled yet', async () => {
      const made = listed([1, 2, 3]);
      await db.store.triggers.create(made, 10);
      const early = (cardId: number, waitMs: number) => ({ triggerId: made.triggerId, cardId, waitMs });
      await db.store.triggers.defer([early(1, 600_000), early(2, 0), early(99, 0)]);
      const owed = await db.store.triggers.owed('realname', -300_000, null, 10);
      expect(owed).toEqual(owedCards(made.triggerId, [2, 3]));
      expect(await db.store.triggers.owed('realname', -700_000, null, 10)).toHaveLength(3);
      expect(await found(db.store, made.triggerId)).toMatchObject({ status: 'queued', failed: 0 });
      await db.store.triggers.cancel(made.triggerId);
      await db.store.triggers.takeBack(made.triggerId, []);
      await db.store.triggers.defer([early(1, 0)]);
      expect(await db.store.triggers.owed('realname', -700_000, null, 10)).toEqual([]);
    });

    it('owed cards that may not be polled yet are counted up to a number, with the time of the last', async () => {
      const make = async (cardIds: number[]) =>
        (await db.store.triggers.create(listed(cardIds), 10)).trigger.triggerId;
      const [one, two, none] = [await make([1, 2, 3, 4]), await make([2]), await make([1])];
      const early = (triggerId: string, cardId: number, waitMs: number) => ({ triggerId, cardId, waitMs });
      const fromMs = Date.now();
      await db.store.triggers.defer([
        early(one, 1, 600_000),
        early(one, 2, 900_000),
        early(one, 3, 0),
        early(one, 4, 300_000),
        early(two, 2, 60_000),
      ]);
      const found = await db.store.triggers.early([one, two, none, 'unknown'], 2);
      expect(found.map(({ triggerId, cards }) => [triggerId, cards])).toEqual([
        [one, 2],
        [two, 1],
      ]);
      const waits = found.map(({ untilAtMs }) => untilAtMs - fromMs);
      for (const [i, waitMs] of [900_000, 60_000].entries()) {
        expect(Math.abs((waits[i] ?? 0) - waitMs), 'the clocks of test and database').toBeLessThan(20_000);
      }

      const waiting = (cardIds: number[]) => db.store.triggers.earlyOf('realname', cardIds);
      expect(await waiting([1, 3, 99])).toEqual(expect.arrayContaining(owedCards(one, [1, 3])));
      expect(await waiting([2])).toHaveLength(2);
      expect(await db.store.triggers.earlyOf('package', [1, 2])).toEqual([]);
      await db.store.triggers.count(results(one, [2]));
      await db.store.triggers.cancel(two);
      expect(await waiting([2])).toEqual([]);
    });

    it('are handed out again only if they are still owed, and then count as new', async () => {
      const { triggerId } = (await db.store.triggers.create(listed(range(3)), 1_000)).trigger;
      await db.sql(`UPDATE manual_trigger_cards SET handed_out_at = handed_out_at - interval '1 hour'`);
      await db.store.triggers.count(results(triggerId, [2]));
      const owed = await db.store.triggers.owed('realname', 600_000, null, 10);
      expect(owed).toEqual(owedCards(triggerId, [1, 3]));
      const again = await db.store.triggers.handOutAgain(owedCards(triggerId, [1, 2, 3]));
      expect([...again].sort((a, b) => a.cardId - b.cardId)).toEqual(owed);
      expect(await db.store.triggers.owed('realname', 600_000, null, 10)).toEqual([]);
    });
  });

  it('lists triggers newest first, page by page', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      ids.unshift((await db.store.triggers.create(listed([n + 1], 'single'), 1)).trigger.triggerId);
    }
    const page = async (n: number) => {
      const { items, total } = await db.store.triggers.list({ offset: 2 * (n - 1), limit: 2 });
      return [items.map((item) => item.triggerId), total];
    };
    expect(await page(1)).toEqual([ids.slice(0, 2), 5]);
    expect(await page(3)).toEqual([ids.slice(4), 5]);
    expect(await page(4)).toEqual([[], 5]);
    expect(await db.store.triggers.find('unknown')).toBeNull();
  });
});
