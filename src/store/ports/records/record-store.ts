// Port: the durable records. Two implementations (postgres/ through pg, pglite/ through PGlite) share one contract
// suite and the same SQL.
//
// Errors: CardpollError kind `unavailable` when the database cannot be reached or refuses work for lack of
// resources (disk full, too many connections); `invalid`/`not_found` where a method says so.
import type { Fleet } from '../../../domain/fleet.ts';
import type { RecordedLimits } from '../../../domain/limits/in-force.ts';
import type { PollOutcome } from '../../../domain/results/poll-outcome.ts';
import type { PollingConfig } from '../../../domain/schedule/polling-config.ts';
import type { TaskType } from '../../../domain/task-type.ts';
import type { AlertRecords } from './alert-records.ts';
import type { AuditRecords, MadeChanges } from './audit-records.ts';
import type { CardRecords } from './card-records.ts';
import type { CleanupRecords } from './cleanup-records.ts';
import type { MaintenanceRecords } from './maintenance-records.ts';
import type { OrderRecords } from './order-records.ts';
import type { ResumeRecords } from './resume-records.ts';
import type { ShiftRecords } from './shift-records.ts';
import type { StopControlRecords, StopRecords } from './stop-records.ts';
import type { StoppedWithinRecords } from './stopped-within-records.ts';
import type { TriggerRecords } from './trigger-records.ts';

export interface RecordStore {
  readonly cards: CardRecords;
  readonly results: ResultRecords;
  readonly stops: StopRecords;
  readonly stopControl: StopControlRecords;
  readonly stoppedWithin: StoppedWithinRecords;
  readonly resumes: ResumeRecords;
  readonly orders: OrderRecords;
  readonly configs: ConfigRecords;
  readonly maintenance: MaintenanceRecords;
  readonly alerts: AlertRecords;
  readonly triggers: TriggerRecords;
  readonly cleanup: CleanupRecords;
  readonly audit: AuditRecords;
  readonly shift: ShiftRecords;
  readonly madeChanges: MadeChanges;
  readonly migrations: Migrations;
  readonly kind: 'postgres' | 'embedded';
  /**
   * Runs `work` in one transaction, on the records that it gets: commits when `work` resolves, rolls back when it
   * throws. Runs one at a time, fleet-wide, so rows that are read do not change before the end. Holds a connection:
   * keep it short.
   */
  inTurn<T>(work: (records: RecordStore) => Promise<T>): Promise<T>;
  /** @returns the same records over at most this many connections at a time; `close` of either closes both. */
  bounded(connections: number): RecordStore;
  ping(): Promise<void>;
  /** The database's own clock, epoch milliseconds. */
  now(): Promise<number>;
  /**
   * @returns a text that names the database and its timeline. It changes after a failover, which may lose commits, and when
   * the database is restored from a dump.
   */
  identity(): Promise<string>;
  /** @returns the fleet of the database; copies of the database have the same. */
  fleet(): Promise<Fleet>;
  /** @returns the state of the database server. */
  server(): Promise<RecordServer>;
  /** @returns the rights that cardpoll needs and its user lacks. */
  lackedRights(): Promise<LackedRights>;
  /** @returns the sessions for whose table locks daemons wait to read or write rows, the longest transaction first. */
  lockHolders(): Promise<readonly LockHolder[]>;
  close(): Promise<void>;
}

/** Rights that the user of the record store lacks; both lists are empty before the tables exist. */
export interface LackedRights {
  /** '' when it lacks none. */
  readonly role: string;
  /** Without these no monthly partition is created or dropped, which is the leader's work. */
  readonly always: readonly LackedRight[];
  /** Without these no monthly partition is made or dropped, which the leader does. */
  readonly monthly: readonly LackedRight[];
}

interface LackedRight {
  /** The words in which the database would refuse. */
  readonly message: string;
  /** A sentence that ends with the statement that grants it. */
  readonly remedy: string;
}

export interface LockHolder {
  /** The table whose lock is awaited. */
  readonly table: string;
  /** 0: a prepared transaction, which has no session. */
  readonly pid: number;
  /** User and program. */
  readonly name: string;
  /** How long its transaction has been open; null: unknown, for a session of another user. */
  readonly openMs: number | null;
  /** Its current or last statement, which may contain secrets; null: unknown. */
  readonly query: string | null;
  /** The SQL that ends it, or its wait; null: its id is unknown here. */
  readonly remedy: string | null;
  /** How long the first of the daemons' statements has waited; null: it has just begun. */
  readonly waitedMs: number | null;
  /** It waits for the lock ahead of the daemons, behind a session that would let them pass, such as a backup. */
  readonly isWaiting: boolean;
  /** It is cardpoll itself, as a migration. */
  readonly isOwn: boolean;
  /** The table is of the schedule: without it no ring is filled. */
  readonly ofSchedule: boolean;
}

/**
 * The time for irreversible actions: the earlier of the record store's clock and another one, epoch milliseconds. If one of them
 * is ahead, nothing is done early.
 */
export async function earlierTime(
  other: { now(): number | Promise<number> },
  records: Pick<RecordStore, 'now'>,
): Promise<number> {
  return Math.min(await other.now(), await records.now());
}

