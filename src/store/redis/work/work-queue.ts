// The work queue in Redis. Every method makes one script call (or several short ones for long lists). The scripts
// work-*.lua contain the rules; this file builds their KEYS and ARGV.
import {
  MAX_CONCURRENCY_BOUNDS,
  type PauseSource,
  reportedLimit,
} from '../../../domain/limits/operator-limits.ts';
import { cardIdOf } from '../../../domain/manual-trigger.ts';
import { askPerTaskType, TASK_TYPES, type TaskType } from '../../../domain/task-type.ts';
import { camelKeys, snakeKeys } from '../../../platform/snake-keys.ts';
import {
  CLOCK_STEP_MS,
  type Lane,
  MAX_RETRIES_WAITING,
  type Pause,
  renewed,
  type Slot,
  type WorkItem,
  type WorkQueue,
} from '../../ports/live/work-queue.ts';
import { inChunks, pairsOf, type RedisArgument, type RedisClient } from '../client/client.ts';
import type { Keys, ScriptName } from '../keys.ts';
import {
  CLAIM_REPLY,
  CLAIM_SLOTS_REPLY,
  COUNTS_REPLY,
  namedReply,
  settleGroups,
  slotOf,
} from './script-values.ts';
import { WorkSignal } from './work-signal.ts';

const ITEMS_PER_CALL = 1_000;
const SLOTS_PER_RESET = 2_000;
/** A tenth of a second of Redis' time; other clients are served between two calls. */
const MOVES_PER_CALL = 20_000;

/** Limit for LPOS, which searches the list. Triggers hand out far fewer entries; other clients may add any number. */
const MANUAL_ENTRIES_SEARCHED = 100_000;

type PlaceReply = [
  now: string,
  queueScore: string | null,
  queueRank: number,
  slot: string | null,
  retryScore: string | null,
  retryRank: number,
  failures: string | null,
  manualBefore: number,
  manualRuns: number,
];

