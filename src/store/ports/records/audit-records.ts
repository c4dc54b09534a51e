// Port section of record-store.ts: the audit trail. Entries are added and read, never changed. Only the cleanup removes entries,
// in whole months.
import type { AuditEntry } from '../../../domain/audit.ts';
import type { Slice, SliceOf } from '../../../domain/page.ts';

export interface AuditRecord extends AuditEntry {
  readonly id: number;
}

/** Which entries to list; a criterion that is null matches all. */
export interface AuditFilter {
  readonly sinceMs: number | null;
  /** Exclusive end, epoch milliseconds. */
  readonly untilMs: number | null;
  readonly actor: string | null;
  /** An action, or the first words of several: `config` matches every `config.*`. */
  readonly action: string | null;
  /** An object, or its first word: `card` matches every `card <id>`. */
  readonly object: string | null;
}

export interface AuditRecords {
  /** Adds all entries or none. @param month YYYY-MM of the entries, for their retention */
  append(month: string, entries: readonly AuditEntry[]): Promise<void>;
  /** @returns entries, newest first. `total` is the database's own estimate if counting takes longer than a second. */
  list(filter: AuditFilter, slice: Slice): Promise<SliceOf<AuditRecord>>;
  /** @returns operators' changes from `fromMs` to `toMs` with one of these actions, newest first. */
  changes(
    within: { readonly fromMs: number; readonly toMs: number },
    actions: readonly string[],
    most: number,
  ): Promise<AuditRecord[]>;
  /** @returns null: no such entry. */
  find(id: number): Promise<AuditRecord | null>;
  /** @returns the later entries about one of these objects, or that undo this one, oldest first. */
  later(entry: Pick<AuditRecord, 'id' | 'atMs'>, objects: readonly string[]): Promise<AuditRecord[]>;
}

/** The results of changes by requests that may be sent again. Kept for a day. */
export interface MadeChanges {
  /** @returns the result of the change with this key; null: the change was not made. */
  find(key: string): Promise<string | null>;
  /** Call in the transaction of the change (`inTurn`). */
  add(key: string, result: string): Promise<void>;
}
