// One build of a ring's buckets in this process's memory; each bucket is a JavaScript Set. Used by rings.ts.
import {
  afterMerge,
  afterSplit,
  bucketAt,
  bucketNumberOf,
  type RingShape,
} from '../../../domain/schedule/phase.ts';
import type { RingGeneration } from '../../ports/live/rings.ts';

export class Generation {
  readonly #buckets = new Map<number, Set<number>>();
  shape: RingShape;
  members = 0;

  constructor(
    readonly number: number,
    buckets: number,
    readonly selection: string,
  ) {
    this.shape = { buckets, split: 0 };
  }

  get state(): RingGeneration {
    return { generation: this.number, ...this.shape, members: this.members, selection: this.selection };
  }

  add(cardId: number): void {
    if (this.#put(cardId)) this.members += 1;
  }

  remove(cardId: number): void {
    const number = bucketNumberOf(cardId, this.shape);
    const bucket = this.#buckets.get(number);
    if (bucket?.delete(cardId) !== true) return;
    if (bucket.size === 0) this.#buckets.delete(number);
    this.members -= 1;
  }

  has(cardId: number): boolean {
    return this.#buckets.get(bucketNumberOf(cardId, this.shape))?.has(cardId) ?? false;
  }

  /** @returns the cards of the bucket at a step, and the number of steps that it spans. */
  at(step: number): { readonly cards: Iterable<number>; readonly steps: 1 | 2 } {
    const { number, steps } = bucketAt(this.shape, step);
    return { cards: this.#buckets.get(number) ?? [], steps };
  }

  split(): void {
    const { buckets, split } = this.shape;
    this.shape = afterSplit(this.shape);
    this.#move([buckets + split]);
  }

  /** @returns false when the cursor is between the two halves. */
  merge(cursor: number | null): boolean {
    const next = afterMerge(this.shape);
    const number = next.buckets + next.split;
    if (cursor !== null && cursor % (2 * next.buckets) === 2 * next.split + 1) return false;
    this.shape = next;
    this.#move([2 * number, 2 * number + 1]);
    return true;
  }

  #put(cardId: number): boolean {
    const number = bucketNumberOf(cardId, this.shape);
    let bucket = this.#buckets.get(number);
    if (bucket === undefined) {
      bucket = new Set();
      this.#buckets.set(number, bucket);
    }
    if (bucket.has(cardId)) return false;
    bucket.add(cardId);
    return true;
  }

  /** Moves the cards of these buckets to the buckets where they belong now. */
  #move(numbers: readonly number[]): void {
    const moved = numbers.flatMap((number) => [...(this.#buckets.get(number) ?? [])]);
    for (const number of numbers) this.#buckets.delete(number);
    for (const cardId of moved) this.#put(cardId);
  }
}
