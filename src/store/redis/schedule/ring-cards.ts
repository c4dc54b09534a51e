// Adds, removes, finds, reads and counts the cards of a ring in Redis, in short calls. Used by rings.ts.

import pLimit from 'p-limit';
import { groupBy } from '../../../domain/group-by.ts';
import { bucketNumberOf, bucketsFrom, stepAtPhase, stepsOf } from '../../../domain/schedule/phase.ts';
import { CardpollError } from '../../../platform/errors.ts';
import {
  type RingGeneration,
  type RingId,
  type RingState,
  type Rings,
  ringNotBuilt,
} from '../../ports/live/rings.ts';
import { inChunks, type RedisArgument, type RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';
import { ringResizer } from './ring-resizer.ts';
import { generationsOf, ringReader } from './ring-state.ts';

/** Most ids in one script call; about 1 ms of Redis' time. */
const IDS_PER_CALL = 1_000;
const CALLS_AT_ONCE = 64;
const MAX_ATTEMPTS = 20;

/** After this many added cards the ring checks again whether buckets must be split. */
const CARDS_PER_GROWTH = 20_000;

/** The command of ring-members.lua for each bucket. */
type MembersCommand = 'SADD' | 'SREM' | 'SMISMEMBER';

/** Cards of one bucket. */
interface BucketGroup {
  readonly number: number;
  readonly ids: number[];
}

export function ringCards(
  client: RedisClient,
  keys: Keys,
): Pick<Rings, 'add' | 'remove' | 'contains' | 'page' | 'recount'> {
  const reader = ringReader(client, keys);
  const resizer = ringResizer(client, keys);

  function call(
    command: MembersCommand,
    state: RingState,
    { prefix, build }: { prefix: string; build: RingGeneration },
    groups: readonly BucketGroup[],
    queueCap: number,
  ): Promise<unknown> {
    const { taskType } = state;
    const names = [keys.ring(state), keys.queue(taskType), keys.retry(taskType), keys.failures(taskType)];
    const generations = [state.generation, state.building?.generation ?? 0];
    const args: RedisArgument[] = [...generations, prefix, command, queueCap];
    for (const group of groups) {
      names.push(keys.bucket(state, build.generation, group.number));
      args.push(group.number, group.ids.length);
      for (const id of group.ids) args.push(id);
    }
    return client.script('ringMembers', names, args);
  }

  /**
   * Sends the ids to their buckets, in each generation, in short calls. When generations or buckets have changed
   * meanwhile, sends the ids of that call again with the current state.
   */
  async function send(
    command: MembersCommand,
    seen: RingState,
    cardIds: readonly number[],
    {
      onReply = () => {},
      queueCap = 0,
    }: { onReply?: (reply: unknown, groups: readonly BucketGroup[]) => void; queueCap?: number } = {},
  ): Promise<void> {
    let state = seen;
    let ids = cardIds;
    for (let attempt = 0; ids.length > 0; attempt += 1) {
      if (attempt === MAX_ATTEMPTS) throw changing(state);
      if (attempt > 0) state = await reader.require(state);
      const again = new Set<number>();
      for (const part of generationsOf(state)) {
        if (command === 'SMISMEMBER' && part.prefix !== '') continue;
        const calls = splitIntoCalls(groupBy(ids, (id) => bucketNumberOf(id, part.build)));
        const present = state;
        await someAtOnce(calls, async (groups) => {
          const reply = await call(command, present, part, groups, queueCap);
          if (reply !== null) return onReply(reply, groups);
          for (const { ids } of groups) for (const id of ids) again.add(id);
        });
      }
      ids = [...again];
    }
  }

  function ofBuckets(
    command: 'SMEMBERS' | 'SCARD',
    state: RingState,
    numbers: readonly number[],
  ): Promise<unknown[]> {
    return someAtOnce(numbers, (number) =>
      client.command(command, keys.bucket(state, state.generation, number)),
    );
  }

  return {
    async add(ring, cardIds, owed) {
      await inChunks(cardIds, CARDS_PER_GROWTH, async (ids) => {
        const state = await resizer.makeRoom(await reader.require(ring), ids.length);
        if (state.generation === 0) throw ringNotBuilt(ring);
        await send('SADD', state, ids, owed);
      });
    },

    async remove(ring, cardIds) {
      const state = await reader.read(ring);
      if (state !== null) await send('SREM', state, cardIds);
    },

    async contains(ring, cardIds) {
      const found = new Set<number>();
      const state = await reader.read(ring);
      if (state === null) return cardIds.map(() => false);
      await send('SMISMEMBER', state, cardIds, {
        onReply: (reply, groups) => {
          const ids = groups.flatMap((group) => group.ids);
          for (const [i, flag] of (reply as number[]).entries()) if (flag === 1) found.add(ids[i] as number);
        },
      });
      return cardIds.map((cardId) => found.has(cardId));
    },

    async page(ring, fromPhase, maxBuckets) {
      const state = await reader.read(ring);
      if (state === null || state.generation === 0) return { cardIds: [], nextPhase: null };
      const numbers: number[] = [];
      let step = stepAtPhase(state, fromPhase);
      for (const bucket of bucketsFrom(state, step)) {
        if (numbers.length === maxBuckets) break;
        numbers.push(bucket.number);
        step = bucket.nextStep;
      }
      const members = await ofBuckets('SMEMBERS', state, numbers);
      const nextPhase = step >= stepsOf(state) ? null : step / stepsOf(state);
      return { cardIds: (members as string[][]).flat().map(Number), nextPhase };
    },

    async recount(ring) {
      const state = await reader.read(ring);
      if (state === null || state.generation === 0) return;
      const numbers = [...bucketsFrom(state, 0)].map(({ number }) => number);
      const sizes = (await ofBuckets('SCARD', state, numbers)) as number[];
      const members = sizes.reduce((sum, size) => sum + size, 0);
      const { generation, buckets, split, members: before } = state;
      const args = [generation, buckets, split, before, members];
      await client.script('ringRecount', [keys.ring(ring)], args);
    },
  };
}

function splitIntoCalls(groups: Map<number, number[]>): BucketGroup[][] {
  const calls: BucketGroup[][] = [];
  let call: BucketGroup[] = [];
  let room = IDS_PER_CALL;
  for (const [number, ids] of groups) {
    for (let from = 0; from < ids.length; ) {
      const end = Math.min(ids.length, from + room);
      call.push({ number, ids: ids.slice(from, end) });
      room -= end - from;
      from = end;
      if (room === 0) {
        calls.push(call);
        call = [];
        room = IDS_PER_CALL;
      }
    }
  }
  if (call.length > 0) calls.push(call);
  return calls;
}

/** @returns the results in the order of the items. When a call fails, calls that have not begun are skipped. */
async function someAtOnce<T, R>(items: Iterable<T>, call: (item: T) => Promise<R>): Promise<R[]> {
  const limit = pLimit(CALLS_AT_ONCE);
  try {
    return await limit.map(items, call);
  } finally {
    limit.clearQueue();
  }
}

function changing(ring: RingId): CardpollError {
  return new CardpollError(
    'busy',
    'ring_changing',
    `the ring of config ${ring.configId} keeps changing its generation`,
  );
}
