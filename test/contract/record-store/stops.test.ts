// Stop claims: only of cards over their package now, one caller at a time, at most one stop a card and month, nothing
// forgotten when a caller dies or a call has no effect.
import { beforeEach, expect, it } from 'vitest';
import { DAEMON } from '../../../src/domain/audit.ts';
import type { StopClaim } from '../../../src/store/ports/records/stop-records.ts';
import { UNLIMITED } from '../../support/stop-rules.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  addCards,
  describeRecordStore,
  followChanges,
  iccidOf,
  range,
  reading,
  sim,
  wantedStops,
} from './stores.ts';

const HOUR_MS = 3_600_000;

const MONTH = '2026-11';
const T = 1_795_251_272_123;
const OVER = { usedMb: 1025.5, allowanceMb: 1024 };
/** The first claim of a stop, and the next one. */
const GRANTED = { state: 'granted', month: MONTH, attempt: 1 };
const UNRESOLVED = { state: 'unresolved', month: MONTH, attempt: 2 };

const NOT_OVER: Array<[string, string]> = [
  ['whose allowance was raised', 'UPDATE cards SET allowance_mb = 1025.5'],
  ['whose allowance was lifted', 'UPDATE cards SET allowance_mb = NULL'],
  ['that was removed', 'DELETE FROM cards'],
  ['whose usage was corrected', 'UPDATE card_usage SET used_mb = 1024'],
  ['whose counter may have restarted', 'UPDATE card_usage SET suspected_mb = 3'],
  ['whose month is over', 'UPDATE card_usage SET closed = true'],
];

