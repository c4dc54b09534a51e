// What the engine knows of the audit trail: how the daemon's own acts are recorded. Implemented by operations/audit.ts.
import type { Actor, AuditChange, AuditEntry } from '../../../domain/audit.ts';
import type { RecordStore } from './record-store.ts';

/** Notes a change; it is recorded with the transaction it is part of. */
export type Note = (change: AuditChange) => void;

export interface AuditTrail {
  /** Resolves when the entry is kept for good. */
  record(actor: Actor, change: AuditChange): Promise<void>;
  /** Changes records; what is noted is recorded in the same transaction. Nothing noted is nothing changed. */
  change<T>(actor: Actor, work: (records: RecordStore, note: Note) => Promise<T>): Promise<T>;
  /** Logs an entry that is kept already. */
  tell(entry: AuditEntry): void;
}
