// Rings in Redis: each ring has one hash for its state and many small sets of card ids. The scripts ring-*.lua change
// them. This file creates, builds, advances and drops rings; ring-members.ts handles their cards, ring-resizer.ts their
// buckets. docs/architecture.md explains the idea.
//
// A script gets the generation and the numbers of its buckets. If these have changed meanwhile, it does nothing, and
// the call is repeated with the current state.
import { bucketAt } from '../../../domain/schedule/phase.ts';
import { TASK_TYPES, type TaskType } from '../../../domain/task-type.ts';
import type { AdvanceResult, RingId, RingSettings, RingState, Rings } from '../../ports/live/rings.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';
import { RingMembers } from './ring-members.ts';
import { RingResizer } from './ring-resizer.ts';
import { missingRing, RingReader, type StateReply, stateOf } from './ring-state.ts';

/** About 3,000 cards, which take a few milliseconds of Redis' time. */
const BUCKETS_PER_CALL = 16;
const MAX_ATTEMPTS = 20;
const KEYS_PER_UNLINK = 512;

export class RedisRings implements Rings {
  readonly #reader: RingReader;
  readonly #resizer: RingResizer;
  readonly #members: RingMembers;
  readonly #trash: RingTrash;

  constructor(
    private readonly client: RedisClient,
    private readonly keys: Keys,
  ) {
    this.#reader = new RingReader(client, keys);
    this.#resizer = new RingResizer(client, keys);
    this.#members = new RingMembers(client, keys, { reader: this.#reader, resizer: this.#resizer });
    this.#trash = new RingTrash(client, keys);
  }

  async list(): Promise<RingState[]> {
    const found = await Promise.all(
      TASK_TYPES.map(async (taskType) => {
        const ids = (await this.client.command('SMEMBERS', this.keys.rings(taskType))) as string[];
        const rings = ids.map(Number).sort((a, b) => a - b);
        return Promise.all(rings.map((configId) => this.#reader.read({ configId, taskType })));
      }),
    );
    return found.flat().filter((ring) => ring !== null);
  }

  async configure(ring: RingId, settings: RingSettings): Promise<RingState> {
    const keys = [this.keys.ring(ring), this.keys.rings(ring.taskType)];
    const args = [ring.configId, settings.intervalMs, settings.enabled ? 1 : 0, settings.staggerMs ?? 0];
    return stateOf(ring, (await this.client.script('ringConfigure', keys, args)) as StateReply);
  }

  async startGeneration(
    ring: RingId,
    buckets: number,
    options: { activate: boolean; selection?: string },
  ): Promise<RingState> {
    const seen = await this.#reader.require(ring);
    const { taskType } = ring;
    const keys = [this.keys.ring(ring), this.keys.ringGenerations(taskType), this.keys.ringTrash(taskType)];
    const args = [
      ring.configId,
      buckets,
      options.activate ? 1 : 0,
      seen.generation,
      seen.building?.generation ?? 0,
      options.selection ?? '',
    ];
    const reply = (await this.client.script('ringStartGeneration', keys, args)) as StateReply | null;
    await this.#trash.empty(taskType);
    return stateOf(ring, reply ?? missingRing(ring));
  }

  async activate(ring: RingId): Promise<RingState> {
    const keys = [this.keys.ring(ring), this.keys.ringTrash(ring.taskType)];
    const reply = (await this.client.script('ringActivate', keys, [ring.configId])) as StateReply | null;
    await this.#trash.empty(ring.taskType);
    return stateOf(ring, reply ?? missingRing(ring));
  }

  async drop(ring: RingId): Promise<void> {
    const { taskType } = ring;
    const keys = [this.keys.ring(ring), this.keys.rings(taskType), this.keys.ringTrash(taskType)];
    await this.client.script('ringDrop', keys, [ring.configId]);
    await this.#trash.empty(taskType);
  }

  async resize(ring: RingId, maxSteps: number): Promise<boolean> {
    const state = await this.#reader.read(ring);
    return state !== null && this.#resizer.resize(state, maxSteps);
  }

  add(ring: RingId, cardIds: readonly number[]): Promise<number> {
    return this.#members.add(ring, cardIds);
  }

  remove(ring: RingId, cardIds: readonly number[]): Promise<number> {
    return this.#members.remove(ring, cardIds);
  }

  contains(ring: RingId, cardIds: readonly number[]): Promise<boolean[]> {
    return this.#members.contains(ring, cardIds);
  }

  page(ring: RingId, fromPhase: number, maxBuckets: number) {
    return this.#members.page(ring, fromPhase, maxBuckets);
  }

  recount(ring: RingId): Promise<number> {
    return this.#members.recount(ring);
  }

  /** A few buckets in each short script call. */
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

/** The buckets of abandoned generations, which the scripts ring-*.lua put into the trash. */
class RingTrash {
  constructor(
    private readonly client: RedisClient,
    private readonly keys: Keys,
  ) {}

  /** Removes the buckets; the next call continues after a crash. */
  async empty(taskType: TaskType): Promise<void> {
    const trash = this.keys.ringTrash(taskType);
    for (const [abandoned, end] of await this.client.hash(trash)) {
      const [configId = 0, generation = 0] = abandoned.split(':').map(Number);
      for (let from = 0; from < Number(end); from += KEYS_PER_UNLINK) {
        const count = Math.min(KEYS_PER_UNLINK, Number(end) - from);
        const names = Array.from({ length: count }, (_, b) =>
          this.keys.bucket({ configId, taskType }, generation, from + b),
        );
        await this.client.command('UNLINK', ...names);
      }
      await this.client.command('HDEL', trash, abandoned);
    }
  }
}
