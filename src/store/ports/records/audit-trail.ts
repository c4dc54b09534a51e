// The audit trail as the engine uses it: records changes that the daemon itself makes. Implemented by operations/audit.ts.
import type { Actor, AuditChange, AuditEntry } from '../../../domain/audit.ts';
import type { RecordStore } from './record-store.ts';

/** Notes a change; the entry is written in the transaction of the change. */
export type Note = (change: AuditChange) => void;

export interface AuditTrail {
  /** Resolves when the entry is durable. */
  record(actor: Actor, change: AuditChange): Promise<void>;
  /**
   * Changes records and writes the noted entries in the same transaction. If `work` notes nothing, it changed nothing.
   */
  change<T>(actor: Actor, work: (records: RecordStore, note: Note) => Promise<T>): Promise<T>;
  /** Logs an entry that is already durable. */
  log(entry: AuditEntry): void;
}