export interface RecordServer {
  readonly majorVersion: number;
  /** Product and version, such as `PostgreSQL 17.12`; for display. */
  readonly software: string;
  /** Connections for ordinary users. The next fields count the connections in use, and those of daemons. */
  readonly maxConnections: number;
  readonly connections: number;
  readonly ownConnections: number;
  /** Why it accepts no writes: it is a standby, or set to read only. null: it accepts them. */
  readonly readOnlyBy: 'standby' | 'setting' | null;
  /** True when commits wait for a standby; `standbys` counts the connected ones. */
  readonly waitsForStandby: boolean;
  readonly standbys: number;
  /** The sessions and slots that keep vacuum from removing dead rows of the database: the ten oldest, the oldest first. */
  readonly snapshots: readonly HeldSnapshot[];
  /** Months (YYYY-MM) whose usage can be written, ascending. */
  readonly usageMonths: readonly string[];
  /** Size of the database on disk. */
  readonly databaseBytes: number;
  /** Size of the usage records of each month (YYYY-MM), ascending; without months that have none. */
  readonly usageRecords: ReadonlyArray<{ readonly month: string; readonly bytes: number }>;
}

export interface HeldSnapshot {
  readonly kind: 'session' | 'prepared' | 'slot' | 'standby';
  /** User and program of a session, the name of a prepared transaction or of a replication slot. */
  readonly name: string;
  /** How long its transaction has been open; null: unknown, for a slot, a standby, or a session of another user. */
  readonly openMs: number | null;
  /** Number of transactions that have begun since. */
  readonly transactions: number;
  /** The SQL that ends it; null: it is ended elsewhere. */
  readonly remedy: string | null;
}

export interface MigrationState {
  readonly id: string;
  readonly appliedAtMs: number | null;
  /** True for a migration of a later release, which this release does not know. */
  readonly newer: boolean;
}

export interface Migrations {
  /** @returns the migrations of this release in order, then newer ones. */
  status(): Promise<MigrationState[]>;
  /**
   * Applies missing migrations under an advisory lock, without a time limit.
   * @param onBegin called with the id of each migration before it is applied
   * @returns the ids of the applied migrations
   * @throws CardpollError `config` when the file of an applied migration has changed
   */
  up(onBegin?: (id: string) => void): Promise<string[]>;
}

/** Until when (epoch milliseconds) a config's ring had handed out its due cards, and workers had taken them. */
export interface RingMark {
  readonly configId: number;
  readonly taskType: TaskType;
  readonly handedOutMs: number;
}

/** Polling configs, operators' values for each task type (limit and pause), and the positions of the rings. */
export interface ConfigRecords {
  list(): Promise<PollingConfig[]>;
  create(config: Omit<PollingConfig, 'id'>): Promise<PollingConfig>;
  /** @returns the updated config, or null for an unknown id. */
  update(id: number, patch: Partial<Omit<PollingConfig, 'id'>>): Promise<PollingConfig | null>;
  /** @returns the removed config, or null for an unknown id. */
  remove(id: number): Promise<PollingConfig | null>;
  /**
   * @returns the recorded limits and operators' pauses; the live store has those in force (store/ports/in-force.ts). A maintenance
   * window of the whole fleet is a pause; of several pauses the one that ends last counts.
   */
  recordedLimits(): Promise<Record<TaskType, RecordedLimits>>;
  setConcurrency(taskType: TaskType, max: number): Promise<void>;
  /** Pauses task types from now. Replaces earlier pauses of operators. */
  pause(
    taskTypes: readonly TaskType[],
    pause: { readonly seconds: number; readonly reason: string; readonly by: string },
  ): Promise<void>;
  endPauses(taskTypes: readonly TaskType[]): Promise<void>;
  /** @returns the saved marks of all rings, for a live store that lost its rings. */
  ringMarks(): Promise<RingMark[]>;
  /** Saves marks; skips configs that are gone. */
  saveRingMarks(marks: readonly RingMark[]): Promise<void>;
}

export interface FoldBackRequest {
  /** The current month, YYYY-MM. */
  readonly present: string;
  /** The last month (YYYY-MM) that has begun in any time zone; usage of later months is folded back. */
  readonly latest: string;
  readonly afterCardId: number;
  readonly limit: number;
}

/** The parts of a batch of outcomes that were not written. */
export interface NotWritten {
  /**
   * Cards whose usage was not written, because a newer state exists (UsageChange.basedOnReadAtMs did not match) or because the
   * reading is more than an hour ahead of the store's clock. The rest of their outcomes is written.
   */
  readonly staleUsage: readonly number[];
  /** Cards whose ICCID is no longer the one that was called: nothing of such an outcome is written. */
  readonly otherIccid: readonly number[];
}

/** The results of polls. */
export interface ResultRecords {
  /**
   * Writes a batch of outcomes in one transaction: last-polled times, verification and stopped flags, usage months,
   * usage records (one per changed reading).
   */
  write(outcomes: readonly PollOutcome[]): Promise<NotWritten>;

  /**
   * Adds usage of months that have not begun to the current month, and moves stops of those months there too. Works in order of
   * card id, is idempotent, and is safe while others write. @returns the ids of the cards, ascending.
   */
  foldBack(request: FoldBackRequest): Promise<readonly number[]>;

  /** Creates the usage partitions of this month and the next three. Idempotent. @param month YYYY-MM */
  ensurePartitions(month: string): Promise<void>;
}
