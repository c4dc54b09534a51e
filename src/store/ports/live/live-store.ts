// Port: the state that instances share while they poll. Two implementations (redis/, memory/), one contract suite.
//
// Words: a RING holds the member cards of one polling config, in buckets; the QUEUE of a task type holds due and running cards; a
// FAILING card is one whose last poll failed, and it waits for the next poll in the RETRY LANE; a LEASE is a claim on a queue
// entry that expires by itself; a TOKEN names one claim and fences late workers; a SLOT is the right to have one gateway call in
// flight. Operations interface, section 1.1, names the keys that operators use; each implementation stores the rest in its own
// way.
//
// Every method may be called twice with the same arguments (drivers re-send after a reconnect) and does its work only once. The
// store's own clock decides what is due or expired, never the caller's.
//
// Errors: CardpollError kind `unavailable` when the store cannot be reached in time.

import type { Card } from '../../../domain/cards/card.ts';
import type { Coordination } from './coordination.ts';
import type { Pace } from './pace.ts';
import type { FailureLog, HealthLog, HistoryLog, PollStats } from './poll-stats.ts';
import type { Rings } from './rings.ts';
import type { ManualList, WorkQueue } from './work-queue.ts';

export interface LiveStore {
  readonly rings: Rings;
  readonly work: WorkQueue;
  readonly manual: ManualList;
  readonly stats: PollStats;
  readonly failures: FailureLog;
  readonly history: HistoryLog;
  readonly health: HealthLog;
  readonly pace: Pace;
  readonly coordination: Coordination;
  readonly cards: CardCache;
  /** Shown by `cardpoll version` and `cardpoll doctor`. */
  readonly kind: 'redis' | 'embedded';
  /** Resolves when the store answers; throws CardpollError `unavailable` otherwise. */
  ping(): Promise<void>;
  /** The store's own clock, epoch milliseconds. */
  now(): Promise<number>;
  /**
   * @returns a text that names the servers and, if INFO is permitted, their run. It changes after a failover, when the
   * last writes may be lost, and after a restart.
   */
  identity(): Promise<string>;
  /** @returns the rights that this client needs and does not have in the store. */
  missingRights(): Promise<MissingRights>;
  /** @returns the state of the servers that take writes; none for an embedded store. */
  servers(): Promise<readonly LiveServer[]>;
  close(): Promise<void>;
}

/** Missing rights, as ACL rules that an administrator can grant. */
export interface MissingRights {
  readonly user: string;
  /** Rights without which cardpoll cannot work. */
  readonly needed: readonly string[];
  /** Rights without which new work starts up to a second later. */
  readonly useful: readonly string[];
}

/** The state of one server; a field is null when the server does not report it. */
export interface LiveServer {
  /** host:port */
  readonly address: string;
  /** Product and version, such as `Valkey 9.1.2`; for display. */
  readonly software: string | null;
  /** The version of Redis whose commands it supports; forks report it next to their own version. */
  readonly redisVersion: string | null;
  /** False for a replica that this client mistook for a master. */
  readonly writable: boolean | null;
  readonly usedBytes: number | null;
  /** Most memory that the server may use: its configured maximum, otherwise the memory of its machine. */
  readonly limitBytes: number | null;
  /** CPU time of the thread that runs commands, seconds since its start. */
  readonly threadSeconds: number | null;
  readonly replicas: number | null;
  readonly replicasInStep: number;
  /** True when every write is appended to a file. */
  readonly persistent: boolean | null;
  /** True when its last attempt to write to disk failed; by default it then refuses writes. */
  readonly savesFail: boolean;
}

/** The cache of cards, with all fields that a poll needs. */
export interface CardCache {
  /** @returns cached cards by id; cards that are not cached are absent. */
  get(cardIds: readonly number[]): Promise<Map<number, Card>>;
  /** Stores cards; each entry expires after `ttlMs` at the latest. */
  put(cards: readonly Card[], ttlMs: number): Promise<void>;
  drop(cardIds: readonly number[]): Promise<void>;
}
