// Port section of live-store.ts: what is due or runs, a task type: the queue, the retry lane, what is claimed of the manual
// list, the slots and the pauses. Used by the workers, the leader and whoever shows or changes a limit.

import type { CurvePoint } from '../../../domain/limits/concurrency-curve.ts';
import type { LimitMemory } from '../../../domain/limits/effective-limit.ts';
import type { TaskType } from '../../../domain/task-type.ts';

/** Failing cards that the retry lane of a task type keeps at most: about 20 MB. */
export const MAX_RETRIES_WAITING = 200_000;

/** Steps back of a clock up to here are waited out, milliseconds. */
export const CLOCK_STEP_MS = 1_000;

export type Lane = 'schedule' | 'retry' | 'manual';

/** One claimed piece of work. Hand it back unchanged to release and settle. */
export interface WorkItem {
  readonly cardId: number;
  readonly lane: Lane;
  /** Lane `manual`: the entry of the manual list, `<card_id>` or `<card_id>:<trigger_id>`. Otherwise the card id. */
  readonly member: string;
  /** Opaque; unique to the claim. */
  readonly token: string;
}

export interface ClaimRequest {
  readonly instanceId: string;
  readonly claimNumber: number;
  readonly max: number;
  readonly leaseMs: number;
  /** The claim is for the trickle of calls to a dead interface; false when absent. */
  readonly trickle?: boolean;
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
   * them otherwise. A claim for the trickle takes retries only where nothing else is due, and nothing at all within a
   * second of another such claim, unless claims that are not for the trickle got work within that second. Sent twice with the same instanceId and claimNumber it
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

  /**
   * Makes cards due at once, out of their ring's turn. One that is due or waits to be retried already stays where it is; one
   * that runs is due again when its lease ends. While the queue holds `cap` entries they wait in the retry lane, and while
   * that does too they are left to their ring.
   */
  makeDue(taskType: TaskType, cardIds: readonly number[], cap: number): Promise<void>;

  /** Forgets that cards failed, and their retries: they are removed from the fleet. Of every task type. */
  forgetCards(cardIds: readonly number[]): Promise<void>;

  /**
   * Calls the listener soon after work of the type was added (cards became due, manual entries came), wherever that
   * happened. A hint: it may come without work, and may be lost while the store is away. @returns ends that.
   */
  onWork(taskType: TaskType, listener: () => void): () => void;

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
   * Notices, when it is called again and again, that the store's clock was set back or that a server whose clock is behind
   * took over, and dates anew what would wait for the old time: due cards, retries, pauses. Whoever holds work goes on with
   * it; what is held from before and not ended within `leaseMs` is taken back. @returns milliseconds set back; 0: not.
   */
  followClock(taskType: TaskType, leaseMs: number): Promise<number>;

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
