import { expect, it } from 'vitest';
import { LockedTables, lockedCauses } from '../../../src/health/locked-tables.ts';
import type { LockHolder } from '../../../src/store/ports/records/record-store.ts';

const HOLDER: LockHolder = {
  table: 'card_stops',
  pid: 4711,
  name: 'anna psql',
  openMs: 35_000,
  query: "LOCK TABLE card_stops IN ACCESS EXCLUSIVE MODE; SELECT 'hunter2'",
  remedy: 'SELECT pg_terminate_backend(4711)',
  waitedMs: 6_000,
  ofSchedule: false,
  isWaiting: false,
  isOwn: false,
};
const START = 1_000_000;

/** What is found by readings: seconds -> holders. */
function seen(...readings: ReadonlyArray<readonly [number, readonly LockHolder[] | null]>) {
  const tables = new LockedTables();
  return readings.map(([seconds, holders]) => tables.with(holders, START + seconds * 1_000).length);
}

it('names the table, the session, since when, and the SQL that ends it, and no secret', () => {
  const [locked] = [new LockedTables().with([HOLDER], START)];
  expect(lockedCauses(locked)).toEqual([
    {
      code: 'table_locked',
      severity: 'alert',
      text: 'PostgreSQL answers, but statements on card_stops wait for a lock, which session 4711 of anna psql holds (open for 35 s; last statement: LOCK TABLE card_stops IN ACCESS EXCLUSIVE MODE; SELECT ...); end it in psql: SELECT pg_terminate_backend(4711)',
      command: null,
      sinceMs: START - 6_000,
    },
  ]);
});

it('is one reason, also of several tables, with the one that was locked first', () => {
  const both = [HOLDER, { ...HOLDER, table: 'cards', waitedMs: 9_000 }];
  const [cause, ...more] = lockedCauses(new LockedTables().with(both, START));
  expect(more).toEqual([]);
  expect(cause?.text).toMatch(/statements on cards \(and 1 more table\) wait for a lock/);
});

it('does not ask to end a migration of cardpoll, and wakes no one for it', () => {
  const [cause] = lockedCauses(
    new LockedTables().with([{ ...HOLDER, name: 'cardpoll cardpoll', isOwn: true }], START),
  );
  expect(cause).toMatchObject({
    severity: 'warning',
    text: 'PostgreSQL answers, but statements on card_stops wait for a lock, which session 4711 of cardpoll cardpoll holds (open for 35 s; last statement: LOCK TABLE card_stops IN ACCESS EXCLUSIVE MODE; SELECT ...), a migration of cardpoll: let it end',
  });
});

it('leaves unknown what this user may not see', () => {
  const hidden = { ...HOLDER, openMs: null, query: null };
  const [cause] = lockedCauses(new LockedTables().with([hidden], START));
  expect(cause?.text).toMatch(/\(since when is not known; its statement is not shown to this user\)/);
});

it('passes over a wait that most changes of a table need', () => {
  expect(seen([0, [{ ...HOLDER, waitedMs: 4_000 }]], [1, [{ ...HOLDER, waitedMs: null }]])).toEqual([0, 0]);
});

it('stays while statements time out and try again, and ends seconds after the last wait', () => {
  const short = [{ ...HOLDER, waitedMs: 200 }];
  expect(seen([0, [HOLDER]], [5, []], [10, short], [20, null], [23, []])).toEqual([1, 1, 1, 1, 0]);
});

it('keeps its beginning', () => {
  const tables = new LockedTables();
  tables.with([HOLDER], START);
  expect(tables.with([{ ...HOLDER, waitedMs: 300 }], START + 20_000)).toEqual([]);
  tables.with([HOLDER], START + 30_000);
  const [again] = tables.with([{ ...HOLDER, waitedMs: 300 }], START + 35_000);
  expect(again?.sinceMs).toBe(START + 24_000);
});

it('is named by the session that may have to be ended, next to a migration', () => {
  const own = { ...HOLDER, table: 'cards', pid: 12, waitedMs: 9_000, isOwn: true };
  const [cause] = lockedCauses(new LockedTables().with([own, HOLDER], START));
  expect(cause).toMatchObject({
    severity: 'alert',
    text: expect.stringContaining('session 4711 of anna psql'),
  });
});

it('advises to cancel a session that only waits ahead of the daemons, and not to end a backup', () => {
  const change = { ...HOLDER, isWaiting: true, remedy: 'SELECT pg_cancel_backend(4711)' };
  const [cause] = lockedCauses(new LockedTables().with([change], START));
  expect(cause?.text).toMatch(
    /which session 4711 of anna psql also waits for, ahead of them \(.*\); cancel it in psql: SELECT pg_cancel_backend\(4711\)$/,
  );
});

it('is not kept by an old answer of a database that answers no more', () => {
  const old = [HOLDER];
  expect(seen([0, old], [10, old], [12, old])).toEqual([1, 1, 0]);
});

it('advises to end no session once a new answer has no wait', () => {
  const tables = new LockedTables();
  tables.with([HOLDER], START);
  const [cause] = lockedCauses(tables.with([], START + 3_000));
  expect(cause?.text).toBe('statements on card_stops waited for a lock until a moment ago');
});
