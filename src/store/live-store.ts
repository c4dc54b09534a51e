// Port: the hot, shared coordination state. Two implementations (redis/, embedded/), one contract suite.
//
// Words: a RING holds the member cards of one polling config, in buckets; the QUEUE of a task type holds what is due
// or running; a FAILING card is one whose last poll failed, and waits for its next one in the RETRY LANE; a LEASE is a claim on a queue entry that ends by itself; a TOKEN names one claim and fences
// late workers; a SLOT is the right to have one gateway call in flight. Operations interface, section 1.1, names the
// keys operators look at; how each implementation stores the rest is its own business.
//
// Every method may be sent twice with the same arguments (drivers re-send after a reconnect) without doing its work
// twice. The store's own clock decides what is due or expired, never the caller's.
//
// Errors: CardpollError kind `unavailable` when the store cannot be reached in time.
import type { BreakerReport } from '../domain/breaker.ts';
import type { Card } from '../domain/card.ts';
import type { CurvePoint } from '../domain/concurrency-curve.ts';
import type { Counts } from '../domain/counts.ts';
import type { Durations } from '../domain/durations.ts';
import type { LimitMemory } from '../domain/effective-limit.ts';
import type { HistorySample, HistoryStep } from '../domain/history.ts';
import type { RingClock, RingShape } from '../domain/phase.ts';
import type { PollWindow } from '../domain/task-metrics.ts';
import type { TaskType } from '../domain/task-type.ts';

export interface LiveStore {
  readonly rings: Rings;
  readonly work: WorkQueue;
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
  /** Names the server(s) and their run: another one after a restart or failover, when the last writes may be lost. */
  identity(): Promise<string>;
  /** How the servers are that take writes; none for an embedded store. */
  servers(): Promise<readonly LiveServer[]>;
  close(): Promise<void>;
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

// ---------------------------------------------------------------- rings

/** Identifies the ring of one polling config. */
export interface RingId {
  readonly configId: number;
  readonly taskType: TaskType;
}

/** One build of a ring's buckets. */
export interface RingGeneration extends RingShape {
  readonly generation: number;
  readonly members: number;
  /** For which selection of cards it was built (domain/polling-config.ts); '' for one built before that was kept. */
  readonly selection: string;
}

/** `generation`, `members` ... are those in use. Generation 0: the ring was configured but never built. */
export interface RingState extends RingId, RingClock, RingGeneration {
  readonly enabled: boolean;
  /** False while the generation in use is filled for the first time. */
  readonly loaded: boolean;
  /** Present while a further generation is being built, for another selection. */
  readonly building: RingGeneration | null;
  /** Whole revolutions that were left out because the ring was more than one behind, since the ring exists. */
  readonly skippedRevolutions: number;
  /** How long the last whole revolution took; null before the first one, and after a change of interval or a pause. */
  readonly achievedIntervalMs: number | null;
  /** When the revolution under way began; null before the cursor passed the ring's beginning. */
  readonly lapStartedAtMs: number | null;
}

export interface AdvanceResult {
  readonly ring: RingState;
  /** Cards moved into the queue or the retry lane (those already there are not counted). */
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
  startGeneration(
    ring: RingId,
    buckets: number,
    options: { activate: boolean; selection?: string },
  ): Promise<RingState>;

  /**
   * All cards are loaded: switches to the generation being built (same phase for every card, cursor scaled to its
   * buckets) and removes the old one's buckets. Without one, notes that the generation in use is loaded.
   */
  activate(ring: RingId): Promise<RingState>;

  /**
   * Adds cards to the generation in use and to the one being built. Splits buckets as they fill, so that none is ever
   * far above the size it is planned for. Returns how many cards were new to the one in use. Any number of ids.
   */
  add(ring: RingId, cardIds: readonly number[]): Promise<number>;

  /** Removes cards from both. Returns how many were in the one in use. */
  remove(ring: RingId, cardIds: readonly number[]): Promise<number>;

  /**
   * Splits or merges buckets of both generations towards what their members ask for, at most about `maxSteps`. No
   * card's phase moves. @returns true when there is more to do.
   */
  resize(ring: RingId, maxSteps: number): Promise<boolean>;

  /** Which of these cards are in the generation in use. */
  contains(ring: RingId, cardIds: readonly number[]): Promise<boolean[]>;

