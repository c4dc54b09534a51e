// Tables whose locks another session holds, so that statements of daemons wait although PostgreSQL answers: which, since when, who,
// and what ends it. Two witnesses: the waiting statements in pg_locks, and a new answer that has them. Used by fleet-health.ts and
// fleet-faults.ts. Pure but for the memory of what was seen last.
import { countWords, spanWords } from '../domain/words.ts';
import type { LockHolder } from '../store/ports/records/record-store.ts';
import type { Cause } from './reason.ts';

/** Most changes of a table are over by then. */
const LOCKED_AFTER_MS = 5_000;
/** Statements that gave up a wait try again within this time. */
const HOLDS_MS = 12_000;

export interface LockedTable {
  readonly holder: LockHolder;
  /** When a statement began to wait, epoch milliseconds. */
  readonly sinceMs: number;
  /** The latest answer has the wait; false: it was over a moment ago, or statements are about to try again. */
  readonly isCurrent: boolean;
}

export class LockedTables {
  readonly #locked = new Map<string, LockedTable & { readonly seenMs: number }>();
  #latest: readonly LockHolder[] | null = null;

  /** @param holders the latest answer: the sessions for which daemons wait; null: unknown. The same answer again proves nothing. */
  with(holders: readonly LockHolder[] | null, nowMs: number): readonly LockedTable[] {
    for (const [table, { seenMs }] of this.#locked) {
      if (Math.abs(nowMs - seenMs) >= HOLDS_MS) this.#locked.delete(table);
    }
    if (holders !== null && holders !== this.#latest) this.#take(holders, nowMs);
    this.#latest = holders;
    return [...this.#locked.values()].map(({ seenMs: _, ...locked }) => locked);
  }

  #take(holders: readonly LockHolder[], nowMs: number): void {
    for (const [table, locked] of this.#locked) this.#locked.set(table, { ...locked, isCurrent: false });
    // The first of a table is the one to name, so it comes last here.
    for (const holder of [...holders].reverse()) {
      const waitedMs = holder.waitedMs ?? 0;
      const known = this.#locked.get(holder.table);
      if (known === undefined && waitedMs < LOCKED_AFTER_MS) continue;
      const sinceMs = known?.sinceMs ?? Math.round(nowMs - waitedMs);
      this.#locked.set(holder.table, { holder, sinceMs, isCurrent: true, seenMs: nowMs });
    }
  }
}

/** One reason: one session often locks several tables. A session of another program comes first, because it may have to be ended. */
export function lockedCauses(locked: readonly LockedTable[]): Cause[] {
  const [first] = [...locked].sort(
    (a, b) => Number(a.holder.isOwn) - Number(b.holder.isOwn) || a.sinceMs - b.sinceMs,
  );
  if (first === undefined) return [];
  const { holder, sinceMs, isCurrent } = first;
  const more = locked.length === 1 ? '' : ` (and ${countWords(locked.length - 1, 'more table')})`;
  const text = isCurrent
    ? `PostgreSQL answers, but statements on ${holder.table}${more} wait for a lock, which ${holderWords(holder)}`
    : `statements on ${holder.table}${more} waited for a lock until a moment ago`;
  // No command of cardpoll ends other programs' sessions.
  return [
    { code: 'table_locked', severity: holder.isOwn ? 'warning' : 'alert', text, command: null, sinceMs },
  ];
}

/** Who holds the lock, since when, and the SQL that ends it. */
export function holderWords({ pid, name, openMs, query, remedy, isWaiting, isOwn }: LockHolder): string {
  if (remedy === null) return 'a prepared transaction holds: roll it back, pg_prepared_xacts has its name';
  const open = openMs === null ? 'since when is not known' : `open for ${spanWords(openMs / 1000)}`;
  const verb = isWaiting ? 'also waits for, ahead of them' : 'holds';
  const session = `session ${pid} of ${name} ${verb} (${open}; ${statementWords(query)})`;
  return isOwn
    ? `${session}, a migration of cardpoll: let it end`
    : `${session}; ${isWaiting ? 'cancel' : 'end'} it in psql: ${remedy}`;
}

const MOST_STATEMENT_CHARS = 80;

/** Its beginning, up to the first character that may start a literal or a comment, which may contain secrets. */
function statementWords(query: string | null): string {
  if (query === null) return 'its statement is not shown to this user';
  const [safe = ''] = /^(?:[a-z_][a-z_0-9]*|[.,()*=<>;\s])*/i.exec(query) ?? [];
  const shown = safe.replace(/\s+/g, ' ').trim().slice(0, MOST_STATEMENT_CHARS);
  return `last statement: ${shown}${safe.length < query.length || safe.length > shown.length + 1 ? ' ...' : ''}`;
}
