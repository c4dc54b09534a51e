// Port section of live-store.ts: the rings, one for each polling config, which make cards due.

import type { RingShape } from '../../../domain/schedule/phase.ts';
import type { PacedRing } from '../../../domain/schedule/schedule-pace.ts';
import type { TaskType } from '../../../domain/task-type.ts';
import { CardpollError } from '../../../platform/errors.ts';

/** Identifies the ring of one polling config. */
export interface RingId {
  readonly configId: number;
  readonly taskType: TaskType;
}

/** The key contains the task type: when a config's task type changes, it gets a new ring. */
export function ringKey(ring: RingId): string {
  return `${ring.taskType}:${ring.configId}`;
}

/** One build of a ring's buckets. */
export interface RingGeneration extends RingShape {
  readonly generation: number;
  readonly members: number;
  /** The selection of cards that it was built for (domain/schedule/polling-config.ts); '' if an old version built it. */
  readonly selection: string;
}

/** The state of a ring; `generation`, `members` ... describe the generation in use. 0: configured but never built. */
export interface RingState extends RingId, PacedRing, RingGeneration {
  /** False while the first generation is filled. */
  readonly loaded: boolean;
  /** The generation that is being built for another selection; null: none. */
  readonly building: RingGeneration | null;
  /** The card after which the last build began. */
  readonly joinedAfterId: number;
}

interface AdvanceResult {
  readonly ring: RingState;
  /** Number of cards moved into the queue or the retry lane, without cards that were already there. */
  readonly moved: number;
  readonly queueLength: number;
  /** Milliseconds until the next bucket is due; 0 or less while one waits for room in the queue. */
  readonly nextDueInMs: number;
}

interface RingSettings {
  readonly intervalMs: number;
  readonly enabled: boolean;
}

interface RingBuild {
  /** The selection of cards that it is built for; '' when absent. */
  readonly selection: string;
  /** The card after which the build begins; 0 when absent. */
  readonly afterId: number;
  /**
   * Until when (epoch milliseconds) the ring had handed out its due cards before the store lost it. Null when absent: no earlier
   * ring is known.
   */
  readonly owedFromMs: number | null;
}

export interface Rings {
  list(): Promise<RingState[]>;

  /**
   * Creates the ring (generation 0 without buckets, cursor 0), or applies interval and enabled to an existing one. A
   * changed interval keeps the cursor and re-anchors it, so that the next bucket is due at its old due time or one new
   * step from now, whichever is earlier. Re-enabling keeps the cursor and never lets the pause count as lag: the next
   * bucket is due one step from now at the latest. Then the ring comes to its phase, see `advance`.
   */
  configure(ring: RingId, settings: RingSettings): Promise<void>;

  /**
   * Begins generation n+1 with `buckets` buckets and discards an unfinished one. The first one is in use at once, while it fills,
   * and begins at the ring's phase in absolute time (domain/schedule/phase.ts); `activate` switches to a later one.
   */
  startGeneration(ring: RingId, buckets: number, build?: Partial<RingBuild>): Promise<void>;

  /**
   * Call when all cards are loaded. Switches to the generation being built (same phase for every card, cursor scaled to its
   * buckets) and removes the old one's buckets. If none is being built, marks the generation in use as loaded.
   */
  activate(ring: RingId): Promise<void>;

  /**
   * Adds any number of cards to the generation in use and to the one being built. In Redis it splits buckets as they fill, so
   * that none grows far above its planned size. With `owed`, cards that come too late for a turn that the ring owes
   * (`owedFromMs`; whole revolutions are skipped) go into the queue at once, unless it holds queueCap entries.
   */
  add(ring: RingId, cardIds: readonly number[], owed?: { readonly queueCap: number }): Promise<void>;

  /** Removes cards from both generations. */
  remove(ring: RingId, cardIds: readonly number[]): Promise<void>;

  /**
   * Splits or merges buckets of both generations to fit their number of members, at most about `maxSteps` of them. The phases of
   * cards do not change. @returns true when there is more to do; always false if buckets may have any size.
   */
  resize(ring: RingId, maxSteps: number): Promise<boolean>;

  /** @returns for each card whether it is in the generation in use. */
  contains(ring: RingId, cardIds: readonly number[]): Promise<boolean[]>;

  /**
   * Reads members of the generation in use: at most `maxBuckets` whole buckets from `fromPhase` on, a share of the
   * interval from 0 to 1, which stays valid across splits and merges. @returns `nextPhase` for the next call; null
   * after the last bucket.
   */
  page(
    ring: RingId,
    fromPhase: number,
    maxBuckets: number,
  ): Promise<{ readonly cardIds: readonly number[]; readonly nextPhase: number | null }>;

  /**
   * Counts `members` again from the buckets of the generation in use, after buckets were lost. The count is discarded when the
   * ring changes meanwhile.
   */
  recount(ring: RingId): Promise<void>;

  /** Removes the ring and its buckets. */
  drop(ring: RingId): Promise<void>;

  /**
   * Moves up to `maxBuckets` due buckets into the queue. Each card gets the time at which its bucket was due; a card
   * that is already queued keeps its own. Failing cards go into the retry lane instead, unless they wait there or run,
   * or the lane holds queueCap cards. Moves nothing while the ring is disabled or was never built, or while the queue
   * holds queueCap entries or more. A cursor that is more than one interval late first skips whole revolutions, so a
   * late ring never owes more than one poll for each card. A ring that is not at its phase in absolute time comes nearer to it
   * with each bucket: up to twice as fast, or up to half as fast if it is early by a tenth of the interval or less. Refuses (moved 0) a fencing token lower than one seen
   * before.
   */
  advance(
    ring: RingId,
    limits: { maxBuckets: number; queueCap: number; fence: number },
  ): Promise<AdvanceResult>;
}

export function ringUnknown({ configId, taskType }: RingId): CardpollError {
  return new CardpollError('not_found', 'ring_unknown', `config ${configId} has no ring for ${taskType}`);
}

export function ringNotBuilt({ configId }: RingId): CardpollError {
  return new CardpollError('conflict', 'ring_not_built', `the ring of config ${configId} was never built`);
}