/** `close` stops listening. It does not close the connection, which belongs to the caller. */
export function redisWorkQueue(client: RedisClient, keys: Keys): WorkQueue & { close(): void } {
  const signal = new WorkSignal(client.connection);

  const run = (name: ScriptName, taskType: TaskType, args: readonly RedisArgument[] = []) =>
    client.script(name, keys.ofScript(name, taskType), args);

  async function release(taskType: TaskType, items: readonly Slot[]): Promise<void> {
    await inChunks(items, ITEMS_PER_CALL, async (chunk) => {
      await run('workRelease', taskType, chunk.map(slotOf));
    });
  }

  return {
    async claim(taskType, { instanceId, claimNumber, max, leaseMs, trickle = false, released = [] }) {
      const args = [instanceId, claimNumber, max, leaseMs, trickle ? 1 : 0];
      await release(taskType, released.slice(ITEMS_PER_CALL));
      const slots = released.slice(0, ITEMS_PER_CALL).map(slotOf);
      const reply = await run('workClaim', taskType, [...args, ...slots]);
      const claimed = namedReply(CLAIM_REPLY, reply);
      const { freeSlots, pausedMs, token, manualCount, retryCount, members, late } = claimed;
      const inForce = claimed.inForce === 1;
      const retryEnd = manualCount + retryCount;
      const items = members.map((member, i): WorkItem => {
        const lane: Lane = i < manualCount ? 'manual' : i < retryEnd ? 'retry' : 'schedule';
        const cardId = lane === 'manual' ? cardIdOf(member) : Number(member);
        return { cardId, lane, member, token };
      });
      // A token is the lease's end by Redis' clock and a fraction (work-claim.lua).
      const claimedAtMs = items.length === 0 ? null : Math.floor(Number(token)) - leaseMs;
      const lateMs = late.flatMap((ms, i) => (i % 2 === 0 ? Array<number>(late[i + 1] ?? 0).fill(ms) : []));
      return { inForce, items, claimedAtMs, lateMs, freeSlots, pausedMs };
    },

    async claimSlots(taskType, max, leaseMs, trickle) {
      const reply = await run('workClaimSlots', taskType, [max, leaseMs, trickle ? 1 : 0]);
      const { inForce, pausedMs, token, take } = namedReply(CLAIM_SLOTS_REPLY, reply);
      const slots = Array.from(
        { length: take },
        (_, i): Slot => ({ lane: 'order', member: `${i + 1}`, token }),
      );
      return { inForce: inForce === 1, slots, pausedMs };
    },

    release,

    async hold(taskType, items) {
      await inChunks(items, ITEMS_PER_CALL, async (chunk) => {
        await run(
          'workHold',
          taskType,
          chunk.flatMap((item) => [item.lane, slotOf(item), item.token]),
        );
      });
    },

    async renew(taskType, items, byMs) {
      await inChunks(items, ITEMS_PER_CALL, async (chunk) => {
        const args = chunk.flatMap(({ lane, member, token }) => [lane, member, token]);
        await run('workRenew', taskType, [byMs, ...args]);
      });
      return items.map((item) => renewed(item, byMs));
    },

    async settle(taskType, settlements, { baseMs, capMs }) {
      let fenced = 0;
      await inChunks(settlements, ITEMS_PER_CALL, async (chunk) => {
        const args = [baseMs, capMs, MAX_RETRIES_WAITING, ...settleGroups(chunk)];
        fenced += (await run('workSettle', taskType, args)) as number;
      });
      return { fenced };
    },

    async forgetCards(cardIds) {
      await inChunks(cardIds, ITEMS_PER_CALL, async (chunk) => {
        await Promise.all(
          TASK_TYPES.flatMap((taskType) => [
            client.command('HDEL', keys.failures(taskType), ...chunk),
            client.command('ZREM', keys.retry(taskType), ...chunk),
          ]),
        );
      });
    },

    onWork: (taskType, listener) => signal.on(keys.workChannel(taskType), listener),
    close: () => signal.close(),

    async counts(taskType) {
      const reply = await run('workCounts', taskType);
      const { limit, effectiveLimit, inForce, ...counts } = namedReply(COUNTS_REPLY, reply);
      const maxConcurrency = limitOf(limit);
      const leaderLimit = limitOf(effectiveLimit);
      return {
        ...counts,
        maxConcurrency,
        effectiveConcurrency: reportedLimit(maxConcurrency, leaderLimit),
        leaderLimit,
        inForce: inForce === 1,
      };
    },

    async place(taskType, cardId, manualEntries) {
      const args = [cardId, MANUAL_ENTRIES_SEARCHED, ...manualEntries];
      const reply = (await run('workPlace', taskType, args)) as PlaceReply;
      const [now, queueScore, queueRank, slot, retryScore, retryRank, failures, manualBefore, manualRuns] =
        reply;
      const score = queueScore === null ? null : Number(queueScore);
      // Only tokens have a fraction, and a card whose token has ended is due again.
      const leased = score !== null && !Number.isInteger(score) && score > Number(now);
      return {
        queued: score === null || leased ? null : { dueAtMs: Math.max(0, score), before: queueRank },
        running: leased ? { leaseEndsAtMs: Math.floor(score), calling: slot === queueScore } : null,
        retry: retryScore === null ? null : { atMs: Number(retryScore), before: retryRank },
        failuresInARow: Number(failures ?? 0),
        manual: {
          waiting: manualBefore < 0 ? null : { before: manualBefore },
          running: manualRuns === 1,
        },
      };
    },

    async runningCount(taskType) {
      const [shown, held, live] = (await run('workRunningCount', taskType)) as [
        string | null,
        number,
        number,
      ];
      return { shown, held, live };
    },

    async inForce(taskType) {
      const reply = (await run('workInForce', taskType)) as [string, string, string, string, number, number];
      const [isInForce, limit, effectiveLimit, pause, isPaused, held] = reply;
      const { id = null } = pause === '' ? {} : detailsOf(pause);
      return {
        isInForce: isInForce === '1',
        maxConcurrency: limitOf(limit),
        leaderLimit: limitOf(effectiveLimit),
        held,
        pause: isPaused === 1 ? { id } : null,
        stored: [isInForce, limit, effectiveLimit, pause],
      };
    },

    async putInForce(taskType, { stored }, { maxConcurrency, leaderLimit, pause }, slotsHeldAfterMs) {
      const isPause = pause !== 'kept' && pause !== 'ended';
      const set = isPause ? [Math.ceil(pause.leftMs), Math.ceil(pause.lastsMs), textOf(pause)] : [pause];
      const args = [...(stored as string[]), maxConcurrency, leaderLimit ?? '', slotsHeldAfterMs, ...set];
      return (await run('workPutInForce', taskType, args)) === 1;
    },

    async setEffectiveConcurrency(taskType, limit) {
      const key = keys.effectiveLimit(taskType);
      await (limit === null ? client.command('DEL', key) : client.command('SET', key, limit));
    },

    async limitRecord(taskType) {
      const text = (await client.command('GET', keys.limitRecord(taskType))) as string | null;
      return text === null ? null : camelKeys(JSON.parse(text));
    },

    async saveLimitRecord(taskType, record) {
      await client.command('SET', keys.limitRecord(taskType), JSON.stringify(snakeKeys(record)));
    },

    async resetSlots(taskType) {
      const clear = async (): Promise<[number, number]> =>
        (await run('workResetSlots', taskType, [SLOTS_PER_RESET])) as [number, number];
      let [previous, current] = await clear();
      // The number of calls is bounded, because running workers claim new slots meanwhile.
      for (let left = MAX_CONCURRENCY_BOUNDS.max / SLOTS_PER_RESET; current > 0 && left > 0; left -= 1) {
        [, current] = await clear();
      }
      return { previous, current };
    },

    async followClock(taskType, leaseMs) {
      const args = [leaseMs, CLOCK_STEP_MS, MOVES_PER_CALL];
      for (;;) {
        const [setBackMs, more] = (await run('workFollowClock', taskType, args)) as [number, number];
        if (more === 0) return setBackMs;
      }
    },

    async reap(taskType) {
      const [expiredSlots, foreign] = (await run('workReap', taskType)) as [number, string | null];
      return { expiredSlots, healedFrom: foreign === null ? null : Number(foreign) };
    },

    async pause(taskType, { ms, reason, by }) {
      await run('workPause', taskType, [Math.ceil(ms), textOf({ reason, by })]);
    },

    async resume(taskType) {
      return pausesOf(taskType, await run('workResume', taskType));
    },

    async pauses() {
      const found = await askPerTaskType(async (taskType) =>
        pausesOf(taskType, await run('workPauses', taskType)),
      );
      return Object.values(found).flat();
    },
  };
}

/** Reads a limit like work-claim.lua: a text that is not a number means no limit. `Number` would turn a blank text into 0. */
function limitOf(text: string | null): number | null {
  const isNumber = text !== null && text.trim() !== '' && !Number.isNaN(Number(text));
  return isNumber ? Number(text) : null;
}

/** The stored details of a pause; only recorded pauses have an `id`. */
type PauseDetails = Pick<Pause, 'reason' | 'by'> & { readonly id?: string };

function textOf({ reason, by, id }: PauseDetails): string {
  return JSON.stringify({ reason, by, id });
}

function detailsOf(entry: string): PauseDetails {
  return JSON.parse(entry.replace(/^\S+ \S+ /, '')) as PauseDetails;
}

function pausesOf(taskType: TaskType, reply: unknown): Pause[] {
  return [...pairsOf(reply as string[])].map(([source, entry]) => {
    const [since, until] = entry.split(' ', 2).map(Number) as [number, number];
    const { reason, by, id = null } = detailsOf(entry);
    return { taskType, source: source as PauseSource, reason, by, id, sinceMs: since, untilMs: until };
  });
}
