// Port: the durable records. Two implementations (postgres/ through pg, embedded/ through PGlite), one contract
// suite, the same SQL.
//
// Errors: CardpollError kind `unavailable` when the database cannot be reached or refuses work for lack of
// resources (disk full, too many connections); `invalid`/`not_found` where a method says so.
import type { AuditEntry } from '../domain/audit.ts';
import type { Card, CardImport, CardMembership } from '../domain/card.ts';
import type { CardSelection, ManualTrigger, TriggerResult } from '../domain/manual-trigger.ts';
import type { PollOutcome } from '../domain/poll-outcome.ts';
import type { PollingConfig } from '../domain/polling-config.ts';
import type { TaskType } from '../domain/task-type.ts';
import type { AlertRecords } from './alert-records.ts';
import type { AuditRecords } from './audit-records.ts';
import type { CleanupRecords } from './cleanup-records.ts';

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
  /** Months (YYYY-MM) whose usage can be written, ascending. */
  readonly usageMonths: readonly string[];
}

// ---------------------------------------------------------------- cards

/** Everything `cards show` knows that is durable. */
export interface CardRecord extends Card {
  readonly lastPolledAtMs: Partial<Record<TaskType, number>>;
}

/** What a card used in a calendar month. */
export interface MonthlyUsage {
  /** YYYY-MM */
  readonly month: string;
  readonly usedMb: number;
}

export interface CardChanges {
  readonly changed: readonly CardMembership[];
  readonly removed: readonly number[];
  /** Hand this to the next call. */
  readonly mark: string;
}

export interface ImportCounts {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
}

/** An iccid that belongs to another card already; the row was left out. */
export interface ImportConflict {
  readonly cardId: number;
  readonly iccid: string;
}

/** One running import. Rows become visible chunk by chunk; a failed import keeps its finished chunks and may be repeated. */
export interface CardImportSession {
  /** Writes one chunk (up to 10,000 rows, card ids distinct within the chunk) in one short transaction. */
  write(rows: readonly CardImport[]): Promise<ImportCounts & { conflicts: readonly ImportConflict[] }>;
  close(): Promise<void>;
}

export interface ImportSessionOptions {
  /** Counts what would be done and writes nothing; a chunk knows nothing of those before it. */
  readonly dryRun: boolean;
}

/** Null leaves the attribute open. */
export interface CardFilter extends CardSelection {
  readonly stopped: boolean | null;
}

export type ListedCard = Omit<Card, 'usage'>;

export interface CardStretch {
  readonly cards: readonly ListedCard[];
  /** Where the next stretch begins; null: there are no further cards. */
  readonly nextAfterId: number | null;
}

export interface CardRecords {
  /** Cards with id > afterId in id order, at most `limit`: the initialiser's page. */
  page(afterId: number, limit: number): Promise<CardMembership[]>;
  byIds(cardIds: readonly number[]): Promise<Card[]>;
  /** By card_id or by iccid (18 or more digits are an iccid); null when unknown. */
  find(cardIdOrIccid: string): Promise<CardRecord | null>;
  /** The last `limit` months with a reading, the latest first. */
  monthlyUsage(cardId: number, limit: number): Promise<readonly MonthlyUsage[]>;
  /** Exact; takes seconds for tens of millions. */
  count(): Promise<number>;
  /** About how many cards there are, at once: exact for a small fleet, by the planner's knowledge for a large one. */
  estimate(): Promise<number>;
  openImport(options?: ImportSessionOptions): Promise<CardImportSession>;
  /**
   * Cards that match with id > afterId, in id order: at most `limit`, perhaps none although there are more, because one
   * call looks at a bounded number of cards.
   */
  list(filter: CardFilter, afterId: number, limit: number): Promise<CardStretch>;
  /** The highest card id; 0 without cards. */
  lastId(): Promise<number>;

  /** The mark of this instant: `changesSince` it reports every change not yet committed or visible now. */
  changeMark(): Promise<string>;
  /**
   * Cards added, changed in what decides their rings or what the cache holds (identity, carrier, status, allowance,
   * verified), or removed, by anyone (also plain SQL), committed after `mark`. At most `limit` changed and `limit`
   * removed cards a call; call again with the new mark until both are empty. Never misses a late commit.
   * Throws `conflict` / `change_mark_ahead` when the database is older than the mark (restored from a copy).
   */
  changesSince(mark: string, limit: number): Promise<CardChanges>;
}

