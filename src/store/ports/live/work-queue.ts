// Port sections of live-store.ts for the due and running work of each task type: the queue, the retry lane, the slots and the
// pauses, used by the workers, the leader and the operations on limits; and the manual list, which the operations and the
// leader's trigger feeder fill. Workers claim its entries through the work queue.

import type { CurvePoint } from '../../../domain/limits/concurrency-curve.ts';
import type { LimitMemory } from '../../../domain/limits/effective-limit.ts';
import type { SeenInForce, WantedInForce } from '../../../domain/limits/in-force.ts';
import type { PauseSource } from '../../../domain/limits/operator-limits.ts';
import type { UsualLatency } from '../../../domain/stats/usual-latency.ts';
import type { TaskType } from '../../../domain/task-type.ts';
import type { LANES, VERDICTS } from '../../../platform/meter.ts';

/** The retry lane of a task type holds this many failing cards at most: about 20 MB. */
export const MAX_RETRIES_WAITING = 200_000;

/** A clock that was set back by less than this, in milliseconds, changes no due times: the wait is short. */
export const CLOCK_STEP_MS = 1_000;

export type Lane = (typeof LANES)[number];

/** One claimed piece of work. Hand it back unchanged to release and settle. */
export interface WorkItem {
  readonly cardId: number;
  readonly lane: Lane;
  /** In lane `manual` the entry of the manual list, `<card_id>` or `<card_id>:<trigger_id>`; otherwise the card id. */
  readonly member: string;
  /** Opaque and unique to the claim. */
  readonly token: string;
}

/** A slot of a type's limit, held by a claimed piece of work or by an order, whose calls count like polls. */
export type Slot = Pick<WorkItem, 'member' | 'token'> & { readonly lane: Lane | 'order' };

/** While orders wait for slots, claims of polls leave them their share for this long. */
export const ORDERS_WAIT_MS = 1_500;
/** Polls and orders that both wait take turns with an odd slot, in windows of this length. */
const TURN_MS = 50;

/** @returns the polls' share of the free slots while orders also wait. */
export function pollsShare(free: number, nowMs: number): number {
  return Math.floor((free + (Math.floor(nowMs / TURN_MS) % 2)) / 2);
}

interface OrderSlots {
  /** False: no recorded limits and pauses are in force in this life of the store, so there are no slots. */
  readonly inForce: boolean;
  readonly slots: readonly Slot[];
  /** Milliseconds until the last pause of the task type ends; 0 when it is not paused. */
  readonly pausedMs: number;
}

/** @returns the item with a renewed lease. The new token is computed from the old one, so a lost answer loses no lease. */
export function renewed(item: WorkItem, byMs: number): WorkItem {
  return { ...item, token: String(Number(item.token) + byMs) };
}

export interface ClaimRequest {
  readonly instanceId: string;
  readonly claimNumber: number;
  readonly max: number;
  readonly leaseMs: number;
  /** True when the claim is for the trickle of calls to a dead interface; false when absent. */
  readonly trickle?: boolean;
  /** Items whose slots are released first, as by `release`; none when absent. */
  readonly released?: readonly WorkItem[];
}

export interface Claim {
  /** False: no recorded limits and pauses are in force in this life of the store, so nothing was claimed. */
  readonly inForce: boolean;
  readonly items: readonly WorkItem[];
  /** The store's time of the claim, epoch milliseconds; null without items. */
  readonly claimedAtMs: number | null;
  /**
   * How long each card of lane `schedule` has been due, milliseconds: since its ring made it due, its last lease expired or it
   * was returned. Empty when the claim was sent again: the due times are no longer known then.
   */
  readonly lateMs: readonly number[];
  /** Number of free slots of the fleet after this claim. */
  readonly freeSlots: number;
  /** Milliseconds until the last pause of the task type ends; 0 when it is not paused. */
  readonly pausedMs: number;
}

interface PauseRequest {
  readonly ms: number;
  readonly reason: string;
  /** The worker that received the gateway's answer. */
  readonly by: string;
}

export interface Pause {
  readonly taskType: TaskType;
  readonly source: PauseSource;
  readonly reason: string;
  /** The operator, or the worker that received the gateway's answer. */
  readonly by: string;
  /** Record id of an operator's pause. null: the gateway's pause, or one of a release before 0.4.0, which kept no record. */
  readonly id: string | null;
  readonly sinceMs: number;
  readonly untilMs: number;
}

export interface Settlement {
  readonly item: WorkItem;
  /**
   * done: the item leaves the queue. failed: it waits in the retry lane, see settle (in lane manual it leaves, without a retry).
   * returned: it was never started and is due again at once in its lane (in lane manual at the head). early: the gateway does not
   * allow it yet; it was not started, and waits in the retry lane for its waitMs without counting as a failure (in lane manual it
   * leaves: its trigger waits).
   */
  readonly verdict: (typeof VERDICTS)[number];
  /** The jitter of the backoff, uniform in [0, 1). */
  readonly random: number;
  /** Milliseconds. For verdict failed: the shortest wait of the card, even if its backoff is shorter. For early: its wait. */
  readonly waitMs?: number;
}

