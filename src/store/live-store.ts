// Port: the hot, shared coordination state. Two implementations (redis/, embedded/), one contract suite.
//
// Words: a RING holds the member cards of one polling config, in buckets; the QUEUE of a task type holds what is due,
// in retry or running; a LEASE is a claim on a queue entry that ends by itself; a TOKEN names one claim and fences
// late workers; a SLOT is the right to have one gateway call in flight. Section 1.1 of the specification names the
// keys operators look at; how each implementation stores the rest is its own business.
//
// Every method may be sent twice with the same arguments (drivers re-send after a reconnect) without doing its work
// twice. The store's own clock decides what is due or expired, never the caller's.
//
// Errors: CardpollError kind `unavailable` when the store cannot be reached in time.
import type { Card } from '../domain/card.ts';
import type { RingClock } from '../domain/phase.ts';
import type { TaskType } from '../domain/task-type.ts';

export interface LiveStore {
  readonly rings: Rings;
  readonly work: WorkQueue;
  readonly stats: PollStats;
  readonly coordination: Coordination;
  readonly cards: CardCache;
  readonly requests: RequestClaims;
  /** `redis` or `embedded`; shown by version and doctor outputs. */
  readonly kind: 'redis' | 'embedded';
  /** Resolves when the store answers; throws CardpollError `unavailable` otherwise. */
  ping(): Promise<void>;
  /** The store's own clock, epoch milliseconds. */
  now(): Promise<number>;
  close(): Promise<void>;
}

// ---------------------------------------------------------------- rings

/** Identifies the ring of one polling config. */
export interface RingId {
  readonly configId: number;
  readonly taskType: TaskType;
}

export interface RingState extends RingId, RingClock {
  readonly enabled: boolean;
  /** Generation whose buckets are in use. 0: the ring was configured but never built. */
  readonly generation: number;
  /** Member cards of the generation in use. */
  readonly members: number;
  /** Present while a further generation is being built. */
  readonly building: { readonly generation: number; readonly buckets: number } | null;
}

export interface AdvanceResult {
  readonly ring: RingState;
  /** Cards moved into the queue (already queued ones are not counted). */
  readonly moved: number;
  readonly queueLength: number;
}

export interface Rings {
  list(): Promise<RingState[]>;

  /**
   * Creates the ring (anchored now, cursor 0, one generation-0 state without buckets) or applies interval and
   * enabled to an existing one. A changed interval keeps the cursor and re-anchors so that the next bucket is due
   * at the earlier of its old due time and one new step from now. Re-enabling keeps the cursor but never lets the
   * pause count as lag: the next bucket is due now at the latest one step from now.
   */
  configure(ring: RingId, settings: { intervalMs: number; enabled: boolean }): Promise<RingState>;

  /**
   * Begins generation n+1 with `buckets` buckets, discarding an unfinished one. With `activate` (first build) it is
   * in use at once, while it fills. Without, `activate()` below switches to it.
   */
  startGeneration(ring: RingId, buckets: number, options: { activate: boolean }): Promise<RingState>;

  /** Switches to the generation being built: same phase for every card, cursor scaled to its buckets. Then removes the old one's buckets. No-op when nothing is being built. */
  activate(ring: RingId): Promise<RingState>;

  /** Adds cards to the generation in use and to the one being built. Returns how many were new to the one in use. Any number of ids. */
  add(ring: RingId, cardIds: readonly number[]): Promise<number>;

  /** Removes cards from both. Returns how many were in the one in use. */
  remove(ring: RingId, cardIds: readonly number[]): Promise<number>;

  /** Which of these cards are in the generation in use. */
  contains(ring: RingId, cardIds: readonly number[]): Promise<boolean[]>;

  /** Removes the ring and its buckets. */
  drop(ring: RingId): Promise<void>;

  /**
   * Moves up to `maxBuckets` due buckets into the queue, each card with the instant its bucket was due, unless the
   * card is queued already. Moves nothing while disabled, never built, or while the queue holds >= queueCap entries.
   * A cursor more than one interval late first skips whole revolutions (the cards of one revolution are all a late
   * ring can owe). Refused (moved 0) for a fencing token lower than one seen before.
   */
  advance(
    ring: RingId,
    limits: { maxBuckets: number; queueCap: number; fence: number },
  ): Promise<AdvanceResult>;
}

// ---------------------------------------------------------------- work

export type Lane = 'schedule' | 'manual';

