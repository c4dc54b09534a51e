// Rings in Redis: one hash of state and many small SETs of card ids a ring. The scripts ring-*.lua change them; this
// file groups card ids by bucket and keeps every call short. See 02-engine in docs for the idea.
//
// A script is told the generation and the numbers of its buckets. When the ring has others by now it does nothing, and
// the call is made again with the present state.

import { bucketAt, bucketsFrom, stepAtPhase, stepsOf } from '../../domain/phase.ts';
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { AdvanceResult, RingGeneration, RingId, RingState, Rings } from '../ports/rings.ts';
import type { RedisClient } from './client.ts';
import type { Keys } from './keys.ts';
import { type BucketGroup, groupByBucket, splitIntoCalls } from './ring-calls.ts';
import { RingResizer } from './ring-resizer.ts';
import { generationsOf, STATE_FIELDS, type StateReply, stateOf } from './ring-state.ts';

const CALLS_AT_ONCE = 64;
/** About 3,000 cards: a few milliseconds of Redis' time. */
const BUCKETS_PER_ADVANCE = 16;
const KEYS_PER_UNLINK = 512;
const KEYS_PER_COUNT = 512;
const MAX_ATTEMPTS = 20;

/** Cards added before the ring looks for room again. */
const CARDS_PER_GROWTH = 20_000;

export class RedisRings implements Rings {
  readonly #resizer: RingResizer;

  constructor(
    private readonly client: RedisClient,
    private readonly keys: Keys,
  ) {
    this.#resizer = new RingResizer(client, keys);
  }

  async list(): Promise<RingState[]> {
    const found = await Promise.all(
      TASK_TYPES.map(async (taskType) => {
        const ids = (await this.client.command('SMEMBERS', this.keys.rings(taskType))) as string[];
        const rings = ids.map(Number).sort((a, b) => a - b);
        return Promise.all(rings.map((configId) => this.#read({ configId, taskType })));
      }),
    );
    return found.flat().filter((ring) => ring !== null);
  }

  async configure(ring: RingId, settings: { intervalMs: number; enabled: boolean }): Promise<RingState> {
    const { taskType } = ring;
    const keys = [this.keys.ring(ring), this.keys.rings(taskType), this.keys.ringTrash(taskType)];
    const args = [ring.configId, settings.intervalMs, settings.enabled ? 1 : 0];
    return stateOf(ring, (await this.client.script('ringConfigure', keys, args)) as StateReply);
  }

  async startGeneration(
    ring: RingId,
    buckets: number,
    options: { activate: boolean; selection?: string },
  ): Promise<RingState> {
    const seen = await this.#require(ring);
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
    await this.#emptyTrash(taskType);
    return stateOf(ring, reply ?? missing(ring));
  }

  async activate(ring: RingId): Promise<RingState> {
    const keys = [this.keys.ring(ring), this.keys.ringTrash(ring.taskType)];
    const reply = (await this.client.script('ringActivate', keys, [ring.configId])) as StateReply | null;
    await this.#emptyTrash(ring.taskType);
    return stateOf(ring, reply ?? missing(ring));
  }

  async drop(ring: RingId): Promise<void> {
    const { taskType } = ring;
    const keys = [this.keys.ring(ring), this.keys.rings(taskType), this.keys.ringTrash(taskType)];
    await this.client.script('ringDrop', keys, [ring.configId]);
    await this.#emptyTrash(taskType);
  }

  async add(ring: RingId, cardIds: readonly number[]): Promise<number> {
    let added = 0;
    for (let from = 0; from < cardIds.length; from += CARDS_PER_GROWTH) {
      const ids = cardIds.slice(from, from + CARDS_PER_GROWTH);
      const state = await this.#resizer.makeRoom(await this.#require(ring), ids.length);
      if (state.generation === 0 && state.building === null) throw neverBuilt(ring);
      await this.#change('ringAdd', state, ids, (reply, _groups, prefix) => {
        if (prefix === '') added += reply as number;
      });
    }
    return added;
  }