export interface QueueCounts {
  /** Number of due and running entries (ZCARD of the queue). */
  readonly queueLength: number;
  /** Number of due entries that no worker holds. */
  readonly due: number;
  /** How long the first of them has been due, milliseconds; 0 if none is due. */
  readonly waitedMs: number;
  /** Number of failing cards that are due for a retry. */
  readonly retryDue: number;
  /** Number of failing cards whose retry is not due yet. */
  readonly backoff: number;
  /** Number of slots in use. */
  readonly inFlight: number;
  /** Number of waiting manual entries (LLEN of the manual list). */
  readonly manualLength: number;
  /** The configured limit; null before it is set. */
  readonly maxConcurrency: number | null;
  /** The limit in force: the configured one (its default before it is set), or less while the leader has lowered it. */
  readonly effectiveConcurrency: number;
  /** The leader's limit, in force where it is below the configured one; null: none. */
  readonly leaderLimit: number | null;
  /** False: no recorded limits and pauses are in force in this life of the store, so every claim is empty. */
  readonly inForce: boolean;
}

/** Where one card is in the work of a task type. In the queue it is `queued` or `running`, never both. */
export interface CardPlace {
  /** The card is due and no worker holds it; `before`: number of queue entries ahead of it. */
  readonly queued: { readonly dueAtMs: number; readonly before: number } | null;
  /** A worker holds the card; calling: its gateway call is in flight, else its result is being written. */
  readonly running: { readonly leaseEndsAtMs: number; readonly calling: boolean } | null;
  /** The card is in the retry lane; `before`: number of entries of the lane ahead of it. */
  readonly retry: { readonly atMs: number; readonly before: number } | null;
  readonly failuresInARow: number;
  /** About the given manual entries: the number of entries ahead of the first waiting one, and whether one runs. */
  readonly manual: { readonly waiting: { readonly before: number } | null; readonly running: boolean };
}

export interface RunningCount {
  /** The stored text, which any client may have written; null: absent. */
  readonly shown: string | null;
  /** Number of held slots, including slots with an expired lease that were not taken back yet. */
  readonly held: number;
  /** Number of held slots with a valid lease. */
  readonly live: number;
}

/** The leader's record of the limit of a task type; stored for the next leader and for reports. */
export interface LimitRecord extends LimitMemory {
  /** Why the effective limit is lower than the configured one; null while it is not. */
  readonly reason: string | null;
  readonly curve: readonly CurvePoint[];
  /** Usual duration of calls; absent if an older version wrote it; null: unknown so far. */
  readonly usual?: UsualLatency | null;
}

/** The values set for a task type, and the raw data by which the store detects a later change. */
export interface StoredInForce extends SeenInForce {
  readonly stored: unknown;
}

export interface WorkQueue {
  /**
   * Claims up to `max` items, never more than there are free slots. Takes back expired leases first (frees their slots, returns
   * manual entries to the head of their list). While both manual and queued work is due, each gets half of the items. While other
   * work is due, or was claimed within the last second, retries hold at most a tenth of the slots (on average over time, if that
   * is not a whole number); otherwise they may hold all of them. A claim for the trickle takes retries only if nothing else is
   * due. It takes nothing within a second of another such claim, unless a claim that is not for the trickle got work within that
   * second. A claim that is sent twice with the same instanceId and claimNumber returns the same items. Claims nothing while the
   * type is paused, and nothing before putInForce.
   */
  claim(taskType: TaskType, request: ClaimRequest): Promise<Claim>;

  /**
   * Claims up to `max` slots for orders, under the same limit and pauses as polls. While polls are due, each gets half of the
   * free slots; claims of polls leave the other half, for ORDERS_WAIT_MS after orders got fewer than they wanted.
   * @param trickle as for `claim`
   */
  claimSlots(taskType: TaskType, max: number, leaseMs: number, trickle: boolean): Promise<OrderSlots>;

  /** Releases slots after the gateway call. Skips items that no longer own their slot. */
  release(taskType: TaskType, items: readonly Slot[]): Promise<void>;

  /**
   * Counts items with calls in flight again, in a life of the store that may have lost their slots: until release, or the end of
   * their leases. Changes nothing if recorded limits are in force.
   */
  hold(taskType: TaskType, items: readonly Slot[]): Promise<void>;

  /**
   * Renews the leases of items whose result waits to be written, so that no worker takes their cards meanwhile. Skips an item
   * that no longer owns its lease. May be repeated with the same items. @returns the items to hand back from now on.
   */
  renew(taskType: TaskType, items: readonly WorkItem[], byMs: number): Promise<readonly WorkItem[]>;