// ---------------------------------------------------------------- results

export interface ResultRecords {
  /**
   * Writes a batch of outcomes in one transaction: last-polled times, verification and stopped flags, usage months,
   * usage records (one per changed reading).
   * @returns card ids whose usage was not written because a newer state exists (UsageChange.basedOnReadAtMs did not
   * match); everything else of those outcomes was written.
   */
  write(outcomes: readonly PollOutcome[]): Promise<{ staleUsage: readonly number[] }>;

  /** Creates the usage partitions of this month and the next three. Idempotent. @param month YYYY-MM */
  ensurePartitions(month: string): Promise<void>;
}

// ---------------------------------------------------------------- stops

/** A stop the gateway acknowledged although the card still runs. */
export interface UnconfirmedStop {
  /** Calls so far that ended like this. */
  readonly calls: number;
  /** Until the next call is allowed. */
  readonly retryInMs: number;
}

/**
 * The life of a stop: `requested` is written before the gateway is called, `done` when the gateway shows the card
 * stopped. Who finds `requested` older than a lease knows that somebody died around the call and must ask the gateway
 * for the card's status before calling again.
 */
export type StopClaim =
  // This caller, and nobody else, may call the gateway now; unresolved: an earlier caller died or failed around its call.
  | { readonly state: 'granted' | 'unresolved'; readonly usedMb: number; readonly allowanceMb: number }
  | { readonly state: 'held' } // another caller is at it
  | ({ readonly state: 'unconfirmed' } & UnconfirmedStop) // acknowledged without effect; not to be called again yet
  | { readonly state: 'not_over' } // unknown card, within its present allowance, or its usage is in doubt
  | { readonly state: 'done' };

/** A stop as it stands: at most one a card and month. */
export interface CardStop {
  /** YYYY-MM */
  readonly month: string;
  readonly usedMb: number;
  readonly allowanceMb: number;
  readonly requestedAtMs: number;
  /** When the gateway showed the card stopped; null while it does not. */
  readonly completedAtMs: number | null;
  /** Claims so far, and calls that were acknowledged without effect. */
  readonly attempts: number;
  readonly unconfirmed: number;
  readonly lastError: string | null;
}

export interface StopRecords {
  /** The last `limit` stops of a card, the latest first. */
  ofCard(cardId: number, limit: number): Promise<readonly CardStop[]>;
  /**
   * Claims the right to stop a card that the gateway shows running, if it is over its package by the records of this
   * moment: a card is stopped at most once a month. The claim is held for `leaseMs`.
   * @param month YYYY-MM
   */
  claim(cardId: number, month: string, leaseMs: number): Promise<StopClaim>;
  /**
   * The gateway shows the card stopped: marks the stop done and the card stopped, and records it in the audit trail, in one
   * transaction. @returns the entry; null where no stop was under way.
   */
  complete(cardId: number, month: string): Promise<AuditEntry | null>;
  /**
   * The gateway acknowledged the claimed call and does not show the card stopped: no further claim before a pause, 30 s
   * doubling to an hour. @returns null when the claim is no longer this caller's.
   */
  acknowledge(cardId: number, month: string): Promise<UnconfirmedStop | null>;
  /** The call certainly did not take effect (the gateway refused it): the next claim is granted at once. */
  abandon(cardId: number, month: string, error: string): Promise<void>;
  /** Cards that run although the gateway acknowledged their stop; counted up to UNCONFIRMED_STOPS_COUNTED. */
  unconfirmed(): Promise<number>;
}

// ---------------------------------------------------------------- configs

export interface ConfigRecords {
  list(): Promise<PollingConfig[]>;
  create(config: Omit<PollingConfig, 'id'>): Promise<PollingConfig>;
  /** @returns the updated config, or null for an unknown id. */
  update(id: number, patch: Partial<Omit<PollingConfig, 'id'>>): Promise<PollingConfig | null>;
  /** @returns the config as it was, or null for an unknown id. */
  remove(id: number): Promise<PollingConfig | null>;
  /** Durable concurrency limits (the live store holds the ones in force). */
  concurrency(): Promise<Record<TaskType, number>>;
  setConcurrency(taskType: TaskType, max: number): Promise<void>;
}