/** One claimed piece of work. Hand it back unchanged to release and settle. */
export interface WorkItem {
  readonly cardId: number;
  readonly lane: Lane;
  /** Lane `manual`: the entry of the manual list, `<card_id>` or `<card_id>:<trigger_id>`. Lane `schedule`: the card id. */
  readonly member: string;
  /** Opaque; unique to the claim. */
  readonly token: string;
}

export interface Claim {
  readonly items: readonly WorkItem[];
  /** Slots left fleet-wide after this claim. */
  readonly freeSlots: number;
  /** Milliseconds for which the type is paused fleet-wide; 0 when it is not. */
  readonly pausedMs: number;
}

export interface Settlement {
  readonly item: WorkItem;
  /**
   * done: leaves the queue. failed: due again after a backoff, see settle (lane manual: leaves, nothing is retried).
   * returned: never started; due again at once (lane manual: back to the head of the list).
   */
  readonly verdict: 'done' | 'failed' | 'returned';
  /** Uniform in [0, 1): the jitter of the backoff. */
  readonly random: number;
}

export interface QueueCounts {
  /** ZCARD of the queue: due, in retry and running. */
  readonly queueLength: number;
  /** Entries whose time has come and which nobody holds. */
  readonly due: number;
  /** Slots in use. */
  readonly inFlight: number;
  /** LLEN of the manual list. */
  readonly manualLength: number;
  /** Configured limit; null before anyone set one. */
  readonly maxConcurrency: number | null;
}

export interface WorkQueue {
  /**
   * Claims up to `max` items, never more than there are free slots. Expired leases are taken back first (slots freed,
   * manual entries returned to their list's head). Manual work goes first but, while the schedule has due work too,
   * takes at most half of the items (and the reverse). Sent twice with the same workerId and claimNumber it returns
   * the same items. Claims nothing while the type is paused.
   */
  claim(
    taskType: TaskType,
    request: { workerId: string; claimNumber: number; max: number; leaseMs: number },
  ): Promise<Claim>;

  /** Gives slots back: the gateway call is over. Items whose slot is no longer theirs are skipped. */
  release(taskType: TaskType, items: readonly WorkItem[]): Promise<void>;

  /**
   * Ends items whose result is durable (or failed, or was never started). An item whose lease is no longer its own
   * (late worker, reset) is left alone and counted as fenced. Slots still held by the items are released too.
   * A failed item is due again after random * baseMs * 2^(failures in a row - 1). Once that backoff reaches capMs it
   * leaves the queue instead, its failures remembered: the ring brings it back, so that cards which always fail do not
   * fill the queue.
   */
  settle(
    taskType: TaskType,
    settlements: readonly Settlement[],
    backoff: { baseMs: number; capMs: number },
  ): Promise<{ fenced: number }>;

  /** Appends entries (`<card_id>` or `<card_id>:<trigger_id>`) to the manual list. Not idempotent by itself: callers own the trigger. */
  pushManual(taskType: TaskType, entries: readonly string[]): Promise<void>;

  /**
   * Takes the waiting entries of a trigger out of the manual list, in short steps; what runs goes on. Entries that
   * keep their place may change their order a little. @returns how many were taken out.
   */
  removeManual(taskType: TaskType, triggerId: string): Promise<number>;

  /** Entries of the manual list that are claimed and not settled yet. */
  runningManual(taskType: TaskType): Promise<readonly string[]>;

  /** Which of these entries neither wait in the manual list nor run. May name one that was returned just now. */
  missingManual(taskType: TaskType, entries: readonly string[]): Promise<readonly string[]>;

  counts(taskType: TaskType): Promise<QueueCounts>;

  setMaxConcurrency(taskType: TaskType, max: number): Promise<void>;
  /** Sets the limit only if none is set. */
  seedMaxConcurrency(taskType: TaskType, max: number): Promise<void>;

  /** Clears all slots of the type and fences their holders: their cards are due again at once. */
  resetSlots(taskType: TaskType): Promise<{ previous: number; current: number }>;

  /**
   * Takes back what expired and writes the running count anew, with no claim. Also heals a foreign running count.
   * @returns expired slots, and the count found before when it differed from the slots held.
   */
  reap(taskType: TaskType): Promise<{ expiredSlots: number; healedFrom: number | null }>;

  /** Pauses claiming of the type fleet-wide for `ms`; a longer pause in force stays. */
  pause(taskType: TaskType, ms: number): Promise<void>;
}

// ---------------------------------------------------------------- statistics

export interface StatsDelta {
  readonly succeeded: number;
  readonly failed: number;
  /** Sum of the durations of all of these, milliseconds. */
  readonly durationMs: number;
}

