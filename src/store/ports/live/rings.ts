// Port section of live-store.ts: the rings, one a polling config, from which cards fall due.

import type { RingShape } from '../../../domain/schedule/phase.ts';
import type { PacedRing } from '../../../domain/schedule/schedule-pace.ts';
import type { TaskType } from '../../../domain/task-type.ts';

/** Identifies the ring of one polling config. */
export interface RingId {
  readonly configId: number;
  readonly taskType: TaskType;
}

/** One build of a ring's buckets. */
export interface RingGeneration extends RingShape {
  readonly generation: number;
  readonly members: number;
  /** For which selection of cards it was built (domain/schedule/polling-config.ts); '' for one built before that was kept. */
  readonly selection: string;
}

/** `generation`, `members` ... are those in use. Generation 0: the ring was configured but never built. */
export interface RingState extends RingId, PacedRing, RingGeneration {
  /** False while the generation in use is filled for the first time. */
  readonly loaded: boolean;
  /** Present while a further generation is being built, for another selection. */
  readonly building: RingGeneration | null;
}

export interface AdvanceResult {
  readonly ring: RingState;
  /** Cards moved into the queue or the retry lane (those already there are not counted). */
  readonly moved: number;
  readonly queueLength: number;
}

export interface RingSettings {
  readonly intervalMs: number;
  readonly enabled: boolean;
  /** For so long the first revolution waits, so that rings that are built together do not keep step; 0 when absent. */
  readonly staggerMs?: number;
}

export interface Rings {
  list(): Promise<RingState[]>;

  /**
   * Creates the ring (anchored when it is built, `staggerMs` later, cursor 0, one generation-0 state without buckets) or applies interval and
   * enabled to an existing one. A changed interval keeps the cursor and re-anchors so that the next bucket is due
   * at the earlier of its old due time and one new step from now. Re-enabling keeps the cursor but never lets the
   * pause count as lag: the next bucket is due now at the latest one step from now.
   */
  configure(ring: RingId, settings: RingSettings): Promise<RingState>;

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