// ---------------------------------------------------------------- manual triggers

export interface NewTrigger {
  readonly triggerId: string;
  readonly taskType: TaskType;
  readonly cards:
    | { readonly kind: 'single' | 'batch'; readonly cardIds: readonly number[] }
    | {
        readonly kind: 'by_condition';
        readonly selection: CardSelection;
        readonly total: number;
        readonly totalEstimated: boolean;
      };
}

/** A trigger the leader has work with. `cancelled`: cards to take back; otherwise cards to hand out. */
export type FeedingTrigger = Pick<ManualTrigger, 'triggerId' | 'taskType' | 'status'>;

/** A card that was handed out and whose result is still to come. */
export type OwedCard = Pick<TriggerResult, 'triggerId' | 'cardId'>;

/**
 * Triggers and the count of their results. A card is handed out (written down as owed) before it goes into the
 * manual list, and counted once, when its first result comes: results may come twice, cards be handed out again.
 */
export interface TriggerRecords {
  /**
   * Records a trigger and hands out the first `handOut` cards of a list at once; a list without cards is completed.
   * @returns the trigger, and the cards to put into the manual list now.
   */
  create(
    trigger: NewTrigger,
    handOut: number,
  ): Promise<{ trigger: ManualTrigger; cardIds: readonly number[] }>;
  find(triggerId: string): Promise<ManualTrigger | null>;
  /** One page of all triggers, newest first. @param page from 1 */
  list(page: number, pageSize: number): Promise<{ items: readonly ManualTrigger[]; total: number }>;
  /** Unfinished triggers that still ask for a poll of this card, newest first. */
  openFor(
    card: Pick<Card, 'cardId' | 'carrierId' | 'status'>,
    limit: number,
  ): Promise<readonly ManualTrigger[]>;
  /** Cards that match; the planner's estimate where counting takes longer than `withinMs`. */
  countSelected(
    selection: CardSelection,
    withinMs: number,
  ): Promise<{ readonly count: number; readonly estimated: boolean }>;
  /** Triggers that are not over. */
  countOpen(): Promise<number>;
  /** Those of the cards that exist. */
  knownCards(cardIds: readonly number[]): Promise<readonly number[]>;
  /** Cancels an unfinished trigger; results of cards that run go on being counted. @returns null for any other. */
  cancel(triggerId: string): Promise<ManualTrigger | null>;

  /** Triggers that need the leader, oldest first. */
  feeding(limit: number): Promise<readonly FeedingTrigger[]>;
  /**
   * Hands out the next cards, at most `limit`, perhaps none although there are more: one call looks at a bounded
   * number of cards. Each card is handed out by one caller only. When there are no more, `total` becomes exact: cards
   * that were counted at the start and are gone by now count as failed.
   */
  handOut(
    triggerId: string,
    limit: number,
  ): Promise<{ readonly cardIds: readonly number[]; readonly more: boolean }>;
  /** Counts results, each card once; completes a trigger with its last one. Safe to repeat. */
  count(results: readonly TriggerResult[]): Promise<void>;
  /** Owed cards of unfinished triggers last put into the list more than `olderThanMs` ago, in a fixed order after `after`. */
  owed(
    taskType: TaskType,
    olderThanMs: number,
    after: OwedCard | null,
    limit: number,
  ): Promise<readonly OwedCard[]>;
  /** Notes that the cards are put into the list again. @returns those that are still owed: only they are to be put. */
  handOutAgain(cards: readonly OwedCard[]): Promise<readonly OwedCard[]>;
  /** Of a cancelled trigger nothing but these running cards is owed any more. */
  takeBack(triggerId: string, runningCardIds: readonly number[]): Promise<void>;
}

// ---------------------------------------------------------------- migrations

export interface MigrationState {
  readonly id: string;
  readonly appliedAtMs: number | null;
  /** Applied by a later release, which this one knows nothing of. */
  readonly newer: boolean;
}

export interface Migrations {
  /** Those of this release in order, then newer ones. */
  status(): Promise<MigrationState[]>;
  /** Applies what is missing under an advisory lock. @returns ids applied now. Throws `config` when an applied file changed. */
  up(): Promise<string[]>;
}