  /**
   * Ends items whose result is durable, that failed, or that were never started. An item that no longer owns its lease (late
   * worker, reset) is skipped and counted as fenced. Also releases slots that the items still hold. A failed card waits in the
   * retry lane for random * baseMs * 2^(failures in a row - 1), and at least for its waitMs. Once that backoff reaches capMs (0:
   * at once), or while the lane holds MAX_RETRIES_WAITING cards, the card is parked: it is neither in the queue nor in the lane,
   * and its failures are remembered, until its ring makes it due again; an early card that finds the lane full is left to its
   * ring, too.
   */
  settle(
    taskType: TaskType,
    settlements: readonly Settlement[],
    backoff: { baseMs: number; capMs: number },
  ): Promise<{ fenced: number }>;

  /** Forgets the failures and retries of cards that were removed from the fleet, for every task type. */
  forgetCards(cardIds: readonly number[]): Promise<void>;

  /**
   * Calls the listener soon after any instance added work of the type (due cards, manual entries). This is a hint: it
   * may come without work, and may be lost while the store is unavailable. @returns a function that ends the listening.
   */
  onWork(taskType: TaskType, listener: () => void): () => void;

  counts(taskType: TaskType): Promise<QueueCounts>;

  /**
   * Finds one card with a few look-ups, for any amount of work. @param manualEntries the card's entries of the manual list, which
   * are searched among the first 100,000.
   */
  place(taskType: TaskType, cardId: number, manualEntries: readonly string[]): Promise<CardPlace>;

  /** @returns the running count that operators see, and the slots that it should show, read at the same instant. */
  runningCount(taskType: TaskType): Promise<RunningCount>;

  /** @returns the values set for the type, as they are in force. Read it before the record: see putInForce. */
  inForce(taskType: TaskType): Promise<StoredInForce>;

  /**
   * Puts the recorded limits and the operators' recorded pause into force, for this life of the store: until it restarts, fails
   * over or loses its data. In a new life that is possible `slotsHeldAfterMs` after the first attempt, when workers hold the
   * slots of calls in flight again. @returns false, and changes nothing, before that, and when a value has changed since `seen`
   * was read: an operator's change since then may be newer than the record that was read.
   */
  putInForce(
    taskType: TaskType,
    seen: StoredInForce,
    wanted: WantedInForce,
    slotsHeldAfterMs: number,
  ): Promise<boolean>;

  /** Lowers the limit in force to `limit` from the next claim on; null restores the configured limit. */
  setEffectiveConcurrency(taskType: TaskType, limit: number | null): Promise<void>;
  /** @returns the record that a leader saved last; null: none. */
  limitRecord(taskType: TaskType): Promise<LimitRecord | null>;
  saveLimitRecord(taskType: TaskType, record: LimitRecord): Promise<void>;

  /** Clears all slots of the type and fences their holders; their cards are due again at once. */
  resetSlots(taskType: TaskType): Promise<{ previous: number; current: number }>;

  /**
   * Call regularly. Notices that the store's clock was set back, or that a server with a slow clock took over, and adjusts the
   * times that would otherwise be too late: due cards, retries, pauses. Workers continue with the work that they hold; work that
   * they held before the step is taken back if it does not end within `leaseMs`. @returns milliseconds set back, or 0.
   */
  followClock(taskType: TaskType, leaseMs: number): Promise<number>;

  /**
   * Takes back expired leases and corrects the running count, without a claim. @returns the number of expired slots, and the previous running count if it differed from the slots held, else null.
   */
  reap(taskType: TaskType): Promise<{ expiredSlots: number; healedFrom: number | null }>;

  /**
   * Pauses claiming of the type fleet-wide, as the gateway asks. A new pause can only prolong the gateway's pause in force.
   * Operators' pauses are recorded, and putInForce sets them. Neither kind hides or shortens the other.
   */
  pause(taskType: TaskType, pause: PauseRequest): Promise<void>;

  /** Ends every pause of the type. @returns the pauses that were in force. */
  resume(taskType: TaskType): Promise<Pause[]>;

  /** @returns the pauses in force of all task types. */
  pauses(): Promise<Pause[]>;
}

/** The manual list; its entries are `<card_id>` or `<card_id>:<trigger_id>`. */
export interface ManualList {
  /** Appends entries. Not idempotent: the caller makes sure that a repeated entry is counted once. */
  push(taskType: TaskType, entries: readonly string[]): Promise<void>;

  /**
   * Removes the waiting entries of triggers, in short steps; running entries continue. The order of the other entries
   * may change slightly.
   */
  remove(taskType: TaskType, triggerIds: readonly string[]): Promise<void>;

  /** @returns the entries that are claimed and not settled yet. */
  running(taskType: TaskType): Promise<readonly string[]>;

  /** @returns the given entries that neither wait nor run. May include an entry that is being returned right now. */
  missing(taskType: TaskType, entries: readonly string[]): Promise<readonly string[]>;
}
