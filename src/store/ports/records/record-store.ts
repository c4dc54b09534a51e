// Port: the durable records. Two implementations (postgres/ through pg, pglite/ through PGlite), one contract
// suite, the same SQL.
//
// Errors: CardpollError kind `unavailable` when the database cannot be reached or refuses work for lack of
// resources (disk full, too many connections); `invalid`/`not_found` where a method says so.

import type { Fleet } from '../../../domain/fleet.ts';
import type { AlertRecords } from './alert-records.ts';
import type { AuditRecords } from './audit-records.ts';
import type { CardRecords } from './card-records.ts';
import type { CleanupRecords } from './cleanup-records.ts';
import type { ConfigRecords } from './config-records.ts';
import type { Migrations } from './migrations.ts';
import type { ResultRecords } from './result-records.ts';
import type { StopRecords } from './stop-records.ts';
import type { TriggerRecords } from './trigger-records.ts';

export interface RecordStore {
  readonly cards: CardRecords;
  readonly results: ResultRecords;
  readonly stops: StopRecords;
  readonly configs: ConfigRecords;
  readonly alerts: AlertRecords;
  readonly triggers: TriggerRecords;
  readonly cleanup: CleanupRecords;
  readonly audit: AuditRecords;
  readonly migrations: Migrations;
  readonly kind: 'postgres' | 'embedded';
  /**
   * Does `work` in one transaction, with the records it is handed: all of it is kept when it resolves, none when it throws.
   * One at a time, fleet-wide: what is read in it stays so until it is through. Holds a connection: keep it short.
   */
  inTurn<T>(work: (records: RecordStore) => Promise<T>): Promise<T>;
  ping(): Promise<void>;
  /** The database's own clock, epoch milliseconds. */
  now(): Promise<number>;
  /** Names the database and its history: another one after a failover, when the last commits may be lost. */
  identity(): Promise<string>;
  /** Which fleet the database is; stays in copies of it. */
  fleet(): Promise<Fleet>;
  /** How the database server is. */
  server(): Promise<RecordServer>;
  close(): Promise<void>;
}

export interface RecordServer {
  readonly majorVersion: number;
  /** Connections for users without special rights, those in use, and those of daemons. */
  readonly maxConnections: number;
  readonly connections: number;
  readonly ownConnections: number;
  /** A standby, or a database that takes no writes. */
  readonly readOnly: boolean;
  /** Whether commits wait for a standby, and the standbys that are connected. */
  readonly waitsForStandby: boolean;
  readonly standbys: number;
  /** The transaction that has been writing for the longest, in any database of the server, and the SQL that ends it. */
  readonly oldestWriter: {
    readonly database: string;
    readonly openMs: number;
    readonly remedy: string;
  } | null;
  /** Months (YYYY-MM) whose usage can be written, ascending. */
  readonly usageMonths: readonly string[];
}