  /**
   * Members of the generation in use, at most `maxBuckets` whole buckets of them, from `fromPhase` on: 0 (inclusive) to
   * 1 of the interval. A place that survives splits and merges. nextPhase: where to go on; null after the last bucket.
   */
  page(
    ring: RingId,
    fromPhase: number,
    maxBuckets: number,
  ): Promise<{ readonly cardIds: readonly number[]; readonly nextPhase: number | null }>;

  /**
   * Counts `members` anew from the buckets of the generation in use: after buckets were lost. A count during which the
   * ring changed is not kept. @returns the members by now
   */
  recount(ring: RingId): Promise<number>;

  /** Removes the ring and its buckets. */
  drop(ring: RingId): Promise<void>;

  /**
   * Moves up to `maxBuckets` due buckets into the queue, each card with the instant its bucket was due, unless the
   * card is queued already. Failing cards go into the retry lane instead, unless they wait there or run, or it holds
   * queueCap cards. Moves nothing while disabled, never built, or while the queue holds >= queueCap entries.
   * A cursor more than one interval late first skips whole revolutions (the cards of one revolution are all a late
   * ring can owe). Refused (moved 0) for a fencing token lower than one seen before.
   */
  advance(
    ring: RingId,
    limits: { maxBuckets: number; queueCap: number; fence: number },
  ): Promise<AdvanceResult>;
}

// ---------------------------------------------------------------- work

/** Failing cards that the retry lane of a task type keeps at most: about 20 MB. */
export const MAX_RETRIES_WAITING = 200_000;

export type Lane = 'schedule' | 'retry' | 'manual';

/** One claimed piece of work. Hand it back unchanged to release and settle. */
export interface WorkItem {
  readonly cardId: number;
  readonly lane: Lane;
  /** Lane `manual`: the entry of the manual list, `<card_id>` or `<card_id>:<trigger_id>`. Otherwise the card id. */
  readonly member: string;
  /** Its last scheduled poll failed. Always true in lane `retry`. */
  readonly failing: boolean;
  /** Opaque; unique to the claim. */
  readonly token: string;
}

export interface ClaimRequest {
  readonly workerId: string;
  readonly claimNumber: number;
  readonly max: number;
  readonly leaseMs: number;
  /** Whether the retry lane may be claimed from too; true when absent. */
  readonly retries?: boolean;
}

export interface Claim {
  readonly items: readonly WorkItem[];
  /** The store's clock when the items were claimed, epoch milliseconds; null without items. */
  readonly claimedAtMs: number | null;
  /**
   * How long each card of lane `schedule` has been due, milliseconds: by its ring, or since a lease on it ended or it was
   * returned. Empty when the claim was sent again: then nobody knows any more.
   */
  readonly lateMs: readonly number[];
  /** Slots left fleet-wide after this claim. */
  readonly freeSlots: number;
  /** Milliseconds for which the type is paused fleet-wide, by whoever paused it for longest; 0 when it is not. */
  readonly pausedMs: number;
}

/** Who paused a task type. */
export type PauseSource = 'gateway' | 'operator';

export interface PauseRequest {
  readonly source: PauseSource;
  readonly ms: number;
  readonly reason: string;
  /** The operator, or the worker that heard the gateway. */
  readonly by: string;
}

export interface Pause {
  readonly taskType: TaskType;
  readonly source: PauseSource;
  readonly reason: string;
  readonly by: string;
  readonly sinceMs: number;
  readonly untilMs: number;
}

export interface Settlement {
  readonly item: WorkItem;
  /**
   * done: leaves the queue. failed: waits in the retry lane, see settle (lane manual: leaves, nothing is retried).
   * returned: never started; due again at once in its lane (lane manual: back to the head of the list).
   */
  readonly verdict: 'done' | 'failed' | 'returned';
  /** Uniform in [0, 1): the jitter of the backoff. */
  readonly random: number;
  /** Verdict failed: how long the card must wait at least, whatever its backoff, milliseconds. */
  readonly waitMs?: number;
}

export interface QueueCounts {
  /** ZCARD of the queue: due and running. */
  readonly queueLength: number;
  /** Entries whose time has come and which nobody holds. */
  readonly due: number;
  /** Failing cards whose time to be asked again has come. */
  readonly retryDue: number;
  /** Failing cards that wait for that time. */
  readonly backoff: number;
  /** Slots in use. */
  readonly inFlight: number;
  /** LLEN of the manual list. */
  readonly manualLength: number;
  /** Configured limit; null before anyone set one. */
  readonly maxConcurrency: number | null;
  /** The limit in force: the configured one (its default before anyone set one), or less while the leader lowered it. */
  readonly effectiveConcurrency: number;
}

/** Where one card stands in the work of a task type. In the queue it is `queued` or `running`, never both. */
export interface CardPlace {
  /** Due, and nobody holds it; `before`: entries of the queue that come first. */
  readonly queued: { readonly dueAtMs: number; readonly before: number } | null;
  /** A worker holds it; calling: its gateway call is under way, else its result is being written. */
  readonly running: { readonly leaseEndsAtMs: number; readonly calling: boolean } | null;
  /** In the retry lane; `before`: entries of the lane that come first. */
  readonly retry: { readonly atMs: number; readonly before: number } | null;
  readonly failuresInARow: number;
  /** Of the manual entries asked about: the first that waits, with the entries before it, and whether one runs. */
  readonly manual: { readonly waiting: { readonly before: number } | null; readonly running: boolean };
}

export interface RunningCount {
  /** As it stands there, whoever wrote it; null where nothing does. */
  readonly shown: string | null;
  /** Slots held, those included whose lease ended and which nobody took back yet. */
  readonly held: number;
  /** Those of them whose lease has not ended. */
  readonly live: number;
}

/** What the leader knows of the limit of a task type: kept for whoever leads next and for whoever asks. */
export interface LimitRecord extends LimitMemory {
  /** Why the effective limit is below the configured one; null while it is not. */
  readonly reason: string | null;
  readonly curve: readonly CurvePoint[];
}

export interface WorkQueue {
  /**
   * Claims up to `max` items, never more than there are free slots. Expired leases are taken back first (slots freed,
   * manual entries returned to their list's head). Manual work goes first but, while the schedule has due work too,
   * takes at most half of the items (and the reverse). Retries hold at most a tenth of the slots (on average over time
   * where that is no whole number) while other work is due or was claimed within the last second, and may have all of
   * them otherwise; `retries: false` leaves the retry lane alone. Sent twice with the same workerId and claimNumber it
   * returns the same items. Claims nothing while the type is paused.
   */
  claim(taskType: TaskType, request: ClaimRequest): Promise<Claim>;

