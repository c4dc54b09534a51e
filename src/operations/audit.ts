// Records who changed what (docs/decisions/0016-no-change-without-a-trace.md). Used by every operation that changes
// something, and by the engine for changes of the daemon itself. No change takes effect without an entry: a change of
// the records is in one transaction with its entry. A change elsewhere is announced first, and if it fails another
// entry says so.
import type { Actor, AuditChange, AuditEntry } from '../domain/audit.ts';
import type { MonthCalendar } from '../domain/cards/usage-month.ts';
import { type PageRequest, type SliceOf, sliceOf } from '../domain/page.ts';
import type { Clock } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import { snakeKeys } from '../platform/snake-keys.ts';
import type { AuditFilter, AuditRecord } from '../store/ports/records/audit-records.ts';
import type { AuditTrail, Note } from '../store/ports/records/audit-trail.ts';
import type { RecordStore } from '../store/ports/records/record-store.ts';
import type { AuditItem } from './audit-report.ts';

export interface AuditDependencies {
  readonly records: Pick<RecordStore, 'audit' | 'inTurn'>;
  /** Where entries are read; default: `records`. */
  readonly read?: Pick<RecordStore, 'audit'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly calendar: MonthCalendar;
  /** A log that writes every entry, at any log level. */
  readonly log: { info(entry: { readonly action: string }, message: string): void };
}

export class Audit implements AuditTrail {
  /** Changes of this process run one by one, so that a waiting change holds no connection. */
  #lastTurn: Promise<unknown> = Promise.resolve();

  constructor(private readonly deps: AuditDependencies) {}

  async record(actor: Actor, change: AuditChange): Promise<void> {
    const entry = this.#entryOf(actor, change);
    await this.#append(this.deps.records, [entry]);
    this.log(entry);
  }

  log({ atMs, name, ...entry }: AuditEntry): void {
    const line = { at: new Date(atMs), actor: name, ...entry };
    this.deps.log.info(snakeKeys(line) as typeof line, 'audit');
  }

  /** The change of a request that may be sent again is made once: a repeat gets its result. */
  change<T>(actor: Actor, work: (records: RecordStore, note: Note) => Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(() => this.#change(actor, work));
    this.#lastTurn = turn.catch(() => {});
    return turn;
  }

  /** Makes a change that is not in the records. */
  async announce<T>(actor: Actor, change: AuditChange, apply: () => Promise<T>): Promise<T> {
    await this.record(actor, change);
    try {
      return await apply();
    } catch (error) {
      const failure = { ...change, action: `${change.action}.failed`, after: { error: messageOf(error) } };
      // The caller gets the error of the change, even if this entry cannot be written.
      await this.record(actor, failure).catch(() => {});
      throw error;
    }
  }

  /** @returns entries, newest first. */
  async list(filter: AuditFilter, page: PageRequest): Promise<SliceOf<AuditItem>> {
    const { records, read = records } = this.deps;
    const { items, total } = await read.audit.list(filter, sliceOf(page));
    return { items: items.map(auditItemOf), total };
  }

  async #change<T>(actor: Actor, work: (records: RecordStore, note: Note) => Promise<T>): Promise<T> {
    const entries: AuditEntry[] = [];
    const key = nextKeyOf(actor);
    const result = await this.deps.records.inTurn(async (records) => {
      const made = key === null ? null : await records.madeChanges.find(key);
      if (made !== null) return resultIn<T>(made);
      const done = await work(records, (change) => entries.push(this.#entryOf(actor, change)));
      await this.#append(records, entries);
      if (key !== null) await records.madeChanges.add(key, textOf(done));
      return done;
    });
    for (const entry of entries) this.log(entry);
    return result;
  }

  #entryOf({ repeat: _, undoes, ...caller }: Actor, change: AuditChange): AuditEntry {
    const after = undoes === undefined ? change.after : { ...(change.after ?? {}), undoes };
    return { ...caller, ...change, after, atMs: this.deps.clock.now() };
  }

  async #append(records: Pick<RecordStore, 'audit'>, entries: readonly AuditEntry[]): Promise<void> {
    if (entries.length === 0) return;
    await records.audit.append(this.deps.calendar.monthOf(this.deps.clock.now()), entries);
  }
}

export function auditItemOf({ atMs, name, ...rest }: AuditRecord): AuditItem {
  return { ...rest, at: new Date(atMs), actor: name };
}

/** The key of the next change of a request that may be sent again; null for all others. */
function nextKeyOf({ repeat }: Actor): string | null {
  if (repeat === undefined) return null;
  repeat.changes += 1;
  return `${repeat.key} ${repeat.changes}`;
}

const DATE = '$date';

/** The result of a change as text, for a request that may be sent again. Results are plain data; dates stay dates. */
function textOf(result: unknown): string {
  return JSON.stringify({ result }, function (this: Record<string, unknown>, name, value) {
    const original = this[name];
    return original instanceof Date ? { [DATE]: original.getTime() } : value;
  });
}

/** @param text what `textOf` made of a T. */
function resultIn<T>(text: string): T {
  const kept = JSON.parse(text, (_, value) =>
    typeof value?.[DATE] === 'number' ? new Date(value[DATE]) : value,
  );
  return (kept as { result: T }).result;
}
