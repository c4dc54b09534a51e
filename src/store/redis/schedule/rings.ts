// Rings in Redis: each ring has one hash for its state and many small sets of card ids. The scripts ring-*.lua change
// them. This file creates, builds, advances and drops rings; ring-cards.ts handles their cards, ring-resizer.ts their
// buckets. docs/architecture.md explains the idea.
//
// A script gets the generation and the numbers of its buckets. If these have changed meanwhile, it does nothing, and
// the call is repeated with the current state.
import { bucketAt, dueAt, phaseShareOf } from '../../../domain/schedule/phase.ts';
import { askPerTaskType, type TaskType } from '../../../domain/task-type.ts';
import { type RingState, type Rings, ringUnknown } from '../../ports/live/rings.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';
import { ringCards } from './ring-cards.ts';
import { ringResizer } from './ring-resizer.ts';
import { ringReader, type StateReply, stateOf } from './ring-state.ts';

/** About 3,000 cards, which take a few milliseconds of Redis' time. */
const BUCKETS_PER_CALL = 16;
const MAX_ATTEMPTS = 20;
const KEYS_PER_UNLINK = 512;

export function redisRings(client: RedisClient, keys: Keys): Rings {
  const reader = ringReader(client, keys);
  const resizer = ringResizer(client, keys);

  async function advanceOnce(state: RingState, count: number, limits: { queueCap: number; fence: number }) {
    const { taskType, generation, cursor } = state;
    const names = [keys.ring(state), keys.queue(taskType), keys.retry(taskType), keys.failures(taskType)];
    const numbers: number[] = [];
    for (let step = cursor; numbers.length < count && generation > 0; ) {
      const bucket = bucketAt(state, step);
      numbers.push(bucket.number);
      names.push(keys.bucket(state, generation, bucket.number));
      step += bucket.steps;
    }
    const { queueCap, fence } = limits;
    const channel = keys.workChannel(taskType);
    const args = [generation, cursor, queueCap, fence, channel, phaseShareOf(taskType), ...numbers];
    const reply = (await client.script('ringAdvance', names, args)) as
      | [number, number, number, number, StateReply, number]
      | null;
    if (reply === null) throw ringUnknown(state);
    const [stale, movedBuckets, moved, queueLength, after, nowMs] = reply;
    const ring = stateOf(state, after);
    const nextDueInMs = ring.generation === 0 ? Number.POSITIVE_INFINITY : dueAt(ring, ring.cursor) - nowMs;
    return { stale: stale === 1, movedBuckets, moved, queueLength, ring, nextDueInMs };
  }

  return {
    ...ringCards(client, keys),

    async list() {
      const found = await askPerTaskType(async (taskType) => {
        const ids = (await client.command('SMEMBERS', keys.rings(taskType))) as string[];
        const rings = ids.map(Number).sort((a, b) => a - b);
        return Promise.all(rings.map((configId) => reader.read({ configId, taskType })));
      });
      return Object.values(found)
        .flat()
        .filter((ring) => ring !== null);
    },

    async configure(ring, { intervalMs, enabled }) {
      const names = [keys.ring(ring), keys.rings(ring.taskType)];
      await client.script('ringConfigure', names, [ring.configId, intervalMs, enabled ? 1 : 0]);
    },

    async startGeneration(ring, buckets, { selection = '', afterId = 0, owedFromMs = null } = {}) {
      const { generation, building } = await reader.require(ring);
      const { taskType } = ring;
      const names = [keys.ring(ring), keys.ringGenerations(taskType), keys.ringTrash(taskType)];
      const replaced = building?.generation ?? 0;
      const begin = [phaseShareOf(taskType), afterId, owedFromMs ?? 0];
      const args = [ring.configId, buckets, generation, replaced, selection, ...begin];
      await client.script('ringStartGeneration', names, args);
      await emptyTrash(client, keys, taskType);
    },

    async activate(ring) {
      const names = [keys.ring(ring), keys.ringTrash(ring.taskType)];
      if ((await client.script('ringActivate', names, [ring.configId])) === null) throw ringUnknown(ring);
      await emptyTrash(client, keys, ring.taskType);
    },

    async drop(ring) {
      const { taskType } = ring;
      const names = [keys.ring(ring), keys.rings(taskType), keys.ringTrash(taskType)];
      await client.script('ringDrop', names, [ring.configId]);
      await emptyTrash(client, keys, taskType);
    },

    async resize(ring, maxSteps) {
      const state = await reader.read(ring);
      return state !== null && resizer.resize(state, maxSteps);
    },

    /** A few buckets in each short script call. */
    async advance(ring, limits) {
      let state = await reader.require(ring);
      let moved = 0;
      let left = limits.maxBuckets;
      for (let attempt = 0; ; ) {
        const count = Math.min(left, BUCKETS_PER_CALL);
        const step = await advanceOnce(state, count, limits);
        state = step.ring;
        moved += step.moved;
        left -= step.movedBuckets;
        attempt = step.stale ? attempt + 1 : 0;
        // A stale call has moved nothing and returned the current state: repeat it with that state.
        if (step.stale && attempt < MAX_ATTEMPTS) continue;
        if (left <= 0 || step.movedBuckets < count)
          return { ring: state, moved, queueLength: step.queueLength, nextDueInMs: step.nextDueInMs };
      }
    },
  };
}

/**
 * Removes the buckets of abandoned generations, which the scripts ring-*.lua put into the trash; the next call continues
 * after a crash.
 */
async function emptyTrash(client: RedisClient, keys: Keys, taskType: TaskType): Promise<void> {
  const trash = keys.ringTrash(taskType);
  for (const [abandoned, end] of await client.hash(trash)) {
    const [configId = 0, generation = 0] = abandoned.split(':').map(Number);
    for (let from = 0; from < Number(end); from += KEYS_PER_UNLINK) {
      const count = Math.min(KEYS_PER_UNLINK, Number(end) - from);
      const names = Array.from({ length: count }, (_, b) =>
        keys.bucket({ configId, taskType }, generation, from + b),
      );
      await client.command('UNLINK', ...names);
    }
    await client.command('HDEL', trash, abandoned);
  }
}
