// Rings in Redis: one hash of state and many small SETs of card ids a ring. The scripts ring-*.lua change them; this
// file groups card ids by bucket and keeps every call short. See 02-engine in docs for the idea.
//
// A script is told the generation its bucket keys belong to. When that is not in use any more it does nothing, and
// the call is made again with the present state.
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { AdvanceResult, RingId, RingState, Rings } from '../live-store.ts';
import type { RedisClient } from './client.ts';
import type { Keys } from './keys.ts';
import { type BucketGroup, groupByBucket, splitIntoCalls } from './ring-calls.ts';

const CALLS_AT_ONCE = 64;
/** About 3,000 cards: a few milliseconds of Redis' time. */
const BUCKETS_PER_ADVANCE = 16;
const KEYS_PER_UNLINK = 512;
const MAX_ATTEMPTS = 20;

type StateReply = Array<string | null>;
export class RedisRings implements Rings {
  constructor(
    private readonly client: RedisClient,
    private readonly keys: Keys,
  ) {}

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
    const keys = [this.keys.ring(ring), this.keys.rings(ring.taskType)];
    const args = [ring.configId, settings.intervalMs, settings.enabled ? 1 : 0];
    return stateOf(ring, (await this.client.script('ringConfigure', keys, args)) as StateReply);
  }

  async startGeneration(ring: RingId, buckets: number, options: { activate: boolean }): Promise<RingState> {
    const seen = await this.#require(ring);
    const { taskType } = ring;
    const keys = [this.keys.ring(ring), this.keys.ringGenerations(taskType), this.keys.ringTrash(taskType)];
    const args = [
      ring.configId,
      buckets,
      options.activate ? 1 : 0,
      seen.generation,
      seen.building?.generation ?? 0,
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
    await this.#change('ringAdd', ring, cardIds, (reply) => {
      added += reply as number;
    });
    return added;
  }

  async remove(ring: RingId, cardIds: readonly number[]): Promise<number> {
    const state = await this.#read(ring);
    if (state === null || (state.generation === 0 && state.building === null)) return 0;
    let removed = 0;
    await this.#change('ringRemove', ring, cardIds, (reply) => {
      removed += reply as number;
    });
    return removed;
  }

  async contains(ring: RingId, cardIds: readonly number[]): Promise<boolean[]> {
    const found = new Array<boolean>(cardIds.length).fill(false);
    const state = await this.#read(ring);
    if (state === null || state.generation === 0) return found;
    await this.#change('ringContains', ring, cardIds, (reply, groups) => {
      const positions = groups.flatMap((group) => group.positions);
      for (const [i, flag] of (reply as number[]).entries()) found[positions[i] as number] = flag === 1;
    });
    return found;
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
    const keys = [this.keys.ring(state), this.keys.queue(state.taskType)];
    for (let i = 0; i < count && state.generation > 0; i += 1) {
      keys.push(this.keys.bucket(state, state.generation, (state.cursor + i) % state.buckets));
    }
    const args = [state.generation, state.cursor, limits.queueCap, limits.fence];
    const reply = (await this.client.script('ringAdvance', keys, args)) as
      | [number, number, number, number, StateReply]
      | null;
    if (reply === null) return missing(state);
    const [stale, movedBuckets, moved, queueLength, after] = reply;
    return { stale: stale === 1, movedBuckets, moved, queueLength, ring: stateOf(state, after) };
  }

  /** Sends the ids to their buckets in short calls; calls that met another generation are made again. */
  async #change(
    script: 'ringAdd' | 'ringRemove' | 'ringContains',
    ring: RingId,
    cardIds: readonly number[],
    onReply: (reply: unknown, groups: readonly BucketGroup[]) => void,
  ): Promise<void> {
    let ids = cardIds;
    let positions: readonly number[] | null = null;
    for (let attempt = 0; ids.length > 0; attempt += 1) {
      if (attempt === MAX_ATTEMPTS) throw changing(ring);
      const state = await this.#require(ring);
      if (state.generation === 0 && state.building === null) throw neverBuilt(ring);
      const calls = splitIntoCalls(groupByBucket(ids, positions, finestBuckets(state)));
      const again: BucketGroup[] = [];
      for (let from = 0; from < calls.length; from += CALLS_AT_ONCE) {
        await Promise.all(
          calls.slice(from, from + CALLS_AT_ONCE).map(async (groups) => {
            const reply = await this.#send(script, state, groups);
            if (reply === null) again.push(...groups);
            else onReply(reply, groups);
          }),
        );
      }
      ids = again.flatMap((group) => group.ids);
      positions = again.flatMap((group) => group.positions);
    }
  }

  async #send(
    script: 'ringAdd' | 'ringRemove' | 'ringContains',
    state: RingState,
    groups: readonly BucketGroup[],
  ) {
    const generations =
      state.generation === 0 ? [] : [{ generation: state.generation, buckets: state.buckets }];
    const building = script === 'ringContains' ? null : state.building;
    if (building !== null) generations.push(building);
    const finest = finestBuckets(state);
    const keys = [this.keys.ring(state)];
    const args = [
      state.generation,
      state.building?.generation ?? 0,
      state.generation === 0 ? 0 : groups.length,
    ];
    for (const { generation, buckets } of generations) {
      for (const group of groups) {
        keys.push(this.keys.bucket(state, generation, Math.floor((group.bucket * buckets) / finest)));
        args.push(group.ids.length);
        for (const id of group.ids) args.push(id);
      }
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
      const buckets = Number(trash[i + 1]);
      for (let from = 0; from < buckets; from += KEYS_PER_UNLINK) {
        const count = Math.min(KEYS_PER_UNLINK, buckets - from);
        const names = Array.from({ length: count }, (_, b) =>
          this.keys.bucket({ configId, taskType }, generation, from + b),
        );
        await this.client.command('UNLINK', ...names);
      }
      await this.client.command('HDEL', this.keys.ringTrash(taskType), trash[i] as string);
    }
  }
}

/** Order known to ring_state() in prelude.lua. */
const STATE_FIELDS = [
  'generation',
  'buckets',
  'interval_ms',
  'anchor_ms',
  'cursor',
  'enabled',
  'members',
  'building_generation',
  'building_buckets',
] as const;

function stateOf(ring: RingId, reply: StateReply): RingState {
  const field = (name: (typeof STATE_FIELDS)[number]): number => Number(reply[STATE_FIELDS.indexOf(name)]);
  const building = field('building_generation');
  return {
    configId: ring.configId,
    taskType: ring.taskType,
    generation: field('generation'),
    buckets: field('buckets'),
    intervalMs: field('interval_ms'),
    anchorMs: field('anchor_ms'),
    cursor: field('cursor'),
    enabled: field('enabled') === 1,
    members: field('members'),
    building: building === 0 ? null : { generation: building, buckets: field('building_buckets') },
  };
}

/** Buckets of the finer of the two generations: one of its buckets lies within one bucket of the other. */
function finestBuckets(state: RingState): number {
  return Math.max(state.buckets, state.building?.buckets ?? 0);
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
