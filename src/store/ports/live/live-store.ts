// Port: the hot, shared coordination state. Two implementations (redis/, memory/), one contract suite.
//
// Words: a RING holds the member cards of one polling config, in buckets; the QUEUE of a task type holds what is due or
// running; a FAILING card is one whose last poll failed, and waits for its next one in the RETRY LANE; a LEASE is a claim on
// a queue entry that ends by itself; a TOKEN names one claim and fences late workers; a SLOT is the right to have one
// gateway call in flight. Operations interface, section 1.1, names the keys operators look at; how each implementation
// stores the rest is its own business.
//
// Every method may be sent twice with the same arguments (drivers re-send after a reconnect) without doing its work
// twice. The store's own clock decides what is due or expired, never the caller's.
//
// Errors: CardpollError kind `unavailable` when the store cannot be reached in time.
import type { CardCache } from './card-cache.ts';
import type { Coordination } from './coordination.ts';
import type { FailureLog } from './failure-log.ts';
import type { HealthLog } from './health-log.ts';
import type { HistoryLog } from './history-log.ts';
import type { ManualList } from './manual-list.ts';
import type { PollStats } from './poll-stats.ts';
import type { RequestClaims } from './request-claims.ts';
import type { Rings } from './rings.ts';
import type { WorkQueue } from './work-queue.ts';

export interface LiveStore {
  readonly rings: Rings;
  readonly work: WorkQueue;
  readonly manual: ManualList;
  readonly stats: PollStats;
  readonly failures: FailureLog;
  readonly history: HistoryLog;
  readonly health: HealthLog;
  readonly coordination: Coordination;
  readonly cards: CardCache;
  readonly requests: RequestClaims;
  /** `redis` or `embedded`; shown by version and doctor outputs. */
  readonly kind: 'redis' | 'embedded';
  /** Resolves when the store answers; throws CardpollError `unavailable` otherwise. */
  ping(): Promise<void>;
  /** The store's own clock, epoch milliseconds. */
  now(): Promise<number>;
  /**
   * Names the server(s) and, where they tell, their run: another one after a failover, when the last writes may be lost,
   * and after a restart.
   */
  identity(): Promise<string>;
  /** What this client may not do in the store, although cardpoll does it. */
  missingRights(): Promise<MissingRights>;
  /** How the servers are that take writes; none for an embedded store. */
  servers(): Promise<readonly LiveServer[]>;
  close(): Promise<void>;
}

/** As the store's administrator would grant them. */
export interface MissingRights {
  readonly user: string;
  /** Without them nothing works. */
  readonly needed: readonly string[];
  /** Without them work begins a moment later. */
  readonly useful: readonly string[];
}

/** null: the server does not tell. */
export interface LiveServer {
  /** host:port */
  readonly address: string;
  readonly version: string | null;
  /** False for a replica that was taken for a master. */
  readonly writable: boolean | null;
  readonly usedBytes: number | null;
  /** What it may use at most, by its configuration or else by its machine. */
  readonly limitBytes: number | null;
  readonly replicas: number | null;
  readonly replicasInStep: number;
  /** Whether every write is appended to a file. */
  readonly persistent: boolean | null;
  /** Its last attempt to write to disk failed; it refuses writes by default then. */
  readonly savesFail: boolean;
}