  async remove(ring: RingId, cardIds: readonly number[]): Promise<number> {
    const state = await this.#read(ring);
    if (state === null) return 0;
    let removed = 0;
    await this.#change('ringRemove', state, cardIds, (reply, _groups, prefix) => {
      if (prefix === '') removed += reply as number;
    });
    return removed;
  }

  async contains(ring: RingId, cardIds: readonly number[]): Promise<boolean[]> {
    const found = new Array<boolean>(cardIds.length).fill(false);
    const state = await this.#read(ring);
    if (state === null) return found;
    await this.#change('ringContains', state, cardIds, (reply, groups) => {
      const positions = groups.flatMap((group) => group.positions);
      for (const [i, flag] of (reply as number[]).entries()) found[positions[i] as number] = flag === 1;
    });
    return found;
  }

  async resize(ring: RingId, maxSteps: number): Promise<boolean> {
    const state = await this.#read(ring);
    return state !== null && this.#resizer.resize(state, maxSteps);
  }

  async page(ring: RingId, fromPhase: number, maxBuckets: number) {
    const state = await this.#read(ring);
    if (state === null || state.generation === 0) return { cardIds: [], nextPhase: null };
    const numbers: number[] = [];
    let step = stepAtPhase(state, fromPhase);
    for (const bucket of bucketsFrom(state, step)) {
      if (numbers.length === maxBuckets) break;
      numbers.push(bucket.number);
      step = bucket.nextStep;
    }
    const members = await this.#ofBuckets('SMEMBERS', state, numbers);
    const nextPhase = step >= stepsOf(state) ? null : step / stepsOf(state);
    return { cardIds: (members as string[][]).flat().map(Number), nextPhase };
  }

  async recount(ring: RingId): Promise<number> {
    const state = await this.#read(ring);
    if (state === null || state.generation === 0) return 0;
    const numbers = [...bucketsFrom(state, 0)].map(({ number }) => number);
    let members = 0;
    for (let from = 0; from < numbers.length; from += KEYS_PER_COUNT) {
      const sizes = await this.#ofBuckets('SCARD', state, numbers.slice(from, from + KEYS_PER_COUNT));
      members += (sizes as number[]).reduce((sum, size) => sum + size, 0);
    }
    const { generation, buckets, split, members: before } = state;
    const args = [generation, buckets, split, before, members];
    const reply = await this.client.script('ringRecount', [this.keys.ring(ring)], args);
    return Number(reply ?? 0);
  }

  #ofBuckets(
    command: 'SMEMBERS' | 'SCARD',
    state: RingState,
    numbers: readonly number[],
  ): Promise<unknown[]> {
    return Promise.all(
      numbers.map((number) =>
        this.client.command(command, this.keys.bucket(state, state.generation, number)),
      ),
    );
  }

  async advance(
    ring: RingId,
    limits: { maxBuckets: number; queueCap: number; fence: number },
  ): Promise<AdvanceResult> {
    let state = await this.#require(ring);
    let moved = 0;
    let left = limits.maxBuckets;
    for (let attempt = 0; ; ) {
      const count = Math.min(left, BUCKETS_PER_ADVANCE);
      const step = await this.#advanceOnce(state, count, limits);
      state = step.ring;
      moved += step.moved;
      left -= step.movedBuckets;
      attempt = step.stale ? attempt + 1 : 0;
      // A stale answer has moved nothing and shows the present state: once more with that.
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
    if (reply === null) return missing(state);
    const [stale, movedBuckets, moved, queueLength, after] = reply;
    return { stale: stale === 1, movedBuckets, moved, queueLength, ring: stateOf(state, after) };
  }

  /**
   * Sends the ids to their buckets, in each generation, in short calls; ids of calls that met other generations or
   * buckets are sent again with the present state.
   */
  async #change(
    script: 'ringAdd' | 'ringRemove' | 'ringContains',
    seen: RingState,
    cardIds: readonly number[],
    onReply: (reply: unknown, groups: readonly BucketGroup[], prefix: '' | 'building_') => void,
  ): Promise<void> {
    let state = seen;
    let ids = cardIds;
    let positions: readonly number[] | null = null;
    for (let attempt = 0; ids.length > 0; attempt += 1) {
      if (attempt === MAX_ATTEMPTS) throw changing(state);
      if (attempt > 0) state = await this.#require(state);
      const again = new Map<number, number>();
      for (const part of generationsOf(state)) {
        if (script === 'ringContains' && part.prefix !== '') continue;
        const calls = splitIntoCalls(groupByBucket(ids, positions, part.build));
        for (let from = 0; from < calls.length; from += CALLS_AT_ONCE) {
          await Promise.all(
            calls.slice(from, from + CALLS_AT_ONCE).map(async (groups) => {
              const reply = await this.#send(script, state, part, groups);
              if (reply !== null) return onReply(reply, groups, part.prefix);
              for (const { ids, positions } of groups) {
                for (const [i, id] of ids.entries()) again.set(positions[i] as number, id);
              }
            }),
          );
        }
      }
      ids = [...again.values()];
      positions = [...again.keys()];
    }
  }

  #send(
    script: 'ringAdd' | 'ringRemove' | 'ringContains',
    state: RingState,
    { prefix, build }: { prefix: string; build: RingGeneration },
    groups: readonly BucketGroup[],
  ): Promise<unknown> {
    const keys = [this.keys.ring(state)];
    const args: Array<string | number> = [state.generation, state.building?.generation ?? 0, prefix];
    for (const group of groups) {
      keys.push(this.keys.bucket(state, build.generation, group.number));
      args.push(group.number, group.ids.length);
      for (const id of group.ids) args.push(id);
    }
    return this.client.script(script, keys, args);
  }

  async #read(ring: RingId): Promise<RingState | null> {
    const reply = (await this.client.command('HMGET', this.keys.ring(ring), ...STATE_FIELDS)) as StateReply;
    return reply[0] === null ? null : stateOf(ring, reply);
  }

  async #require(ring: RingId): Promise<RingState> {
    return (await this.#read(ring)) ?? missing(ring);
  }

  /** Removes the buckets of abandoned generations; what a crash leaves over, the next call finishes. */
  async #emptyTrash(taskType: TaskType): Promise<void> {
    const trash = (await this.client.command('HGETALL', this.keys.ringTrash(taskType))) as string[];
    for (let i = 0; i < trash.length; i += 2) {
      const [configId = 0, generation = 0] = (trash[i] as string).split(':').map(Number);
      const end = Number(trash[i + 1]);
      for (let from = 0; from < end; from += KEYS_PER_UNLINK) {
        const count = Math.min(KEYS_PER_UNLINK, end - from);
        const names = Array.from({ length: count }, (_, b) =>
          this.keys.bucket({ configId, taskType }, generation, from + b),
        );
        await this.client.command('UNLINK', ...names);
      }
      await this.client.command('HDEL', this.keys.ringTrash(taskType), trash[i] as string);
    }
  }
}

function missing(ring: RingId): never {
  throw new CardpollError(
    'not_found',
    'ring_unknown',
    `config ${ring.configId} has no ring for ${ring.taskType}`,
  );
}

function neverBuilt(ring: RingId): CardpollError {
  return new CardpollError(
    'conflict',
    'ring_not_built',
    `the ring of config ${ring.configId} was never built`,
  );
}

function changing(ring: RingId): CardpollError {
  return new CardpollError(
    'busy',
    'ring_changing',
    `the ring of config ${ring.configId} keeps changing its generation`,
  );
}