describeRecordStore('stops', (db) => {
  /** Cards that used more than their package in `month`. */
  async function overPackage(cardIds: readonly number[], month = MONTH): Promise<void> {
    await addCards(db.store, ...cardIds);
    await db.store.results.write(
      cardIds.map((cardId) => reading(cardId, { month, usedMb: OVER.usedMb, atMs: T, basedOn: null })),
    );
  }
  const timePasses = () =>
    db.sql(`UPDATE card_stops SET claimed_until = clock_timestamp() - interval '1 second'`);
  const stateOf = (claim: StopClaim) => claim.state;

  beforeEach(() => overPackage([1]));

  it('grants one of many racing callers', async () => {
    const cardIds = range(10);
    await overPackage(cardIds);
    const stores = await Promise.all(range(6).map(() => db.another()));
    // Connected before they race.
    await Promise.all(stores.map((store) => store.ping()));
    for (const cardId of cardIds) {
      const claims = await Promise.all(
        stores.map((store) => store.stops.claim(sim(cardId), MONTH, HOUR_MS, UNLIMITED)),
      );
      expect(claims.map(stateOf).sort()).toEqual([...Array(5).fill('claimed'), 'granted']);
    }
  });

  it('is done once completed, and the card is stopped', async () => {
    await addCards(db.store, 2);
    const mark = await db.store.cards.changeMark();
    await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED);
    const all = { sinceMs: null, untilMs: null, actor: null, action: 'card.stop', object: null };
    const entries = async () => (await db.store.audit.list(all, { offset: 0, limit: 100 })).items;
    const known = (await entries()).length;
    const entry = await db.store.stops.complete(sim(1), MONTH);
    expect(entry).toMatchObject({
      ...DAEMON,
      object: 'card 1',
      before: { stopped: false },
      after: {
        stopped: true,
        used_mb: 1025.5,
        allowance_mb: 1024,
        reading_mb: 1025.5,
        previous_reading_mb: null,
      },
    });
    expect((await entries()).slice(0, -known || undefined)).toEqual([{ ...entry, id: expect.any(Number) }]);
    expect(await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED)).toEqual({ state: 'done' });
    expect(await db.store.cards.find('1')).toMatchObject({ stopped: true });
    expect(await db.store.cards.find('2')).toMatchObject({ stopped: false });
    expect((await followChanges(db.store, mark)).changed).toEqual([1]);
    expect(await db.store.stops.complete(sim(1), MONTH), 'no second entry').toBeNull();
    expect(await entries()).toHaveLength(known + 1);
    expect(await db.sql('SELECT state, used_mb, completed_at IS NOT NULL AS dated FROM card_stops')).toEqual([
      { state: 'done', used_mb: 1025.5, dated: true },
    ]);
  });

  it('keeps months and cards apart', async () => {
    await overPackage([2]);
    await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED);
    await db.store.stops.complete(sim(1), MONTH);
    expect(await db.store.stops.claim(sim(2), MONTH, HOUR_MS, UNLIMITED)).toEqual(GRANTED);
    await db.store.results.write([
      reading(1, { month: '2026-12', usedMb: OVER.usedMb, atMs: T + 1, basedOn: T }),
    ]);
    expect(await db.store.stops.claim(sim(1), '2026-12', HOUR_MS, UNLIMITED)).toEqual({
      ...GRANTED,
      month: '2026-12',
    });
    expect(
      await db.store.stops.claim(sim(1), '2026-12', HOUR_MS, UNLIMITED),
      'not done: that was November',
    ).toEqual({
      state: 'claimed',
    });
  });

  it('completes the stop of its own month only', async () => {
    await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED);
    await db.store.results.write([
      reading(1, { month: '2026-12', usedMb: OVER.usedMb, atMs: T + 1, basedOn: T }),
    ]);
    expect(
      await db.store.stops.claim(sim(1), '2026-12', HOUR_MS, UNLIMITED),
      'its call may be under way',
    ).toEqual({
      state: 'claimed',
    });
    await db.sql('UPDATE card_stops SET claimed_until = clock_timestamp()');
    await db.store.stops.claim(sim(1), '2026-12', HOUR_MS, UNLIMITED);
    await db.store.stops.complete(sim(1), '2026-12');
    expect(await db.sql('SELECT state FROM card_stops ORDER BY month')).toEqual([
      { state: 'requested' },
      { state: 'done' },
    ]);
  });

  it.each([
    ['2026-12', 'done'],
    ['2027-01', 'requested'],
  ])('a stop that shows in %s is then %s', async (month, state) => {
    await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED);
    await db.store.stops.complete(sim(1), month);
    expect(await db.sql('SELECT state FROM card_stops')).toEqual([{ state }]);
    expect((await db.store.cards.byIds([1]))[0]?.stopped).toBe(state === 'done');
  });

  it('does not complete a stop that was not called', async () => {
    const claim = await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED);
    await db.store.stops.abandon(1, MONTH, claim.state === 'granted' ? claim.attempt : 0, 'refused', true);
    expect(await db.store.stops.complete(sim(1), '2026-12')).toBeNull();
  });

  it.each(NOT_OVER)('refuses a card %s, whatever was claimed before', async (_, change) => {
    await db.store.stops.claim(sim(1), MONTH, 0, UNLIMITED);
    await db.sql(change);
    expect(await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED)).toEqual({ state: 'not_over' });
    expect(await db.store.stops.claim(sim(1), '2026-10', HOUR_MS, UNLIMITED)).toEqual({ state: 'not_over' });
    expect(await db.sql('SELECT attempts FROM card_stops')).toEqual([{ attempts: 1 }]);
  });

  it('is wanted for cards that are over their package', async () => {
    await overPackage([2]);
    await addCards(db.store, 3);
    const wanted = (month = MONTH) => wantedStops(db.store, [1, 2, 3, 4], month);
    expect(await wanted()).toEqual([1, 2]);
    await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED);
    expect(await wanted(), 'it is ordered').toEqual([2]);
    await db.store.stops.complete(sim(1), MONTH);
    expect(await wanted()).toEqual([2]);
    await db.sql('UPDATE cards SET stopped = false WHERE card_id = 1');
    expect(await wanted(), 'resumed after the stop').toEqual([2]);
    await db.store.results.write([
      reading(1, { month: '2026-12', usedMb: OVER.usedMb, atMs: T + 1, basedOn: T }),
    ]);
    expect(await wanted('2026-12'), 'the next month').toEqual([1]);
    expect(await wantedStops(db.store, [], MONTH)).toEqual([]);
  });

  it.each<[string, string]>([...NOT_OVER, ['that was stopped otherwise', 'UPDATE cards SET stopped = true']])(
    'is not wanted for a card %s',
    async (_, change) => {
      await db.sql(change);
      expect(await wantedStops(db.store, [1], MONTH)).toEqual([]);
    },
  );

  it('judges by what is true now', async () => {
    await db.store.stops.claim(sim(1), MONTH, 0, UNLIMITED);
    await db.sql('UPDATE cards SET allowance_mb = 10');
    await db.sql('UPDATE card_usage SET used_mb = 20');
    expect(await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED)).toEqual({
      state: 'unresolved',
      month: MONTH,
      attempt: 2,
    });
    expect(await db.sql('SELECT used_mb, allowance_mb FROM card_stops')).toEqual([
      { used_mb: 20, allowance_mb: 10 },
    ]);
  });

  it('writes down that a card it was stopped once runs', async () => {
    await db.sql('UPDATE cards SET stopped = true');
    await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED);
    expect((await db.store.cards.find('1'))?.stopped).toBe(false);
    expect(stateOf(await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED))).toBe('claimed');
  });

  it('allows no further call for a while after a call without effect, longer each time', async () => {
    const pauses: number[] = [];
    for (const calls of range(9)) {
      await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED);
      const noted = await db.store.stops.acknowledge(1, MONTH, calls);
      expect(noted?.calls).toBe(calls);
      pauses.push(Math.round((noted?.retryInMs ?? 0) / 1_000));
      expect(await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED)).toEqual({ state: 'unconfirmed' });
      await timePasses();
    }
    expect(pauses).toEqual([30, 60, 120, 240, 480, 960, 1920, 3600, 3600]);
    expect(stateOf(await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED))).toBe('unresolved');
    expect((await db.store.cards.find('1'))?.stopped).toBe(false);
    await db.store.stops.complete(sim(1), MONTH);
    expect(await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED)).toEqual({ state: 'done' });
  });

  it('does not let a caller that overslept answer for the claim of the next', async () => {
    const [frozen, next] = [await db.another(), await db.another()];
    await frozen.stops.claim(sim(1), MONTH, 0, UNLIMITED);
    await next.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED);
    expect(await frozen.stops.acknowledge(1, MONTH, 1)).toBeNull();
    expect(await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED)).toEqual({ state: 'claimed' });
    await next.stops.complete(sim(1), MONTH);
    expect(await next.stops.acknowledge(1, MONTH, 2)).toBeNull();
  });

  it.each<[string, string]>([
    ['is done', "UPDATE card_stops SET state = 'done'"],
    ['is not due any more', 'UPDATE cards SET allowance_mb = 5000'],
    ['is of a card that was stopped otherwise', 'UPDATE cards SET stopped = true'],
    [
      'is of a SIM that the card has no longer',
      `UPDATE cards SET iccid = '${iccidOf(777)}' WHERE card_id = 5`,
    ],
    ['is of a card that was removed', 'DELETE FROM cards'],
    ['is of a month that is over', 'UPDATE card_usage SET closed = true'],
    ['is of a month long past', "UPDATE card_stops SET month = '2020-01-01'"],
  ])('counts an unconfirmed stop until it %s', async (_, change) => {
    const [now] = await db.sql(`SELECT to_char(clock_timestamp(), 'YYYY-MM') AS month`);
    const month = String(now?.month);
    await overPackage([5, 6], month);
    for (const cardId of [5, 6]) await db.store.stops.claim(sim(cardId), month, HOUR_MS, UNLIMITED);
    expect(await db.store.stops.unconfirmed()).toBe(0);
    await db.store.stops.acknowledge(5, month, 1);
    expect(await db.store.stops.unconfirmed(), 'vendors may need minutes').toBe(0);
    await db.sql("UPDATE card_stops SET pending_since = pending_since - interval '3 minutes'");
    expect(await db.store.stops.unconfirmed()).toBe(1);
    await db.sql(change);
    expect(await db.store.stops.unconfirmed()).toBe(0);
  });

  it('is neither called again nor unconfirmed while the vendor works on it, and shows until when', async () => {
    const [now] = await db.sql(`SELECT to_char(clock_timestamp(), 'YYYY-MM') AS month`);
    const month = String(now?.month);
    await overPackage([5], month);
    const claim = () => db.store.stops.claim(sim(5), month, HOUR_MS, UNLIMITED);
    await claim();
    expect(await db.store.stops.acknowledge(5, month, 1, 600_000)).toEqual({ calls: 0, retryInMs: 600_000 });
    expect(await claim()).toEqual({ state: 'pending' });
    const [shown] = await db.store.stops.ofCard(5, 1);
    const { pendingSinceMs, pendingUntilMs } = shown as { pendingSinceMs: number; pendingUntilMs: number };
    expect(pendingUntilMs - pendingSinceMs).toBe(600_000);
    const [look] = await db.sql(
      'SELECT extract(epoch FROM due_at - pending_since)::float8 AS seconds FROM card_stops WHERE card_id = 5',
    );
    expect(look?.seconds, 'the second look is asked when it was 10 s').toBeCloseTo(10, 0);

    await db.sql(`UPDATE card_stops SET pending_since = pending_since - interval '10 minutes',
      pending_until = pending_until - interval '10 minutes', claimed_until = claimed_until - interval '10 minutes'`);
    expect(await db.store.stops.unconfirmed(), 'its time is over').toBe(1);
    expect((await db.store.stops.ofCard(5, 1))[0]).toMatchObject({
      pendingSinceMs: null,
      pendingUntilMs: null,
    });
    const again = { state: 'unresolved', month, attempt: 2, overdueCalls: 1 };
    expect(await claim()).toEqual(again);
    expect(await db.store.stops.unconfirmed()).toBe(1);
    await db.store.stops.acknowledge(5, month, 2, 600_000);
    expect(await db.store.stops.unconfirmed(), 'one message').toBe(1);
    await db.store.stops.complete(sim(5), month);
    expect(await db.store.stops.unconfirmed()).toBe(0);
  });

  it('waits for a vendor that works on the card, and is called once that has lasted too long', async () => {
    const shown = { ...sim(1), pendingForMs: 600_000 };
    const claim = () => db.store.stops.claim(shown, MONTH, HOUR_MS, UNLIMITED);
    expect(await claim()).toEqual({ state: 'pending' });
    expect(await claim()).toEqual({ state: 'pending' });
    await db.sql('UPDATE card_stops SET pending_until = clock_timestamp()');
    expect(await claim()).toEqual(GRANTED);
  });

  it('is unresolved for one caller after a claim ran out', async () => {
    const stores = await Promise.all(range(4).map(() => db.another()));
    await db.store.stops.claim(sim(1), MONTH, 1, UNLIMITED);
    await waitFor(
      async () => (await db.sql('SELECT claimed_until < clock_timestamp() AS over FROM card_stops'))[0]?.over,
      { what: 'the claim to run out' },
    );
    const claims = await Promise.all(
      stores.map((store) => store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED)),
    );
    expect(claims.map((claim) => claim.state).sort()).toEqual([
      'claimed',
      'claimed',
      'claimed',
      'unresolved',
    ]);
  });

  it('is granted at once after it was abandoned, and keeps the reason', async () => {
    await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED);
    await db.store.stops.abandon(1, MONTH, 1, 'code 500: refused', true);
    expect(await db.sql('SELECT last_error FROM card_stops')).toEqual([{ last_error: 'code 500: refused' }]);
    expect(await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED)).toEqual({ ...GRANTED, attempt: 2 });
    expect(await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED)).toEqual({ state: 'claimed' });
    expect(await db.sql('SELECT attempts FROM card_stops')).toEqual([{ attempts: 2 }]);
  });

  it('is granted after an unresolved claim was abandoned', async () => {
    await db.store.stops.claim(sim(1), MONTH, 0, UNLIMITED);
    expect(await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED)).toEqual(UNRESOLVED);
    await db.store.stops.abandon(1, MONTH, 2, 'not stopped, and refused', true);
    expect(await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED)).toEqual({ ...GRANTED, attempt: 3 });
  });

  it('does not let a caller that overslept abandon the claim of the next', async () => {
    const [frozen, next] = [await db.another(), await db.another()];
    await frozen.stops.claim(sim(1), MONTH, 0, UNLIMITED);
    expect(await next.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED)).toEqual(UNRESOLVED);
    await frozen.stops.abandon(1, MONTH, 1, 'refused', true);
    expect(await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED)).toEqual({ state: 'claimed' });
  });

  it('does not abandon what is done', async () => {
    await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED);
    const other = await db.another();
    await other.stops.complete(sim(1), MONTH);
    await db.store.stops.abandon(1, MONTH, 1, 'too late', true);
    expect(await db.store.stops.claim(sim(1), MONTH, HOUR_MS, UNLIMITED)).toEqual({ state: 'done' });
  });
});