  /** Gives slots back: the gateway call is over. Items whose slot is no longer theirs are skipped. */
  release(taskType: TaskType, items: readonly WorkItem[]): Promise<void>;

  /**
   * Ends items whose result is durable (or failed, or was never started). An item whose lease is no longer its own
   * (late worker, reset) is left alone and counted as fenced. Slots still held by the items are released too.
   * A failed card may be asked again after random * baseMs * 2^(failures in a row - 1), and not before its waitMs; until
   * then it waits in the retry lane. Once that backoff reaches capMs (0: at once), or while the lane holds
   * MAX_RETRIES_WAITING cards, it is parked: in neither, its failures remembered, until its ring asks for it again.
   */
  settle(
    taskType: TaskType,
    settlements: readonly Settlement[],
    backoff: { baseMs: number; capMs: number },
  ): Promise<{ fenced: number }>;

  /** Forgets that cards failed, and their retries: they are removed from the fleet. Of every task type. */
  forgetCards(cardIds: readonly number[]): Promise<void>;

  /**
   * Calls the listener soon after work of the type was added (cards became due, manual entries came), wherever that
   * happened. A hint: it may come without work, and may be lost while the store is away. @returns ends that.
   */
  onWork(taskType: TaskType, listener: () => void): () => void;

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

  /**
   * Finds one card, in the time of a few look-ups however much work there is. @param manualEntries entries of the manual
   * list that stand for it, looked for among the first 100,000.
   */
  place(taskType: TaskType, cardId: number, manualEntries: readonly string[]): Promise<CardPlace>;

  /** The running count as operators see it, and the slots it should show; both of one instant. */
  runningCount(taskType: TaskType): Promise<RunningCount>;

  setMaxConcurrency(taskType: TaskType, max: number): Promise<void>;
  /** Sets the limit only if none is set. */
  seedMaxConcurrency(taskType: TaskType, max: number): Promise<void>;

