// Moves the cards of due buckets into the queue, a few buckets in each short script call. Used by rings.ts.
import { bucketAt } from '../../../domain/schedule/phase.ts';
import type { AdvanceResult, RingId, RingState } from '../../ports/live/rings.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';
import { missingRing, type RingReader } from './ring-reader.ts';
import { type StateReply, stateOf } from './ring-state.ts';

/** About 3,000 cards, which take a few milliseconds of Redis' time. */
const BUCKETS_PER_CALL = 16;
const MAX_ATTEMPTS = 20;

export class RingAdvancer {
  readonly #reader: RingReader;

  constructor(
    private readonly client: RedisClient,
    private readonly keys: Keys,
    reader: RingReader,
  ) {
    this.#reader = reader;
  }

  async advance(
    ring: RingId,
    limits: { maxBuckets: number; queueCap: number; fence: number },
  ): Promise<AdvanceResult> {
    let state = await this.#reader.require(ring);
    let moved = 0;
    let left = limits.maxBuckets;
    for (let attempt = 0; ; ) {
      const count = Math.min(left, BUCKETS_PER_CALL);
      const step = await this.#advanceOnce(state, count, limits);
      state = step.ring;
      moved += step.moved;
      left -= step.movedBuckets;
      attempt = step.stale ? attempt + 1 : 0;
      // A stale call has moved nothing and returned the current state: repeat it with that state.
      if (step.stale && attempt < MAX_ATTEMPTS) continue;
      if (left <= 0 || step.movedBuckets < count)
        return { ring: state, moved, queueLength: step.queueLength };
    }
  }

  async #advanceOnce(state: RingState, count: number, limits: { queueCap: number; fence: number }) {
    const { taskType } = state;
    const keys = [
      this.keys.ring(state),
      this.keys.queue(taskType),
      this.keys.retry(taskType),
      this.keys.failures(taskType),
    ];
    const numbers: number[] = [];
    for (let step = state.cursor; numbers.length < count && state.generation > 0; ) {
      const bucket = bucketAt(state, step);
      numbers.push(bucket.number);
      keys.push(this.keys.bucket(state, state.generation, bucket.number));
      step += bucket.steps;
    }
    const channel = this.keys.workChannel(taskType);
    const args = [state.generation, state.cursor, limits.queueCap, limits.fence, channel, ...numbers];
    const reply = (await this.client.script('ringAdvance', keys, args)) as
      | [number, number, number, number, StateReply]
      | null;
    if (reply === null) return missingRing(state);
    const [stale, movedBuckets, moved, queueLength, after] = reply;
    return { stale: stale === 1, movedBuckets, moved, queueLength, ring: stateOf(state, after) };
  }
}
