// Records who changed what (docs/decisions/0016-no-change-without-a-trace.md). Used by every operation that changes something,
// and by the engine for changes by the daemon itself. No change takes effect without an entry: a change of the records is in one
// transaction with its entry. A change elsewhere is announced first; if it fails, a second entry records that.
//
// A change of a request that may be sent again (Idempotency-Key) is made once: its result is stored in the transaction that makes
// it, and a repeat gets that result (docs/decisions/0043-one-idempotency.md).
import { type Actor, type AuditChange, type AuditEntry, FAILED, type Repeat } from '../domain/audit.ts';
import type { MonthCalendar } from '../domain/cards/month-calendar.ts';
import { type PageRequest, type SliceOf, sliceOf } from '../domain/page.ts';
import type { Clock } from '../platform/clock.ts';
import { CardpollError, messageOf } from '../platform/errors.ts';
import { snakeKeys } from '../platform/snake-keys.ts';
import type { AuditItem } from '../resources/audit.ts';
import type { AuditFilter, AuditRecord } from '../store/ports/records/audit-records.ts';
import type { AuditTrail, Note } from '../store/ports/records/audit-trail.ts';
import type { RecordStore } from '../store/ports/records/record-store.ts';

export interface AuditDependencies {
  readonly records: Pick<RecordStore, 'audit' | 'inTurn' | 'madeChanges'>;
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

  change<T>(actor: Actor, work: (records: RecordStore, note: Note) => Promise<T>): Promise<T> {
    return this.#change(actor, nextChangeOf(actor), work);
  }

  /**
   * A change with a preparation that would take too long for a turn, or has an effect of its own. A repeat skips the preparation
   * if the change was made, so its result cannot refuse the repeat.
   */
  async prepared<Found, T>(
    actor: Actor,
    prepare: () => Promise<Found>,
    work: (found: Found, records: RecordStore, note: Note) => Promise<T>,
  ): Promise<T> {
    const change = nextChangeOf(actor);
    const made = await madeBefore<T>(this.deps.records, change);
    if (made !== null) return made.result;
    let found: Found;
    try {
      found = await prepare();
    } catch (error) {
      // The refusal may be caused by the first attempt's change.
      const meanwhile = await madeBefore<T>(this.deps.records, change);
      if (meanwhile === null) throw error;
      return meanwhile.result;
    }
    return this.#change(actor, change, (records, note) => work(found, records, note));
  }

  /**
   * Runs work with an effect elsewhere, such as a message, outside of a turn, because it may take long. Its result is stored for
   * a repeat, and returned even if it could not be stored.
   */
  async kept<T>(actor: Actor, work: () => Promise<T>): Promise<T> {
    if (actor.repeat === undefined) return work();
    let done = null as { readonly result: T } | null;
    const once = async () => {
      done = { result: await work() };
      return done.result;
    };
    try {
      return await this.prepared(actor, once, async (result) => result);
    } catch (error) {
      if (done === null) throw error;
      return done.result;
    }
  }

  /**
   * Makes a change outside of the records. For a request that may be sent again it is made in turn: a repeat waits for its
   * result.
   */
  async announce<T>(actor: Actor, change: AuditChange, apply: () => Promise<T>): Promise<T> {
    const numbered = nextChangeOf(actor);
    // A repeat waits for the first attempt, so that it does not announce the same change again.
    if (numbered !== null) await this.#lastTurn;
    const made = await madeBefore<T>(this.deps.records, numbered);
    if (made !== null) return made.result;
    await this.record(actor, change);
    let applied = null as { readonly result: T } | null;
    const work = async () => {
      applied = { result: await apply() };
      return applied.result;
    };
    try {
      return await (numbered === null ? work() : this.#once(numbered, work));
    } catch (error) {
      // The change is in effect, although its result could not be stored for a repeat.
      if (applied !== null) return applied.result;
      const failure = { ...change, action: change.action + FAILED, after: { error: messageOf(error) } };
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

  async #change<T>(
    actor: Actor,
    change: NumberedChange | null,
    work: (records: RecordStore, note: Note) => Promise<T>,
  ): Promise<T> {
    const entries: AuditEntry[] = [];
    const result = await this.#once(change, async (records) => {
      const done = await work(records, (noted) => entries.push(this.#entryOf(actor, noted)));
      await this.#append(records, entries);
      return done;
    });
    for (const entry of entries) this.log(entry);
    return result;
  }

  /** Runs `work` in turn, or returns the stored result if the change was made before. */
  #once<T>(change: NumberedChange | null, work: (records: RecordStore) => Promise<T>): Promise<T> {
    const inTurn = async (records: RecordStore) => {
      const made = await madeBefore<T>(records, change);
      if (made !== null) return made.result;
      const result = await work(records);
      if (change !== null) await records.madeChanges.add(change.key, textOf(change, result));
      return result;
    };
    const turn = this.#lastTurn.then(() => this.deps.records.inTurn(inTurn));
    this.#lastTurn = turn.catch(() => {});
    return turn;
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

/** A change of a request that may be sent again. */
interface NumberedChange {
  readonly key: string;
  readonly of: Repeat;
}

/** @returns null for a request that is not sent again. */
function nextChangeOf({ repeat }: Actor): NumberedChange | null {
  if (repeat === undefined) return null;
  repeat.changes += 1;
  return { key: `${repeat.key} ${repeat.changes}`, of: repeat };
}

/**
 * @returns the result of the change if an earlier attempt made it; null: it is still to be made.
 * @throws CardpollError `invalid` if that was a change of another request.
 */
async function madeBefore<T>(
  { madeChanges }: Pick<RecordStore, 'madeChanges'>,
  change: NumberedChange | null,
): Promise<{ readonly result: T } | null> {
  const text = change === null ? null : await madeChanges.find(change.key);
  if (change === null || text === null) return null;
  const { request, result } = madeIn<T>(text);
  if (request === change.of.request) {
    change.of.isRepeat = true;
    return { result };
  }
  const message = 'was already used for another request';
  throw new CardpollError('invalid', 'idempotency_key_reused', `this Idempotency-Key ${message}`, {
    hint: 'use a new key for every new request',
    fields: [{ field: 'idempotency-key', message }],
  });
}

const DATE = '$date';

/** Results are plain data; dates are kept as dates. */
function textOf({ of: { request } }: NumberedChange, result: unknown): string {
  return JSON.stringify({ request, result }, function (this: Record<string, unknown>, name, value) {
    const original = this[name];
    return original instanceof Date ? { [DATE]: original.getTime() } : value;
  });
}

/** @param text result of `textOf` for a T. */
function madeIn<T>(text: string): { readonly request: string; readonly result: T } {
  return JSON.parse(text, (_, value) => (typeof value?.[DATE] === 'number' ? new Date(value[DATE]) : value));
}