  /** Lowers the limit in force to `limit`, in force with the next claim; null: the configured one alone counts. */
  setEffectiveConcurrency(taskType: TaskType, limit: number | null): Promise<void>;
  /** Lowers the limit in force only if it is not lowered yet. */
  seedEffectiveConcurrency(taskType: TaskType, limit: number): Promise<void>;
  /** What the leader saved last; null when nobody did. */
  limitRecord(taskType: TaskType): Promise<LimitRecord | null>;
  saveLimitRecord(taskType: TaskType, record: LimitRecord): Promise<void>;

  /** Clears all slots of the type and fences their holders: their cards are due again at once. */
  resetSlots(taskType: TaskType): Promise<{ previous: number; current: number }>;

  /**
   * Takes back what expired and writes the running count anew, with no claim. Also heals a foreign running count.
   * @returns expired slots, and the count found before when it differed from the slots held.
   */
  reap(taskType: TaskType): Promise<{ expiredSlots: number; healedFrom: number | null }>;

  /**
   * Pauses claiming of the type fleet-wide. The gateway's pause in force is prolonged (and goes on where it is longer),
   * an operator's replaces an operator's; neither hides or shortens the other.
   */
  pause(taskType: TaskType, pause: PauseRequest): Promise<void>;

  /** Ends every pause of the type. @returns those that were in force. */
  resume(taskType: TaskType): Promise<Pause[]>;