export interface StatsReading {
  /** Since start of counting. */
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Over the last five minutes. */
  readonly window: {
    readonly succeeded: number;
    readonly failed: number;
    readonly durationMs: number;
    readonly seconds: number;
  };
}

/** Length of the rolling window of success_rate and avg_duration_ms (03, "Fields"). */
export const STATS_WINDOW_SECONDS = 300;

export interface PollStats {
  /** Adds a worker's counts. `flushNumber` grows by one a flush: a flush that comes twice counts once. */
  record(taskType: TaskType, workerId: string, flushNumber: number, delta: StatsDelta): Promise<void>;
  read(taskType: TaskType): Promise<StatsReading>;
}

// ---------------------------------------------------------------- coordination

export interface WorkerInfo {
  readonly workerId: string;
  readonly hostname: string;
  readonly pid: number;
  readonly version: string;
  readonly roles: readonly string[];
  readonly startedAtMs: number;
  readonly heartbeatAtMs: number;
  /** Gateway calls this instance has in flight. */
  readonly inFlight: number;
  /** Card cache look-ups of this instance since its start. */
  readonly cacheHits: number;
  readonly cacheMisses: number;
}

export type InitStatus = 'pending' | 'running' | 'completed';

export interface InitProgress {
  readonly status: InitStatus;
  readonly total: number;
  readonly loaded: number;
  readonly lastCardId: number;
  readonly batch: number;
  readonly batches: number;
  readonly startedAtMs: number | null;
  readonly updatedAtMs: number | null;
  readonly finishedAtMs: number | null;
  /** Record-store change mark up to which cards are reflected in the rings; the sync goes on from here. */
  readonly changeMark: string;
}

/** Before the first build, and where the store lost everything. */
export const INIT_NOT_STARTED: InitProgress = {
  status: 'pending',
  total: 0,
  loaded: 0,
  lastCardId: 0,
  batch: 0,
  batches: 0,
  startedAtMs: null,
  updatedAtMs: null,
  finishedAtMs: null,
  changeMark: '',
};

export interface Coordination {
  /**
   * Takes or renews the named lease. @returns the fencing token (same while the holder renews, greater for every new
   * holder), or null while another holder has it.
   */
  lead(lease: string, holder: string, ttlMs: number): Promise<number | null>;
  resign(lease: string, holder: string): Promise<void>;

  heartbeat(worker: WorkerInfo, ttlMs: number): Promise<void>;
  /** Live workers, by worker id. */
  workers(): Promise<WorkerInfo[]>;
  /** Forgets a worker that ended in order. */
  leave(workerId: string): Promise<void>;
  /** Forgets workers whose heartbeat ran out and everything kept for them. @returns their ids. */
  reapWorkers(): Promise<string[]>;

  initProgress(): Promise<InitProgress>;
  saveInitProgress(progress: InitProgress): Promise<void>;
}

// ---------------------------------------------------------------- card cache

export interface CardCache {
  /** Cached cards by id; missing ones are absent. */
  get(cardIds: readonly number[]): Promise<Map<number, Card>>;
  /** Stores cards; each entry lives at most `ttlMs`. */
  put(cards: readonly Card[], ttlMs: number): Promise<void>;
  drop(cardIds: readonly number[]): Promise<void>;
}

// ---------------------------------------------------------------- requests that may be sent again

/** What a finished request was answered. */
export interface RequestAnswer {
  readonly status: number;
  readonly body: string;
}

export type RequestClaim =
  | { readonly state: 'granted' } // this attempt, and no other, may run the request now
  | { readonly state: 'running' } // another attempt is at it
  | { readonly state: 'answered'; readonly answer: RequestAnswer }
  | { readonly state: 'different' }; // the key stands for another request

/** Makes a request that carries a key of its sender's choice run once, on whichever instance it arrives. */
export interface RequestClaims {
  /**
   * Claims the key for one attempt at a request. The claim ends by itself after `leaseMs`: an attempt whose instance
   * died keeps nobody away for longer.
   */
  claim(
    key: string,
    request: { readonly attempt: string; readonly fingerprint: string; readonly leaseMs: number },
  ): Promise<RequestClaim>;
  /** Keeps the answer for `keepMs`; does nothing when the claim is no longer this attempt's. */
  complete(key: string, attempt: string, answer: RequestAnswer, keepMs: number): Promise<void>;
  /** Frees the key at once, as if it had never been used; does nothing when the claim is no longer this attempt's. */
  abandon(key: string, attempt: string): Promise<void>;
}
