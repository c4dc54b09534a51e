// The schedule is a function, not data: a card's place in its ring, and so its due times, follow from its id alone.
//
// The hash's HIGH bits choose the bucket, so a card keeps its phase (hash / 2^32 of the interval) when a ring grows or shrinks by
// splitting and merging buckets. Ids are hashed in blocks of eight: neighbours share a bucket, which lets initialisation add them
// in one command, while the spread of blocks over buckets stays even enough (see docs/decisions).
//
// The interval itself also begins at fixed times: a ring's phase in absolute time follows from its task type and interval, so it
// is the same after the live store lost its data. A ring at another phase (after a change of interval, a pause, a step of the
// clock, or an upgrade) moves to its own phase bucket by bucket, without a jump.
import { TASK_TYPES, type TaskType } from '../task-type.ts';

/** Cards per block: neighbouring ids that are polled together. */
export const BLOCK = 8;
const HASH_BITS = 32;

/** The cards of a small fleet are spread over this many steps of the interval, not polled in bursts. */
export const MIN_BUCKETS = 1_024;
/**
 * Cards per bucket of the coarser level at which splitting (merging) that level begins and ends. A bucket then holds 95
 * to 140 cards on average in a ring that grows, 50 to 80 in one that shrinks, and however blocks of eight spread, the
 * largest stays below 400: Redis keeps up to 512 integers as an intset (about 5.5 bytes a card).
 */
const SPLIT_FROM = 140;
const SPLIT_TO = 190;
const MERGE_FROM = 80;
const MERGE_TO = 100;

/** Spreads 32 bits over 32 bits (murmur3's finaliser). */
export function mix32(bits: number): number {
  let h = bits;
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  h ^= h >>> 16;
  return h >>> 0;
}

/** 32-bit hash of a card's block of ids, of both halves of the id. */
export function phaseHash(cardId: number): number {
  const block = Math.floor(cardId / BLOCK);
  return mix32((block >>> 0) ^ Math.imul(Math.floor(block / 0x1_0000_0000), 0x9e3779b1));
}

/** The bucket of a card in a ring of `buckets` (a power of two). */
export function bucketOf(cardId: number, buckets: number): number {
  return phaseHash(cardId) >>> (HASH_BITS - Math.log2(buckets));
}

/**
 * The shape of a ring: `buckets` (a power of two), of which the first `split` are split into two halves. Growing splits
 * one bucket after the other, in phase order; when all are split there are twice as many, and it starts again. Shrinking
 * merges them in the reverse order.
 *
 * Buckets are numbered like the nodes of a binary tree: bucket `i` of a level of `n` buckets is
 * `n + i`, its halves are `2 (n + i)` and the next.
 */
export interface RingShape {
  readonly buckets: number;
  readonly split: number;
}

/** Number of steps of the interval: the number of the finest buckets. While others are split, a whole bucket spans two steps. */
export function stepsOf({ buckets, split }: RingShape): number {
  return split === 0 ? buckets : 2 * buckets;
}

/** The number of a card's bucket. */
export function bucketNumberOf(cardId: number, { buckets, split }: RingShape): number {
  const whole = bucketOf(cardId, buckets);
  return whole < split ? 2 * buckets + bucketOf(cardId, 2 * buckets) : buckets + whole;
}

/** The bucket at a step (absolute, like a cursor), and the number of steps it spans. */
export function bucketAt(shape: RingShape, step: number): { readonly number: number; readonly steps: 1 | 2 } {
  const index = step % stepsOf(shape);
  if (shape.split === 0) return { number: shape.buckets + index, steps: 1 };
  const whole = Math.floor(index / 2);
  if (whole < shape.split) return { number: 2 * shape.buckets + index, steps: 1 };
  return { number: shape.buckets + whole, steps: 2 };
}

/** The first step at or after a phase (0 to 1 of the interval) at which a bucket begins. */
export function stepAtPhase(shape: RingShape, phase: number): number {
  const step = Math.ceil(phase * stepsOf(shape));
  return step % 2 === 1 && bucketAt(shape, step).steps === 2 ? step + 1 : step;
}

/** Buckets of one revolution from a step on, in order, with the step after each. */
export function* bucketsFrom(
  shape: RingShape,
  step: number,
): Generator<{ number: number; nextStep: number }> {
  for (let at = step; at < stepsOf(shape); ) {
    const { number, steps } = bucketAt(shape, at);
    at += steps;
    yield { number, nextStep: at };
  }
}