  /** The pauses in force, of every task type. */
  pauses(): Promise<Pause[]>;
}

// ---------------------------------------------------------------- statistics

export interface StatsDelta {
  readonly succeeded: number;
  readonly failed: number;
  /** Sum of the durations of all of these, milliseconds. */
  readonly durationMs: number;
  /** How many of the failed were answered 429 or 503. Absent, here and below: 0. */
  readonly backpressure?: number;
  /** How many of the failed timed out. */
  readonly timeouts?: number;
  /** Sum of the durations of the succeeded alone, milliseconds. */
  readonly succeededMs?: number;
  /** Claims that found the limit used up. */
  readonly limitReached?: number;
  /** How long they took, one by one. Absent, here and below: none. */
  readonly durations?: Durations;
  /** Why the failed failed: kind of failure ([a-z_]+) -> how many. */
  readonly reasons?: FailureReasons;
}

export type FailureReasons = Counts<string>;

export interface StatsReading {
  /** Since start of counting. */
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly backpressure: number;
  readonly timeouts: number;
  readonly succeededMs: number;
  readonly limitReached: number;
  /** Over the last five minutes. */
  readonly window: PollWindow & {
    readonly seconds: number;
    readonly durations: Durations;
    readonly reasons: FailureReasons;
  };
  /** Over the last ten to twenty seconds: what happens now. */
  readonly recent: { readonly polls: number; readonly seconds: number; readonly durations: Durations };
}

/** Length of the rolling window of success_rate and avg_duration_ms (contract, "Fields"). */
export const STATS_WINDOW_SECONDS = 300;
/** Polls are counted by slots of this length; `recent` is the present slot and the one before. */
export const STATS_SLOT_SECONDS = 10;

export interface PollStats {
  /** Adds a worker's counts. `flushNumber` grows by one a flush: a flush that comes twice counts once. */
  record(taskType: TaskType, workerId: string, flushNumber: number, delta: StatsDelta): Promise<void>;
  read(taskType: TaskType): Promise<StatsReading>;
}

/** What kept a card's last poll from an answer. */
export interface FailureNote {
  readonly cardId: number;
  /** Kind of failure. */
  readonly reason: string;
  readonly message: string;
  readonly durationMs: number;
}

export interface NotedFailure extends FailureNote {
  readonly atMs: number;
  /** Failures of scheduled polls in a row; 0 when the card has been polled successfully since. */
  readonly inARow: number;
}

/** Cards whose last failure is remembered, a task type: the latest. */
export const MAX_FAILURES_NOTED = 10_000;

/** Remembers why polls of single cards failed, for whoever asks about a card. */
export interface FailureLog {
  /** Replaces what was noted of these cards. */
  note(taskType: TaskType, failures: readonly FailureNote[]): Promise<void>;
  /** null: it never failed, or many others failed later. */
  last(taskType: TaskType, cardId: number): Promise<NotedFailure | null>;
  /** @returns how many cards fail now, and those of them that failed last, the latest first; at most `max`, up to 100. */
  failing(taskType: TaskType, max: number): Promise<{ total: number; latest: readonly NotedFailure[] }>;
}

/** Samples of what the task types did, in a ring of fixed size for each step: the latest replace the oldest. */
export interface HistoryLog {
  /** A sample of the same step and time is replaced. */
  save(step: HistoryStep, sample: HistorySample): Promise<void>;
  /** Those at and after `sinceMs`, oldest first. */
  read(step: HistoryStep, sinceMs: number): Promise<readonly HistorySample[]>;
}

/** Since when something is wrong, told by names. */
export interface HealthLog {
  /** Notes that these hold now. What is not noted again for `holdsMs` has ended; noted after that, it begins anew. */
  note(names: readonly string[], holdsMs: number): Promise<void>;
  /** Name -> since when it holds without a gap. */
  since(): Promise<ReadonlyMap<string, number>>;
}

// ---------------------------------------------------------------- coordination

export interface WorkerInfo {
  readonly workerId: string;
  readonly hostname: string;
  readonly pid: number;
  readonly version: string;
  readonly roles: readonly string[];
  /** host:port where this instance answers probes: that of its API where it serves one. null while it does not listen. */
  readonly probeAddress: string | null;
  readonly startedAtMs: number;
  readonly heartbeatAtMs: number;
  /** Gateway calls this instance has in flight. */
  readonly inFlight: number;
  /** Card cache look-ups of this instance since its start. */
  readonly cacheHits: number;
  readonly cacheMisses: number;
  /** Breakers of this instance that are not closed. */
  readonly breakers: readonly BreakerReport[];
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
  /** What runs, or ran last: `build` fills rings, anything else compares all of them with the cards. */
  readonly reason: 'build' | ReconciliationReason;
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
  reason: 'build',
};

/** Why a pass of reconciliation runs. `continuous`: slowly, for ever; all others as fast as initialisation. */
export type ReconciliationReason =
  | 'continuous'
  | 'requested' // by an operator
  | 'live_store_replaced' // failover or restart: writes may be lost
  | 'record_store_replaced' // failover, or restored from a copy
  | 'progress_lost' // the live store lost what the rings were in step with
  | 'members_lost'; // a continuous pass found that cards were missing

/** The comparison of rings and cards, and what it repaired since counting began. */
export interface Reconciliation {
  readonly reason: ReconciliationReason;
  /** Where the pass under way stands; '' between two passes. Only its owner reads it. */
  readonly position: string;
  /** Cards compared in the pass under way. */
  readonly checked: number;
  /** Repaired, or about to be, since the members were counted last; a pass that ends with any counts them anew. */
  readonly healed: number;
  readonly startedAtMs: number | null;
  /** When the last whole pass ended. */
  readonly sweptAtMs: number | null;
  /** Cards that were in no ring of a config that polls them. */
  readonly healedMissing: number;
  /** Members that are no card, or belong to another ring and were not in it. */
  readonly healedForeign: number;
  /** Members that belong to another ring and were in that too. */
  readonly healedDouble: number;
  /** The stores with which the rings were in step last (`identity()`); '' before that was noted. */
  readonly liveIdentity: string;
  readonly recordIdentity: string;
  /** The last request for a pass (its time is its name), and the last one that was answered with a pass. */
  readonly requestedMs: number;
  readonly answeredRequestMs: number;
}

export const NEVER_RECONCILED: Reconciliation = {
  reason: 'continuous',
  position: '',
  checked: 0,
  healed: 0,
  startedAtMs: null,
  sweptAtMs: null,
  healedMissing: 0,
  healedForeign: 0,
  healedDouble: 0,
  liveIdentity: '',
  recordIdentity: '',
  requestedMs: 0,
  answeredRequestMs: 0,
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

  reconciliation(): Promise<Reconciliation>;
  /** Saves all but `requestedMs`. */
  saveReconciliation(state: Reconciliation): Promise<void>;
  /** Asks the leader for a fast pass. Asking again while a request waits is the same request. */
  requestReconciliation(atMs: number): Promise<void>;
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
