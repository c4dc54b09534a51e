// Runs that resume cards: which cards they have, and one call a card whatever happens.
import { beforeEach, expect, it } from 'vitest';
import type { ResumeSelection } from '../../../src/store/ports/records/resume-records.ts';
import { UNLIMITED } from '../../support/stop-rules.ts';
import { addCards, describeRecordStore, reading } from './stores.ts';

const LEASE_MS = 3_600_000;
const MONTH = '2026-11';
const T = 1_795_251_272_123;
const BY = { name: 'alice', role: 'operator' };
const REASON = 'the readings were wrong';

describeRecordStore('resumes', (db) => {
  const create = (selection: ResumeSelection) =>
    db.store.resumes.create({ selection, by: BY, reason: REASON });
  const claim = (cardId: number) => db.store.resumes.claim(cardId, LEASE_MS);
  const leaseEnds = () => db.sql('UPDATE card_resumes SET claimed_until = clock_timestamp()');
  const stateOf = async (cardId: number) =>
    (await db.store.stops.ofCard(cardId, 1)).map(({ state }) => state)[0];

  /** Cards 1 to 3 were stopped by cardpoll in November; card 4 runs. */
  beforeEach(async () => {
    await addCards(db.store, 1, 2, 3, 4);
    await db.store.results.write(
      [1, 2, 3].map((cardId) => reading(cardId, { month: MONTH, usedMb: 2_000, atMs: T, basedOn: null })),
    );
    for (const cardId of [1, 2, 3]) {
      await db.store.stops.claim(cardId, MONTH, LEASE_MS, UNLIMITED);
      await db.store.stops.complete(cardId, MONTH);
    }
  });

  it('has the cards that cardpoll stopped since a time and that are stopped now', async () => {
    await db.sql('UPDATE cards SET stopped = false WHERE card_id = 3');
    await db.sql("UPDATE card_stops SET completed_at = completed_at - interval '1 hour' WHERE card_id = 2");
    const lastMinutes = { sinceMs: Date.now() - 600_000, carrierId: null };
    expect(await db.store.resumes.preview(lastMinutes)).toEqual({ total: 1, skipped: 0 });
    expect(await db.store.resumes.preview({ ...lastMinutes, carrierId: 77 })).toMatchObject({ total: 0 });
    expect(await create(lastMinutes)).toMatchObject({ total: 1, waiting: 1, by: 'alice', reason: REASON });
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
    expect((await db.store.cards.byIds([1]))[0]?.ordered).toBe(true);
    const claims = await Promise.all([1, 1, 1, 1].map(claim));
    expect(claims.map(({ state }) => state).sort()).toEqual(['claimed', 'claimed', 'claimed', 'granted']);
    expect(claims).toEqual(claims.map(() => expect.objectContaining({ runId: id })));
    expect(await claim(2)).toEqual({ state: 'none' });
    const entry = await db.store.resumes.complete(1, id, MONTH, true);
    expect(entry).toMatchObject({
      ...BY,
      action: 'card.resume',
      object: 'card 1',
      before: { stopped: true },
      after: { stopped: false, run_id: id, reason: REASON, outcome: 'resumed', used_mb: 2_000 },
    });
    expect(await db.store.resumes.complete(1, id, MONTH, true), 'once').toBeNull();
    expect(await stateOf(1)).toBe('resumed');
    expect((await db.store.cards.byIds([1]))[0]).toMatchObject({ stopped: false, ordered: false });
    expect(await db.store.stops.claim(1, MONTH, LEASE_MS, UNLIMITED)).toEqual({ state: 'done' });
    expect((await db.store.stopControl.read()).resumedDay).toBe(1);

    await claim(4);
    await db.store.resumes.complete(4, id, MONTH, false);
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
    expect(await db.store.resumes.abandon(1, id, 1, 'late', true), 'a former holder').toBeNull();
    await db.store.resumes.complete(1, id, MONTH, false);
    expect(await db.store.resumes.find(id)).toMatchObject({ resumed: 1 });
  });

  it('gives a card up that is refused three times, or acknowledged five times without effect', async () => {
    const { id } = await create({ cardIds: [1, 2] });
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await claim(1);
      const failed = await db.store.resumes.abandon(1, id, attempt, 'no such card', true);
      expect(failed).toEqual({ gaveUp: attempt === 3, retryInMs: 0 });
    }
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      await claim(2);
      const failed = await db.store.resumes.acknowledge(2, id, attempt);
      expect(failed?.gaveUp).toBe(attempt === 5);
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
    expect(await db.store.resumes.complete(2, id, MONTH, false)).toBeNull();
    expect(await db.store.resumes.complete(1, id, MONTH, true)).not.toBeNull();
    expect(await db.store.resumes.find(id)).toMatchObject({ cancelled: 1, resumed: 1 });
    expect(await db.store.resumes.cancel('no such id')).toBeNull();
  });

  it('makes cards due once a minute, and ends a card that was removed', async () => {
    const { id } = await create({ cardIds: [1, 2] });
    await db.sql('DELETE FROM cards WHERE card_id = 2');
    expect(await db.store.resumes.due(10)).toEqual([{ cardId: 1, carrierId: 1, realNameVerified: false }]);
    expect(await db.store.resumes.due(10)).toEqual([]);
    expect(await db.store.resumes.find(id)).toMatchObject({ failed: 1, waiting: 1 });
    await db.sql("UPDATE card_resumes SET due_at = due_at - interval '61 seconds'");
    expect(await db.store.resumes.due(10)).toHaveLength(1);
  });

  it('makes one run for a month, spread, of what cardpoll stopped by itself', async () => {
    await db.sql("UPDATE card_stops SET authority = 'operator' WHERE card_id = 3");
    const run = await db.store.resumes.createForMonth('2026-12', LEASE_MS);
    expect(run).toMatchObject({ total: 2, by: 'daemon' });
    expect(await db.store.resumes.createForMonth('2026-12', LEASE_MS)).toBeNull();
    await db.sql("UPDATE card_resumes SET not_before = not_before + interval '1 day' WHERE card_id = 2");
    await db.sql("UPDATE card_resumes SET not_before = not_before - interval '1 day' WHERE card_id = 1");
    expect([(await claim(1)).state, (await claim(2)).state]).toEqual(['granted', 'none']);
    const cards = await db.store.cards.byIds([1, 2]);
    expect(cards.map(({ cardId, ordered }) => [cardId, ordered]).sort()).toEqual([
      [1, true],
      [2, false],
    ]);
  });

  it('an order to stop a card ends its resume', async () => {
    const { id } = await create({ cardIds: [4] });
    expect(await db.store.stops.order(4, MONTH, { by: 'bob', reason: 'fraud' })).toBe('ordered');
    expect(await db.store.resumes.find(id)).toMatchObject({ cancelled: 1, waiting: 0 });
  });

  it('a stop that was requested before the run does not follow the resume', async () => {
    await db.sql("UPDATE card_stops SET state = 'requested', completed_at = NULL WHERE card_id IN (1, 2)");
    await db.store.stops.order(4, MONTH, { by: 'bob', reason: 'fraud' });
    const { id } = await create({ cardIds: [1, 2, 4] });
    await db.sql('UPDATE card_stops SET requested_at = clock_timestamp() WHERE card_id = 2');
    for (const cardId of [1, 2, 4]) {
      await claim(cardId);
      await db.store.resumes.complete(cardId, id, MONTH, true);
    }
    expect([await stateOf(1), await stateOf(2), await stateOf(4)]).toEqual([
      'resumed',
      'requested',
      'resumed',
    ]);
    expect(await db.store.stops.claim(4, MONTH, LEASE_MS, UNLIMITED)).toEqual({ state: 'not_over' });
    expect((await db.store.stops.due(10)).map(({ cardId }) => cardId)).toEqual([]);
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