/** The next step of a ring of this shape towards the right size for its cards; null when the size is right. */
export function nextResize({ buckets, split }: RingShape, cards: number): 'split' | 'merge' | null {
  const mean = cards / buckets;
  const done = split / buckets;
  if (mean > SPLIT_FROM + (SPLIT_TO - SPLIT_FROM) * done) return 'split';
  if (split === 0) return buckets > MIN_BUCKETS && 2 * mean < MERGE_TO ? 'merge' : null;
  return mean < MERGE_FROM + (MERGE_TO - MERGE_FROM) * done ? 'merge' : null;
}

export function afterSplit({ buckets, split }: RingShape): RingShape {
  return split + 1 === buckets ? { buckets: 2 * buckets, split: 0 } : { buckets, split: split + 1 };
}

export function afterMerge({ buckets, split }: RingShape): RingShape {
  return split === 0 ? { buckets: buckets / 2, split: buckets / 2 - 1 } : { buckets, split: split - 1 };
}

/** A ring's clock: the step under the cursor is due at anchorMs + cursor * intervalMs / stepsOf(ring). */
export interface RingClock extends RingShape {
  readonly taskType: TaskType;
  readonly intervalMs: number;
  readonly anchorMs: number;
  /** Absolute step of the next bucket to move into the queue. */
  readonly cursor: number;
}

type RingPhase = Pick<RingClock, 'taskType' | 'intervalMs' | 'anchorMs'>;

/** A ring that is early by up to this share of its interval waits; another one turns up to twice as fast until it is right. */
const EARLY_SHARE = 0.1;

/**
 * The share of the interval at which the rings of a task type begin: a third apart, so that the polls of one card are also apart,
 * for any intervals.
 */
export function phaseShareOf(taskType: TaskType): number {
  return TASK_TYPES.indexOf(taskType) / TASK_TYPES.length;
}

/** How late a ring is compared with its phase in absolute time, up to one interval; negative: it is early. 0 within a millisecond. */
export function offPhaseMs({ taskType, intervalMs, anchorMs }: RingPhase): number {
  const after = (anchorMs - Math.floor(phaseShareOf(taskType) * intervalMs)) % intervalMs;
  const late = after < 0 ? after + intervalMs : after;
  const off = late > (1 - EARLY_SHARE) * intervalMs ? late - intervalMs : late;
  return Math.abs(off) < 1 ? 0 : off;
}

/** The anchor after `turnMs` of the interval were moved into the queue: a late ring makes up half of it, an early one waits as long. */
export function anchorAfter(ring: RingPhase, turnMs: number): number {
  const off = offPhaseMs(ring);
  return ring.anchorMs - Math.max(-turnMs, Math.min(off, turnMs / 2));
}

/** Where a new ring begins: at its phase, with the first step that is not due before `nowMs`. */
export function beginningOf(taskType: TaskType, intervalMs: number, steps: number, nowMs: number) {
  const phaseMs = Math.floor(phaseShareOf(taskType) * intervalMs);
  const anchorMs = phaseMs + Math.floor((nowMs - phaseMs) / intervalMs) * intervalMs;
  return { anchorMs, cursor: Math.ceil(((nowMs - anchorMs) * steps) / intervalMs) };
}

/** When the bucket at absolute step `step` is due, in epoch milliseconds. */
export function dueAt(ring: RingClock, step: number): number {
  const stepMs = ring.intervalMs / stepsOf(ring);
  const aheadMs = Math.max(0, step - ring.cursor) * stepMs;
  return anchorAfter(ring, aheadMs) + step * stepMs;
}

/** The step of the interval (from 0) at which a card's bucket begins. */
export function stepOf(cardId: number, { buckets, split }: RingShape): number {
  const whole = bucketOf(cardId, buckets);
  if (split === 0) return whole;
  return whole < split ? bucketOf(cardId, 2 * buckets) : 2 * whole;
}

/** When this ring next moves a card into the queue, in epoch milliseconds; in the past while the ring lags. */
export function nextDueAt(ring: RingClock, cardId: number): number {
  const steps = stepsOf(ring);
  const ahead = (stepOf(cardId, ring) - (ring.cursor % steps) + steps) % steps;
  return dueAt(ring, ring.cursor + ahead);
}
