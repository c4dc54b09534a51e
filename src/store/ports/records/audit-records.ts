// Port section of record-store.ts: the audit trail. Entries are added and read; nothing changes or removes one but the
// cleanup, which drops whole months.
import type { AuditEntry } from '../../../domain/audit.ts';

export interface AuditRecord extends AuditEntry {
  readonly id: number;
}

/** Null leaves it open. */
export interface AuditFilter {
  readonly sinceMs: number | null;
  /** The first instant that no longer counts. */
  readonly untilMs: number | null;
  readonly actor: string | null;
  /** An action, or the first words of several: `config` is every `config.*`. */
  readonly action: string | null;
}

export interface AuditRecords {
  /** All or none. @param month YYYY-MM of the entries, for their retention */
  append(month: string, entries: readonly AuditEntry[]): Promise<void>;
  /** Newest first. `total` is the database's own estimate where counting takes longer than a second. */
  list(
    filter: AuditFilter,
    slice: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly items: readonly AuditRecord[]; readonly total: number }>;
}
