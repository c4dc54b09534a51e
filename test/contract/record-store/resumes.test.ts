// Runs that resume cards: which cards they have, and one call a card whatever happens.
import { beforeEach, describe, expect, it } from 'vitest';
import type { ResumeSelection } from '../../../src/store/ports/records/resume-records.ts';
import { emptyRun, fill, filledRun, RUN_BY, RUN_REASON, simOf } from '../../support/resume-run.ts';
import { UNLIMITED } from '../../support/stop-rules.ts';
import { addCards, describeRecordStore, reading, takenOrders, wantedStops } from './stores.ts';

const LEASE_MS = 3_600_000;
const MONTH = '2026-11';
const T = 1_795_251_272_123;

describeRecordStore('resumes', (db) => {
  const create = (selection: ResumeSelection, stopAgain = false) => filledRun(db.store, selection, stopAgain);
  const claim = (cardId: number, isStopped = true) =>
    db.store.resumes.claim(simOf(cardId), isStopped, LEASE_MS);
  const complete = (cardId: number, runId: string) => db.store.resumes.complete(simOf(cardId), runId, MONTH);
  const leaseEnds = () =>
    db.sql('UPDATE card_resumes SET claimed_until = clock_timestamp() WHERE claimed_until IS NOT NULL');
  const stateOf = async (cardId: number) =>
    (await db.store.stops.ofCard(cardId, 1)).map(({ state }) => state)[0];

  /** Cards 1 to 3 were stopped by cardpoll in November; card 4 runs. */
  beforeEach(async () => {
    await addCards(db.store, 1, 2, 3, 4);
    await db.store.results.write(
      [1, 2, 3].map((cardId) => reading(cardId, { month: MONTH, usedMb: 2_000, atMs: T, basedOn: null })),
    );
    for (const cardId of [1, 2, 3]) {
      await db.store.stops.claim(simOf(cardId), MONTH, LEASE_MS, UNLIMITED);
      await db.store.stops.complete(simOf(cardId), MONTH);
    }
  });

  it('has the cards that cardpoll stopped since a time and that are stopped now', async () => {
    await db.sql('UPDATE cards SET stopped = false WHERE card_id = 3');
    await db.sql("UPDATE card_stops SET completed_at = completed_at - interval '1 hour' WHERE card_id = 2");
    const lastMinutes = { sinceMs: Date.now() - 600_000, carrierId: null };
    expect(await db.store.resumes.preview(lastMinutes)).toEqual({ total: 1, skipped: 0 });
    expect(await db.store.resumes.preview({ ...lastMinutes, carrierId: 77 })).toMatchObject({ total: 0 });
    expect(await create(lastMinutes)).toMatchObject({
      total: 1,
      waiting: 1,
      by: 'alice',
      reason: RUN_REASON,
    });
    const further = await create({ sinceMs: 0, carrierId: 1 });
    expect(further, 'card 1 waits already').toMatchObject({ total: 1 });
    expect((await db.store.resumes.latest(10)).map(({ id }) => id)).toContain(further.id);
    expect(await create({ sinceMs: 0, carrierId: null })).toMatchObject({
      total: 0,
      waiting: 0,
      finishedAtMs: expect.any(Number),
    });
  });

  it('leaves out of a condition what an operator stopped, not what an operator released', async () => {
    await db.sql("UPDATE card_stops SET authority = 'operator' WHERE card_id = 1");
    await db.sql("UPDATE card_stops SET authority = 'released' WHERE card_id = 2");
    const { id } = await create({ sinceMs: 0, carrierId: null });
    const cards = await db.sql('SELECT card_id FROM card_resumes WHERE run_id = $1 ORDER BY 1', [id]);
    expect(cards.map((row) => Number(row.card_id))).toEqual([2, 3]);
    expect(await create({ cardIds: [1] }), 'a list has it').toMatchObject({ total: 1 });
  });

  it('takes known cards of a list, once each', async () => {
    const selection = { cardIds: [1, 1, 4, 99] };
    expect(await db.store.resumes.preview(selection)).toEqual({ total: 2, skipped: 1 });
    expect(await create(selection)).toMatchObject({ total: 2, skipped: 1 });
    expect(await db.store.resumes.find('1')).toBeNull();
    expect(await db.store.resumes.find('00000000-0000-4000-8000-000000000000')).toBeNull();
  });

  it('grants one of many racing callers, and records what the gateway shows', async () => {
    const { id } = await create({ cardIds: [1, 4] });
    const claims = await Promise.all([1, 1, 1, 1].map((id) => claim(id)));
    expect(claims.map(({ state }) => state).sort()).toEqual(['claimed', 'claimed', 'claimed', 'granted']);
    expect(claims).toEqual(claims.map(() => expect.objectContaining({ runId: id })));
    expect(await claim(2)).toEqual({ state: 'none' });
    const entry = await complete(1, id);
    expect(entry).toMatchObject({
      ...RUN_BY,
      action: 'card.resume',
      object: 'card 1',
      before: { stopped: true },
      after: { stopped: false, run_id: id, reason: RUN_REASON, outcome: 'resumed', used_mb: 2_000 },
    });
    expect(await complete(1, id), 'once').toBeNull();
    expect(await stateOf(1)).toBe('resumed');
    expect((await db.store.cards.byIds([1]))[0]).toMatchObject({ stopped: false });
    expect(await db.store.stops.claim(simOf(1), MONTH, LEASE_MS, UNLIMITED)).toEqual({ state: 'done' });
    expect((await db.store.stopControl.read()).resumedDay).toBe(1);

    expect(await claim(4, false)).toEqual({ state: 'running', runId: id });
    expect(await complete(4, id)).toMatchObject({
      before: { stopped: false },
      after: { stopped: false, outcome: 'already_running' },
    });
    expect(await db.store.resumes.find(id)).toMatchObject({
      resumed: 1,
      alreadyRunning: 1,
      waiting: 0,
      finishedAtMs: expect.any(Number),
    });
  });

  it('a call whose answer was lost counts as its effect', async () => {
    const { id } = await create({ cardIds: [1] });
    expect(await claim(1)).toEqual({ state: 'granted', runId: id, attempt: 1 });
    await leaseEnds();
    expect(await claim(1)).toEqual({ state: 'unresolved', runId: id, attempt: 2 });
    expect(await db.store.resumes.abandon(1, id, 1, 'late', true), 'a former holder').toBe(false);
    expect(await claim(1)).toEqual({ state: 'claimed', runId: id });
    expect(await db.store.resumes.acknowledge(1, id, 1), 'a former holder').toBe(false);
    expect(await claim(1)).toEqual({ state: 'claimed', runId: id });
    await complete(1, id);
    expect(await db.store.resumes.find(id)).toMatchObject({ resumed: 1 });
  });

  it('is not called again while the vendor works on it, and fails after five calls without effect', async () => {
    const { id } = await create({ cardIds: [1] });
    const timeIsOver = () => db.sql('UPDATE card_resumes SET pending_until = now(), claimed_until = now()');
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      expect(await claim(1)).toMatchObject({ runId: id, attempt });
      expect(await db.store.resumes.acknowledge(1, id, attempt, 600_000)).toBe(false);
      expect(await claim(1)).toEqual({ state: 'pending', runId: id });
      await timeIsOver();
    }
    expect(await claim(1)).toEqual({ state: 'failed', runId: id });
    expect(await db.store.resumes.find(id)).toMatchObject({ failed: 1, waiting: 0 });
  });

  it('gives a card up that is refused three times, or acknowledged five times without effect', async () => {
    const { id } = await create({ cardIds: [1, 2] });
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await claim(1);
      const failed = await db.store.resumes.abandon(1, id, attempt, 'no such card', true);
      expect(failed).toBe(attempt === 3);
    }
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      await claim(2);
      const failed = await db.store.resumes.acknowledge(2, id, attempt);
      expect(failed).toBe(attempt === 5);
      if (attempt < 5) expect(await claim(2)).toMatchObject({ state: 'unconfirmed', runId: id });
      await leaseEnds();
    }
    expect(await db.store.resumes.find(id)).toMatchObject({
      failed: 2,
      waiting: 0,
      lastError: expect.any(String),
    });
    expect(await stateOf(1)).toBe('done');
  });

  it('cancels the cards that wait, and records a call that was being made', async () => {
    const { id } = await create({ cardIds: [1, 2] });
    await claim(1);
    expect(await db.store.resumes.cancel(id)).toMatchObject({
      cancelled: 2,
      waiting: 0,
      cancelledAtMs: expect.any(Number),
    });
    expect(await claim(2)).toEqual({ state: 'none' });
    expect(await complete(2, id)).toBeNull();
    expect(await complete(1, id)).not.toBeNull();
    expect(await db.store.resumes.find(id)).toMatchObject({ cancelled: 1, resumed: 1 });
    expect(await db.store.resumes.cancel('no such id')).toBeNull();
  });

  it.each([
    ['was cancelled', (id: string) => db.store.resumes.cancel(id)],
    ['lost the card to an order', () => db.store.stops.order(1, MONTH, { by: 'bob', reason: 'fraud' })],
  ])('waits for a call of an earlier run that %s', async (_, end) => {
    const earlier = await create({ cardIds: [1] });
    await claim(1);
    await end(earlier.id);
    const { id } = await create({ cardIds: [1] });
    expect(await claim(1)).toEqual({ state: 'claimed', runId: id });
    await complete(1, earlier.id);
    expect(await claim(1)).toEqual({ state: 'granted', runId: id, attempt: 1 });
  });

  it('waits for a call of an earlier run no longer than its lease, and not for one without effect', async () => {
    const earlier = await create({ cardIds: [1, 2] });
    await claim(1);
    await claim(2);
    await db.store.resumes.acknowledge(2, earlier.id, 1);
    await db.store.resumes.cancel(earlier.id);
    await create({ cardIds: [1, 2] });
    expect([await claim(1), await claim(2)]).toMatchObject([{ state: 'claimed' }, { state: 'granted' }]);
    await leaseEnds();
    expect(await claim(1)).toMatchObject({ state: 'granted' });
  });

  it('hands a card out once in a lease, and ends a card that was removed', async () => {
    const { id } = await create({ cardIds: [1, 2] });
    await db.sql('DELETE FROM cards WHERE card_id = 2');
    expect(await db.store.resumes.find(id)).toMatchObject({ failed: 1, waiting: 1 });
    expect(await takenOrders(db.store, 'resume')).toEqual([1]);
    expect(await takenOrders(db.store, 'resume')).toEqual([]);
    await db.sql("UPDATE card_resumes SET due_at = due_at - interval '61 seconds'");
    expect(await takenOrders(db.store, 'resume')).toHaveLength(1);
  });

  it('makes one run for a month, spread, of what cardpoll stopped by itself', async () => {
    await db.sql("UPDATE card_stops SET authority = 'operator' WHERE card_id = 3");
    const selection = { beginning: '2026-12' };
    expect(await db.store.resumes.hasRunFor(selection)).toBe(false);
    const { total } = await db.store.resumes.preview(selection);
    const made = await db.store.resumes.createForMonth(selection, total, LEASE_MS);
    expect(made).toMatchObject({ total: 2, waiting: 2, by: 'daemon' });
    expect(await db.store.resumes.createForMonth(selection, total, LEASE_MS)).toBeNull();
    expect(await db.store.resumes.hasRunFor(selection)).toBe(true);
    expect(await fill(db.store, String(made?.id)), 'one in the first half').toMatchObject({
      total: 2,
      waiting: 2,
    });
    const placed = async () => (await db.sql('SELECT card_id FROM card_resumes ORDER BY 1')).length;
    expect(await placed()).toBe(1);
    await db.sql("UPDATE card_stops SET requested_at = requested_at - interval '1 day'");
    await db.sql("UPDATE resume_runs SET created_at = created_at - interval '31 minutes'");
    await fill(db.store, String(made?.id));
    expect(await placed()).toBe(2);
    await complete(1, String(made?.id));
    await complete(2, String(made?.id));
    expect(await db.store.resumes.find(String(made?.id)), 'more may come').toMatchObject({
      finishedAtMs: null,
    });
    await db.sql("UPDATE resume_runs SET created_at = created_at - interval '1 hour'");
    expect(await fill(db.store, String(made?.id))).toMatchObject({
      total: 2,
      alreadyRunning: 2,
      finishedAtMs: expect.any(Number),
    });
  });

  it.each([
    ['since a time', { sinceMs: 0, carrierId: null }],
    ['of a month', { beginning: '2026-12' }],
  ])('has the cards whose stop was called and is not confirmed: %s', async (_, selection) => {
    await addCards(db.store, 5);
    await db.sql(
      `INSERT INTO card_stops (card_id, month, iccid, used_mb) VALUES (5, '2026-11-01', '${simOf(5).iccid}', 2)`,
    );
    await db.sql("UPDATE card_stops SET state = 'requested', completed_at = NULL, claimed_until = NULL");
    await db.sql('UPDATE cards SET stopped = false');
    await db.sql('UPDATE card_stops SET claimed_until = clock_timestamp() WHERE card_id = 1');
    await db.sql('UPDATE card_stops SET unresolved = true WHERE card_id = 2');
    await db.sql(
      "UPDATE card_stops SET claimed_until = clock_timestamp(), authority = 'operator' WHERE card_id = 3",
    );
    expect(await db.store.resumes.preview(selection)).toMatchObject({ total: 2 });
    const made =
      'beginning' in selection
        ? await db.store.resumes.createForMonth(selection, 2, 0)
        : await create(selection);
    expect(await fill(db.store, String(made?.id))).toMatchObject({ total: 2 });
    expect([await claim(1), await claim(2), await claim(5)]).toMatchObject([
      { state: 'granted' },
      { state: 'granted' },
      { state: 'none' },
    ]);
  });

  describe('a run of more cards than one step takes', () => {
    const CARDS = 10_300;
    const ALL = { sinceMs: 0, carrierId: null };
    const waiting = async () =>
      Number(
        (await db.sql("SELECT count(*) AS n FROM card_resumes WHERE state = 'waiting'")).map(({ n }) => n)[0],
      );

    /** Cards 1 to 10,300 were stopped, in the same instant more of them than a step takes. */
    beforeEach(async () => {
      await db.sql('DELETE FROM cards');
      await db.sql('DELETE FROM card_stops');
      await db.sql(
        `INSERT INTO cards (card_id, iccid, carrier_id, status, stopped)
         SELECT i, '8986' || lpad(i::text, 16, '0'), 1, 1, true FROM generate_series(1, $1::integer) i`,
        [CARDS],
      );
      await db.sql(
        `INSERT INTO card_stops (card_id, month, iccid, used_mb, state, completed_at)
         SELECT i, '2026-11-01', '8986' || lpad(i::text, 16, '0'), 2, 'done', now() - (i % 50 = 0)::integer * interval '1 hour'
         FROM generate_series(1, $1::integer) i`,
        [CARDS],
      );
    });

    const ended = (id: string, cards: number) =>
      db.sql(
        `UPDATE card_resumes SET state = 'resumed', ended_at = now() WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM card_resumes WHERE run_id = $1 AND state = 'waiting' LIMIT $2::integer))`,
        [id, cards],
      );

    it('hands out 2,000 that wait at most, each once, and says how far it is', async () => {
      const { id } = await emptyRun(db.store, ALL);
      const another = await db.another();
      await Promise.all([fill(db.store, id), fill(another, id)]);
      expect(await waiting()).toBe(2_000);
      expect(await db.store.resumes.open()).toEqual([id]);
      await ended(id, 1_500);
      const underWay = { total: CARDS, resumed: 1_500, waiting: CARDS - 1_500, finishedAtMs: null };
      expect(await db.store.resumes.find(id), 'before they are counted').toMatchObject(underWay);
      expect(await fill(db.store, id)).toMatchObject(underWay);
      expect(await waiting()).toBe(2_000);
      for (let step = 0; step < 7; step += 1) {
        await ended(id, 2_000);
        await fill(db.store, id);
      }
      expect(await db.store.resumes.find(id)).toMatchObject({
        total: CARDS,
        resumed: CARDS,
        waiting: 0,
        finishedAtMs: expect.any(Number),
      });
      expect(await db.sql('SELECT card_id FROM card_resumes')).toHaveLength(CARDS);
      expect(await db.store.resumes.open()).toEqual([]);
      expect(await db.store.resumes.handOut(id)).toBe(false);
    });

    it('passes over stops of other cards to find its own', async () => {
      await db.sql('UPDATE cards SET stopped = card_id % 5000 = 0');
      const run = await filledRun(db.store, ALL);
      expect(run).toMatchObject({ total: 2, waiting: 2, skipped: 0 });
      expect(await waiting()).toBe(2);
    });

    it('takes a list, in its order', async () => {
      const cardIds = Array.from({ length: CARDS }, (_, i) => i + 2);
      const { id, total } = await create({ cardIds });
      expect([total, await waiting()]).toEqual([CARDS - 1, 2_000]);
      expect(await db.sql('SELECT max(card_id)::integer AS last FROM card_resumes')).toEqual([
        { last: 2_001 },
      ]);
      for (let step = 0; step < 7; step += 1) {
        await ended(id, 2_000);
        await fill(db.store, id);
      }
      expect(await db.store.resumes.find(id)).toMatchObject({
        resumed: CARDS - 1,
        total: CARDS - 1,
        skipped: 1,
      });
    });

    it('is cancelled at once, also those that it has not handed out, and its cards are free for the next', async () => {
      const { id } = await filledRun(db.store, ALL);
      const [{ card_id }] = (await db.sql('SELECT card_id FROM card_resumes ORDER BY card_id')) as [
        { card_id: string },
      ];
      const called = Number(card_id);
      await claim(called);
      const cancelled = { total: CARDS, cancelled: CARDS, waiting: 0, finishedAtMs: expect.any(Number) };
      expect(await db.store.resumes.cancel(id)).toMatchObject(cancelled);
      expect([await waiting(), await claim(called + 2)]).toEqual([0, { state: 'none' }]);
      const next = await filledRun(db.store, ALL);
      expect(next).toMatchObject({ total: CARDS, waiting: CARDS });
      expect(await fill(db.store, id)).toMatchObject(cancelled);
      expect(await complete(called, id), 'its call was being made').not.toBeNull();
      expect(await fill(db.store, id)).toMatchObject({ cancelled: CARDS - 1, resumed: 1 });
      expect(await db.store.resumes.open()).toEqual([next.id]);
    });

    it('leaves to the latest order what was decided after it', async () => {
      const { id } = await filledRun(db.store, ALL);
      // Stopped anew, by a decision that is later than the run.
      await db.sql(
        'UPDATE card_stops SET requested_at = clock_timestamp(), completed_at = clock_timestamp() WHERE card_id > 4000',
      );
      for (let step = 0; step < 7; step += 1) {
        await ended(id, 2_000);
        await fill(db.store, id);
      }
      const run = await db.store.resumes.find(id);
      expect(run).toMatchObject({ waiting: 0, finishedAtMs: expect.any(Number) });
      expect(run?.total).toBeLessThanOrEqual(4_000 + 2_000);
      expect(run?.skipped).toBe(CARDS - Number(run?.total));
    });

    it('has a stop that is confirmed while it is under way', async () => {
      await db.sql(
        "UPDATE card_stops SET state = 'requested', claimed_until = now(), completed_at = NULL, requested_at = now() - interval '1 day'",
      );
      const { id } = await filledRun(db.store, ALL);
      await db.sql("UPDATE card_stops SET state = 'done', completed_at = clock_timestamp()");
      for (let step = 0; step < 14; step += 1) {
        await ended(id, 2_000);
        await fill(db.store, id);
      }
      expect(await db.store.resumes.find(id)).toMatchObject({ total: CARDS, resumed: CARDS });
    });
  });

  it('has a card with stops of two months once', async () => {
    await db.sql(
      `INSERT INTO card_stops (card_id, month, iccid, used_mb, state) VALUES (1, '2026-10-01', '${simOf(1).iccid}', 2, 'done')`,
    );
    expect(await create({ sinceMs: 0, carrierId: null })).toMatchObject({ total: 3, waiting: 3 });
  });

  describe('a card that was resumed', () => {
    /** Resumes card 1, and reads its usage again if `usedMb` is given. */
    async function resume(stopAgain: boolean, usedMb?: number): Promise<void> {
      const { id } = await create({ cardIds: [1] }, stopAgain);
      await claim(1);
      const after = (await complete(1, id))?.after;
      expect(after).toEqual(expect.objectContaining(stopAgain ? { stop_again: true } : { stopped: false }));
      if (usedMb === undefined) return;
      const atMs = Date.now() + 1_000;
      await db.store.results.write([reading(1, { month: MONTH, usedMb, atMs, basedOn: T })]);
    }
    const claimStop = (rules = UNLIMITED) => db.store.stops.claim(simOf(1), MONTH, LEASE_MS, rules);
    const counted = async () => (await db.store.stopControl.read()).doneHour;

    it('is spared for the month, whatever is read later', async () => {
      await resume(false, 3_000);
      expect(await wantedStops(db.store, [1], MONTH)).toEqual([]);
      expect(await claimStop()).toEqual({ state: 'done' });
    });

    it('is stopped again if the run allowed it, by a later reading, and the budget counts both stops', async () => {
      await db.sql("UPDATE card_stops SET acknowledged_at = now(), unconfirmed = 1, authority = 'released'");
      const before = await counted();
      await resume(true);
      expect(await db.store.resumes.latest(1)).toMatchObject([{ stopAgain: true }]);
      expect(await claimStop(), 'no reading since').toEqual({ state: 'done' });
      expect(await wantedStops(db.store, [1], MONTH)).toEqual([]);
      expect(await db.store.stops.ofCard(1, 1)).toMatchObject([{ state: 'resumed', stopAgain: true }]);
      await db.store.results.write([
        reading(1, { month: MONTH, usedMb: 3_000, atMs: Date.now() + 1_000, basedOn: T }),
      ]);
      expect(await wantedStops(db.store, [1], MONTH)).toEqual([1]);
      const claims = await Promise.all([claimStop(), claimStop(), claimStop()]);
      expect(claims.filter(({ state }) => state === 'granted')).toHaveLength(1);
      expect(await counted()).toBe(before + 1);
      expect(await db.store.stops.ofCard(1, 1)).toMatchObject([
        {
          state: 'requested',
          usedMb: 3_000,
          stopAgain: false,
          resumedAtMs: null,
          completedAtMs: null,
          unconfirmed: 0,
        },
      ]);
      await db.store.stops.complete(simOf(1), MONTH);
      expect(await stateOf(1)).toBe('done');
      await resume(false);
      expect(await claimStop(), 'the last run decides').toEqual({ state: 'done' });
    });

    it.each<[string, number, 'done' | 'granted']>([
      ['before the resume', -3_600_000, 'done'],
      ['after it', 1_000, 'granted'],
      ['by a clock that is two hours ahead', 7_200_000, 'done'],
    ])(
      'is stopped again by a reading that shows the same usage: one taken %s',
      async (_, fromNowMs, state) => {
        await resume(true);
        const polledAtMs = Date.now() + fromNowMs;
        await db.store.results.write([{ cardId: 1, taskType: 'carddata', polledAtMs }]);
        expect(await wantedStops(db.store, [1], MONTH)).toHaveLength(state === 'granted' ? 1 : 0);
        expect(await claimStop()).toMatchObject({ state });
      },
    );

    it('is stopped again for a larger allowance that is used up, whose reading shows the same usage', async () => {
      await resume(false);
      await db.sql('UPDATE cards SET allowance_mb = 1500 WHERE card_id = 1');
      expect(await wantedStops(db.store, [1], MONTH), 'no reading since').toEqual([]);
      await db.store.results.write([{ cardId: 1, taskType: 'carddata', polledAtMs: Date.now() + 1_000 }]);
      expect(await wantedStops(db.store, [1], MONTH)).toHaveLength(1);
      expect(await claimStop()).toMatchObject({ state: 'granted' });
    });

    it('is limited by the budget when it is stopped again, and only observed in mode observe', async () => {
      await db.sql("UPDATE card_stops SET authority = 'released'");
      await resume(true, 3_000);
      expect(await claimStop({ ...UNLIMITED, mode: 'observe' })).toEqual({ state: 'observed', isNew: true });
      expect(await claimStop({ ...UNLIMITED, maxPerHour: 0 })).toMatchObject({ state: 'held', isNew: true });
    });

    it('may be stopped again after a further run allows it', async () => {
      await resume(false, 3_000);
      await resume(true);
      await db.sql("UPDATE card_usage SET read_at = clock_timestamp() + interval '1 minute'");
      expect(await claimStop()).toMatchObject({ state: 'granted' });
    });
  });

  describe('a card over its package that another system stopped', () => {
    async function resume(stopAgain: boolean, usedMb = 2_000): Promise<void> {
      await db.store.results.write([reading(4, { month: MONTH, usedMb, atMs: T, basedOn: null })]);
      await db.sql('UPDATE cards SET stopped = true WHERE card_id = 4');
      const { id } = await create({ cardIds: [4] }, stopAgain);
      await claim(4);
      await complete(4, id);
    }
    const claimStop = () => db.store.stops.claim(simOf(4), MONTH, LEASE_MS, UNLIMITED);

    it('is spared when it is resumed, and not stopped in the next moment', async () => {
      await resume(false);
      expect(await wantedStops(db.store, [4], MONTH)).toEqual([]);
      expect(await claimStop()).toEqual({ state: 'done' });
      expect(await db.store.stops.ofCard(4, 1)).toMatchObject([
        { state: 'resumed', attempts: 0, usedMb: 2_000, stopAgain: false },
      ]);
    });

    it('is spared also where its stop is held', async () => {
      await db.store.results.write([reading(4, { month: MONTH, usedMb: 2_000, atMs: T, basedOn: null })]);
      const held = await db.store.stops.claim(simOf(4), MONTH, LEASE_MS, { ...UNLIMITED, maxPerHour: 0 });
      expect(held).toMatchObject({ state: 'held' });
      await db.sql('UPDATE cards SET stopped = true WHERE card_id = 4');
      const { id } = await create({ cardIds: [4] });
      await claim(4);
      await complete(4, id);
      expect(await db.store.stops.ofCard(4, 1)).toMatchObject([{ state: 'resumed', heldBy: null }]);
      expect(await claimStop()).toEqual({ state: 'done' });
    });

    it('is spared also where a stop for a smaller package was dismissed', async () => {
      await db.store.results.write([reading(4, { month: MONTH, usedMb: 2_000, atMs: T, basedOn: null })]);
      await db.store.stops.claim(simOf(4), MONTH, LEASE_MS, { ...UNLIMITED, maxPerHour: 0 });
      await db.sql("UPDATE card_stops SET state = 'dismissed' WHERE card_id = 4");
      await db.sql('UPDATE cards SET stopped = true, allowance_mb = 1500 WHERE card_id = 4');
      const { id } = await create({ cardIds: [4] });
      await claim(4);
      await complete(4, id);
      expect(await db.store.stops.ofCard(4, 1)).toMatchObject([{ state: 'resumed', allowanceMb: 1_500 }]);
      const atMs = Date.now() + 1_000;
      await db.store.results.write([reading(4, { month: MONTH, usedMb: 2_001, atMs, basedOn: T })]);
      expect(await claimStop()).toEqual({ state: 'done' });
    });

    it('is stopped for a larger package that it exceeds, too', async () => {
      await resume(false);
      await db.sql(
        'UPDATE cards SET allowance_mb = 2500, allowance_changed_at = to_timestamp(1) WHERE card_id = 4',
      );
      const atMs = Date.now() + 1_000;
      await db.store.results.write([reading(4, { month: MONTH, usedMb: 2_600, atMs, basedOn: T })]);
      expect(await claimStop()).toMatchObject({ state: 'granted' });
    });

    it('is stopped again by a later reading if the run allowed it', async () => {
      await resume(true);
      expect(await claimStop(), 'no reading since').toEqual({ state: 'done' });
      const atMs = Date.now() + 1_000;
      await db.store.results.write([reading(4, { month: MONTH, usedMb: 2_001, atMs, basedOn: T })]);
      expect(await claimStop()).toMatchObject({ state: 'granted' });
    });

    it('stays stopped if another system stops it again', async () => {
      await resume(false);
      expect(await db.store.stops.complete(simOf(4), MONTH)).toBeNull();
    });

    it.each([
      ['held', { maxPerHour: 0 }],
      ['observed', { mode: 'observe' as const }],
    ])('is spared where it runs and its stop is %s', async (_, differing) => {
      await db.store.results.write([reading(4, { month: MONTH, usedMb: 2_000, atMs: T, basedOn: null })]);
      await db.store.stops.claim(simOf(4), MONTH, LEASE_MS, { ...UNLIMITED, ...differing });
      const { id } = await create({ cardIds: [4] });
      await fill(db.store, id);
      expect(await db.store.resumes.claim(simOf(4), false, LEASE_MS)).toEqual({
        state: 'running',
        runId: id,
      });
      await db.store.resumes.complete(simOf(4), id, MONTH);
      expect(await db.store.stops.ofCard(4, 1)).toMatchObject([{ state: 'resumed', heldBy: null }]);
      const atMs = Date.now() + 1_000;
      await db.store.results.write([reading(4, { month: MONTH, usedMb: 2_600, atMs, basedOn: T })]);
      expect(await claimStop()).toEqual({ state: 'done' });
      expect(await wantedStops(db.store, [4], MONTH)).toEqual([]);
    });

    it('has no stop where it is not over its package', async () => {
      await resume(false, 1);
      expect(await db.store.stops.ofCard(4, 1)).toEqual([]);
    });
  });

  describe('an order to stop a card', () => {
    const order = (cardId: number) => db.store.stops.order(cardId, MONTH, { by: 'bob', reason: 'fraud' });

    it.each([
      ['that runs', 4, false],
      ['that is stopped', 1, true],
    ])('ends the resume of one %s', async (_, cardId, wasStopped) => {
      const { id } = await create({ cardIds: [cardId] });
      expect(await order(cardId)).toBe('ordered');
      expect(await db.store.resumes.find(id)).toMatchObject({ cancelled: 1, waiting: 0 });
      expect(await claim(cardId)).toEqual({ state: 'none' });
      expect(await db.store.stops.complete(simOf(cardId), MONTH)).toMatchObject({
        before: { stopped: wasStopped },
        after: { stopped: true, authority: 'operator' },
      });
      expect(await stateOf(cardId)).toBe('done');
    });

    it('stops the card that a call under way resumes', async () => {
      const { id } = await create({ cardIds: [1] });
      await claim(1);
      expect(await order(1)).toBe('ordered');
      expect((await complete(1, id))?.after).toMatchObject({
        outcome: 'resumed',
      });
      expect(await stateOf(1)).toBe('requested');
      expect(await db.store.stops.claim(simOf(1), MONTH, LEASE_MS, UNLIMITED)).toMatchObject({
        state: 'granted',
      });
    });

    it.each([
      ['ends', (id: string) => complete(1, id)],
      ['is lost', () => db.sql('UPDATE card_stops SET claimed_until = clock_timestamp()')],
    ])('is not done before a call that resumes the card %s', async (_, end) => {
      const { id } = await create({ cardIds: [1] });
      await claim(1);
      await order(1);
      expect(await db.store.stops.complete(simOf(1), MONTH)).toBeNull();
      expect(await db.store.stops.claim(simOf(1), MONTH, LEASE_MS, UNLIMITED)).toEqual({ state: 'claimed' });
      await end(id);
      expect(await stateOf(1)).toBe('requested');
      expect(await db.store.stops.complete(simOf(1), MONTH)).not.toBeNull();
    });

    it('is due again as soon as a call that resumes the card has ended', async () => {
      const { id } = await create({ cardIds: [1] });
      await claim(1);
      await order(1);
      expect(await takenOrders(db.store, 'stop')).toHaveLength(1);
      await complete(1, id);
      expect(await takenOrders(db.store, 'stop')).toHaveLength(1);
    });

    it('does not wait where the call had no effect', async () => {
      const { id } = await create({ cardIds: [1] });
      await claim(1);
      await db.store.resumes.acknowledge(1, id, 1);
      await order(1);
      expect(await db.store.stops.claim(simOf(1), MONTH, LEASE_MS, UNLIMITED)).toMatchObject({
        state: 'granted',
      });
    });

    it.each([
      ['is refused', (id: string) => db.store.resumes.abandon(1, id, 1, 'not now', true)],
      ['shows no effect', (id: string) => db.store.resumes.acknowledge(1, id, 1)],
    ])('waits no longer for a call that %s, nor does a later run', async (_, end) => {
      const { id } = await create({ cardIds: [1] });
      await claim(1);
      await order(1);
      await takenOrders(db.store, 'stop');
      expect(await end(id)).toBe(false);
      expect(await db.store.resumes.find(id)).toMatchObject({ cancelled: 1, failed: 0 });
      expect(await takenOrders(db.store, 'stop')).toHaveLength(1);
      expect(await db.store.stops.claim(simOf(1), MONTH, LEASE_MS, UNLIMITED)).toMatchObject({
        state: 'granted',
      });
      await db.store.stops.complete(simOf(1), MONTH);
      await create({ cardIds: [1] });
      expect(await claim(1)).toMatchObject({ state: 'granted' });
    });

    it.each([
      ['waits again', true],
      ['waits in no run', false],
    ])('waits for a call of an earlier run where the card %s', async (_, isWaiting) => {
      const earlier = await create({ cardIds: [1] });
      await claim(1);
      await db.store.resumes.cancel(earlier.id);
      const later = await create({ cardIds: [1] });
      if (!isWaiting) await db.store.resumes.cancel(later.id);
      expect(await order(1)).toBe('ordered');
      expect(await db.store.stops.complete(simOf(1), MONTH)).toBeNull();
      expect(await db.store.stops.claim(simOf(1), MONTH, LEASE_MS, UNLIMITED)).toEqual({ state: 'claimed' });
      await complete(1, earlier.id);
      expect(await stateOf(1)).toBe('requested');
      expect(await db.store.stops.claim(simOf(1), MONTH, LEASE_MS, UNLIMITED)).toMatchObject({
        state: 'granted',
      });
    });

    it('waits for the call of a later run when an earlier one is heard of after its lease', async () => {
      const earlier = await create({ cardIds: [1] });
      await claim(1);
      await db.store.resumes.cancel(earlier.id);
      await db.sql("UPDATE card_resumes SET claimed_until = clock_timestamp() - interval '1 second'");
      await create({ cardIds: [1] });
      expect(await claim(1)).toMatchObject({ state: 'granted' });
      expect(await order(1)).toBe('ordered');
      expect(await db.store.stops.claim(simOf(1), MONTH, LEASE_MS, UNLIMITED)).toEqual({ state: 'claimed' });
      await complete(1, earlier.id);
      expect(await db.store.stops.claim(simOf(1), MONTH, LEASE_MS, UNLIMITED)).toEqual({ state: 'claimed' });
    });

    it('counts also where a stop was requested before the run', async () => {
      await db.sql(
        "UPDATE card_stops SET state = 'requested', completed_at = NULL, charged_at = requested_at",
      );
      const { id } = await create({ cardIds: [1] });
      await claim(1);
      await order(1);
      expect(await db.store.stops.complete(simOf(1), MONTH)).toBeNull();
      await complete(1, id);
      expect(await stateOf(1)).toBe('requested');
      const next = await emptyRun(db.store, { cardIds: [1, 2] });
      await order(1);
      expect(await fill(db.store, next.id)).toMatchObject({ total: 1, skipped: 1 });
    });

    it("makes the stop of a card that is stopped the operator's, so that no run over stops resumes it", async () => {
      expect(await db.store.resumes.preview({ sinceMs: 0, carrierId: null })).toMatchObject({ total: 3 });
      expect(await order(1)).toBe('ordered');
      expect(await db.store.stops.complete(simOf(1), MONTH)).toMatchObject({
        before: { stopped: true },
        after: { authority: 'operator' },
      });
      expect(await stateOf(1)).toBe('done');
      expect(await db.store.resumes.preview({ sinceMs: 0, carrierId: null })).toMatchObject({ total: 2 });
      expect(await order(1), 'again').toBe('ordered');
    });

    it('keeps its card out of a run that hands it out later', async () => {
      const { id } = await emptyRun(db.store, { cardIds: [1, 2, 4] });
      expect([await order(1), await order(4)]).toEqual(['ordered', 'ordered']);
      await db.store.stops.complete(simOf(4), MONTH);
      expect(await fill(db.store, id)).toMatchObject({ total: 1, skipped: 2 });
      expect([await claim(1), await claim(4)]).toEqual([{ state: 'none' }, { state: 'none' }]);
      expect([await stateOf(1), await stateOf(4)]).toEqual(['requested', 'done']);
    });

    it('is taken while a call of a cancelled run is under way', async () => {
      const { id } = await create({ cardIds: [1, 2] });
      await claim(1);
      await db.store.resumes.cancel(id);
      await db.sql('UPDATE card_resumes SET due_at = clock_timestamp()');
      expect(await takenOrders(db.store, 'resume')).toEqual([]);
      expect(await order(1)).toBe('ordered');
      expect(await complete(1, id)).not.toBeNull();
      expect(await stateOf(1)).toBe('requested');
    });

    it('is taken at the moment at which its resume ends', async () => {
      const { id } = await create({ cardIds: [1] });
      await claim(1);
      const ended = complete(1, id);
      expect((await Promise.all([order(1), ended]))[0]).toBe('ordered');
    });
  });

  it('waits for a call that stops the card, whose effect the gateway may not show yet', async () => {
    await db.store.stops.order(4, MONTH, { by: 'bob', reason: 'fraud' });
    await db.store.stops.claim(simOf(4), MONTH, LEASE_MS, UNLIMITED);
    const { id } = await create({ cardIds: [4] });
    expect(await claim(4)).toEqual({ state: 'stopping', runId: id });
    await db.store.stops.acknowledge(4, MONTH, 1);
    expect(await claim(4), 'acknowledged without effect').toMatchObject({ state: 'granted' });
  });

  it('does not wait for a call that has not stopped the card within its lease', async () => {
    await db.store.stops.order(4, MONTH, { by: 'bob', reason: 'fraud' });
    await db.store.stops.claim(simOf(4), MONTH, LEASE_MS, UNLIMITED);
    await db.sql('UPDATE card_stops SET claimed_until = clock_timestamp()');
    await create({ cardIds: [4] });
    expect(await claim(4)).toMatchObject({ state: 'granted' });
  });

  it('a stop that was requested before the run does not follow the resume', async () => {
    await db.sql("UPDATE card_stops SET state = 'requested', completed_at = NULL WHERE card_id IN (1, 2)");
    await db.store.stops.order(4, MONTH, { by: 'bob', reason: 'fraud' });
    const { id } = await create({ cardIds: [1, 2, 4] });
    await db.sql('UPDATE card_stops SET requested_at = clock_timestamp() WHERE card_id = 2');
    for (const cardId of [1, 2, 4]) {
      await claim(cardId);
      await complete(cardId, id);
    }
    expect([await stateOf(1), await stateOf(2), await stateOf(4)]).toEqual([
      'resumed',
      'requested',
      'resumed',
    ]);
    expect(await db.store.stops.claim(simOf(4), MONTH, LEASE_MS, UNLIMITED)).toEqual({ state: 'not_over' });
    expect(await takenOrders(db.store, 'stop')).toEqual([]);
  });

  describe('a card that runs although its stop was called', () => {
    const charged = (secondsAgo: number) =>
      db.sql(`UPDATE card_stops SET state = 'requested', completed_at = NULL, unconfirmed = 1, acknowledged_at = charged_at,
        claimed_until = clock_timestamp(), charged_at = clock_timestamp() - ${secondsAgo} * interval '1 second'`);
    let id: string;
    beforeEach(async () => {
      await charged(10);
      await db.sql('UPDATE cards SET stopped = false');
      id = (await create({ sinceMs: 0, carrierId: null })).id;
    });

    it('waits until the stop has taken effect, or could have, and is looked at again soon', async () => {
      await takenOrders(db.store, 'resume');
      expect(await claim(1, false)).toEqual({ state: 'settling', runId: id });
      const [{ soon }] = (await db.sql(
        "SELECT due_at < now() + interval '20 seconds' AS soon FROM card_resumes WHERE card_id = 1",
      )) as [{ soon: boolean }];
      expect(soon).toBe(true);
      await charged(61);
      expect(await claim(1, false)).toEqual({ state: 'running', runId: id });
      expect((await complete(1, id))?.after).toMatchObject({ outcome: 'already_running' });
      expect(await stateOf(1)).toBe('resumed');
    });

    it('is resumed as soon as the stop shows', async () => {
      await db.store.stops.complete(simOf(1), MONTH);
      expect(await claim(1)).toMatchObject({ state: 'granted' });
    });

    it('waits also for a second call whose stop was seen', async () => {
      await db.sql("UPDATE card_stops SET state = 'done', attempts = 2 WHERE card_id = 1");
      await db.sql("UPDATE card_stops SET state = 'done', attempts = 1 WHERE card_id = 2");
      expect([await claim(1, false), await claim(2, false)]).toMatchObject([
        { state: 'settling' },
        { state: 'running' },
      ]);
    });

    it('is resumed again should the stop take effect after its end', async () => {
      await charged(61);
      await complete(1, id);
      await fill(db.store, id);
      expect(await db.store.stops.complete({ ...simOf(1), vendorId: 'of another SIM' }, MONTH)).toBeNull();
      expect(await db.store.stops.complete(simOf(1), MONTH)).toMatchObject({ action: 'card.stop' });
      expect(await db.store.resumes.find(id)).toMatchObject({ total: 3, waiting: 3, alreadyRunning: 0 });
      expect(await takenOrders(db.store, 'resume')).toContain(1);
      expect(await claim(1)).toMatchObject({ state: 'granted' });
      await complete(1, id);
      expect(await fill(db.store, id)).toMatchObject({ waiting: 2, alreadyRunning: 0, resumed: 1 });
      expect([await stateOf(1), await db.store.stops.complete(simOf(1), MONTH)], 'once').toEqual([
        'resumed',
        null,
      ]);
    });

    it('stays stopped if it is found so a day later, or after its stop was seen', async () => {
      await charged(61);
      await complete(1, id);
      await db.sql("UPDATE card_stops SET resumed_at = resumed_at - interval '1 day'");
      expect(await db.store.stops.complete(simOf(1), MONTH)).toBeNull();
      await db.store.stops.complete(simOf(2), MONTH);
      await claim(2);
      await complete(2, id);
      expect(await db.store.stops.complete(simOf(2), MONTH)).toBeNull();
    });
  });

  describe('an order for a card that has another SIM', () => {
    it('calls nothing by a vendor id that the card has no more', async () => {
      const { id } = await create({ cardIds: [1] });
      await db.sql("UPDATE cards SET vendor_id = 'v-2' WHERE card_id = 1");
      const asked = (vendorId: string | null) =>
        db.store.resumes.claim({ ...simOf(1), vendorId }, true, LEASE_MS);
      expect(await asked(null)).toEqual({ state: 'other_iccid', runId: id });
      expect(await asked('v-2')).toMatchObject({ state: 'granted' });
      const shownRunning = (vendorId: string | null) =>
        db.store.resumes.complete({ ...simOf(1), vendorId }, id, MONTH);
      expect(await shownRunning(null), 'it may be the state of another SIM').toBeNull();
      expect(await shownRunning('v-2')).toMatchObject({ action: 'card.resume' });
    });

    it('calls nothing, and takes no status of the former one', async () => {
      const { id } = await create({ cardIds: [1, 2] });
      await claim(2);
      await db.sql("UPDATE cards SET iccid = '8986' || lpad((card_id + 500)::text, 16, '0')");
      expect([await claim(1), await claim(1, false)]).toEqual([
        { state: 'other_iccid', runId: id },
        { state: 'other_iccid', runId: id },
      ]);
      expect(await complete(2, id)).toBeNull();
      expect(await db.store.resumes.find(id)).toMatchObject({ waiting: 2 });
      const sim = { ...simOf(501), cardId: 1 };
      expect(await db.store.resumes.claim(sim, true, LEASE_MS)).toMatchObject({ state: 'granted' });
    });
  });

  it('names the cards that were not resumed, and why', async () => {
    const { id } = await create({ cardIds: [1, 2, 3] });
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await claim(1);
      await db.store.resumes.abandon(1, id, attempt, 'no such card', true);
    }
    await db.store.stops.order(2, MONTH, { by: 'bob', reason: 'fraud' });
    await claim(3);
    await complete(3, id);
    const run = await fill(db.store, id);
    expect(run).toMatchObject({ total: 3, resumed: 1, failed: 1, cancelled: 1, lastError: 'no such card' });
    expect(run.notResumed).toEqual([
      { cardId: 1, state: 'failed', error: 'no such card' },
      { cardId: 2, state: 'cancelled', error: 'an operator ordered its stop' },
    ]);
  });

  it('forgets runs whose cards were removed by cleanup, with the next run', async () => {
    const cleaned = await create({ cardIds: [1] });
    await claim(1);
    const kept = await create({ cardIds: [2] });
    await db.sql("UPDATE resume_runs SET created_at = created_at - interval '33 days'");
    await db.sql('DELETE FROM card_resumes WHERE run_id = $1', [cleaned.id]);
    const next = await create({ cardIds: [] });
    const ids = (await db.store.resumes.latest(10)).map(({ id }) => id);
    expect(ids).toEqual([next.id, kept.id]);
  });
});
