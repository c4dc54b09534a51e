// The work queue in Redis. Every method makes one script call (or several short ones for long lists). The scripts
// work-*.lua contain the rules; this file builds their KEYS and ARGV.
import { DEFAULT_MAX_CONCURRENCY, MAX_CONCURRENCY_BOUNDS } from '../../../domain/limits/max-concurrency.ts';
import { cardIdOf } from '../../../domain/manual-trigger.ts';
import { TASK_TYPES, type TaskType } from '../../../domain/task-type.ts';
import { camelKeys, snakeKeys } from '../../../platform/snake-keys.ts';
import {
  type CardPlace,
  CLOCK_STEP_MS,
  type Claim,
  type ClaimRequest,
  type Lane,
  type LimitRecord,
  MAX_RETRIES_WAITING,
  type Pause,
  type PauseRequest,
  type QueueCounts,
  type RunningCount,
  type Settlement,
  type WorkItem,
  type WorkQueue,
} from '../../ports/live/work-queue.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';
import { RedisPauses } from '../limits/pauses.ts';
import { placeOf } from './card-place.ts';
import { CLAIM_REPLY, COUNTS_REPLY, namedReply, settleGroups } from './script-values.ts';
import { WorkSignal } from './work-signal.ts';

const ITEMS_PER_CALL = 1_000;
const SLOTS_PER_RESET = 2_000;
/** A tenth of a second of Redis' time; other clients get their turn between two calls. */
const MOVES_PER_CALL = 20_000;

export class RedisWorkQueue implements WorkQueue {
  readonly #pauses: RedisPauses;
  readonly #signal: WorkSignal;

  constructor(
    private readonly client: RedisClient,
    private readonly keys: Keys,
  ) {
    this.#pauses = new RedisPauses(client, keys);
    this.#signal = new WorkSignal(client.connection);
  }

  async claim(taskType: TaskType, request: ClaimRequest): Promise<Claim> {
    const { keys } = this;
    const { instanceId, claimNumber, max, leaseMs, trickle = false } = request;
    const reply = await this.client.script(
      'workClaim',
      [
        keys.queue(taskType),
        keys.manual(taskType),
        keys.manualLeases(taskType),
        keys.runningCount(taskType),
        keys.limit(taskType),
        keys.slots(taskType),
        keys.claims(taskType),
        keys.pauses(taskType),
        keys.retry(taskType),
        keys.retrySlots(taskType),
        keys.effectiveLimit(taskType),
      ],
      [instanceId, claimNumber, max, leaseMs, DEFAULT_MAX_CONCURRENCY, trickle ? 1 : 0],
    );
    const claimed = namedReply(CLAIM_REPLY, reply);
    const { freeSlots, pausedMs, token, manualCount, retryCount, members, late } = claimed;
    const items = members.map((member, i): WorkItem => {
      const lane: Lane = i < manualCount ? 'manual' : i < manualCount + retryCount ? 'retry' : 'schedule';
      const cardId = lane === 'manual' ? cardIdOf(member) : Number(member);
      return { cardId, lane, member, token };
    });
    // A token is the lease's end by Redis' clock and a fraction (work-claim.lua).
    const claimedAtMs = items.length === 0 ? null : Math.floor(Number(token)) - request.leaseMs;
    const lateMs = late.flatMap((ms, i) => (i % 2 === 0 ? Array<number>(late[i + 1] ?? 0).fill(ms) : []));
    return { items, claimedAtMs, lateMs, freeSlots, pausedMs };
  }

  async release(taskType: TaskType, items: readonly WorkItem[]): Promise<void> {
    const { keys } = this;
    const names = [keys.runningCount(taskType), keys.slots(taskType), keys.retrySlots(taskType)];
    await inChunks(items, ITEMS_PER_CALL, async (chunk) => {
      const args = chunk.flatMap((item) => [
        item.lane === 'manual' ? `m${item.member}` : item.member,
        item.token,
      ]);
      await this.client.script('workRelease', names, args);
    });
  }

  async settle(
    taskType: TaskType,
    settlements: readonly Settlement[],
    backoff: { baseMs: number; capMs: number },
  ): Promise<{ fenced: number }> {
    const { keys } = this;
    const names = [
      ...this.#queueKeys(taskType),
      keys.failures(taskType),
      keys.retry(taskType),
      keys.retrySlots(taskType),
    ];
    let fenced = 0;
    await inChunks(settlements, ITEMS_PER_CALL, async (chunk) => {
      const args = [backoff.baseMs, backoff.capMs, MAX_RETRIES_WAITING, ...settleGroups(chunk)];
      fenced += (await this.client.script('workSettle', names, args)) as number;
    });
    return { fenced };
  }

  async makeDue(taskType: TaskType, cardIds: readonly number[], cap: number): Promise<void> {
    const { keys } = this;
    const names = [keys.queue(taskType), keys.retry(taskType), keys.failures(taskType)];
    await inChunks(cardIds, ITEMS_PER_CALL, async (chunk) => {
      await this.client.script('workMakeDue', names, [cap, keys.workChannel(taskType), ...chunk]);
    });
  }

  async forgetCards(cardIds: readonly number[]): Promise<void> {
    const { keys } = this;
    await inChunks(cardIds, ITEMS_PER_CALL, async (chunk) => {
      await Promise.all(
        TASK_TYPES.flatMap((taskType) => [
          this.client.command('HDEL', keys.failures(taskType), ...chunk),
          this.client.command('ZREM', keys.retry(taskType), ...chunk),
        ]),
      );
    });
  }

  onWork(taskType: TaskType, listener: () => void): () => void {
    return this.#signal.on(this.keys.workChannel(taskType), listener);
  }

  /** Stops listening. Does not close the connection, which belongs to the caller. */
  close(): void {
    this.#signal.close();
  }

  async counts(taskType: TaskType): Promise<QueueCounts> {
    const { keys } = this;
    const reply = await this.client.script('workCounts', [
      keys.queue(taskType),
      keys.manual(taskType),
      keys.slots(taskType),
      keys.limit(taskType),
      keys.retry(taskType),
      keys.effectiveLimit(taskType),
    ]);
    const { limit, effectiveLimit, ...counts } = namedReply(COUNTS_REPLY, reply);
    const maxConcurrency = limitOf(limit);
    return {
      ...counts,
      maxConcurrency,
      effectiveConcurrency: Math.min(
        maxConcurrency ?? DEFAULT_MAX_CONCURRENCY,
        limitOf(effectiveLimit) ?? Number.POSITIVE_INFINITY,
      ),
    };
  }

  place(taskType: TaskType, cardId: number, manualEntries: readonly string[]): Promise<CardPlace> {
    return placeOf(this.client, this.keys, taskType, cardId, manualEntries);
  }

  async runningCount(taskType: TaskType): Promise<RunningCount> {
    const names = [this.keys.runningCount(taskType), this.keys.slots(taskType)];
    const reply = await this.client.script('workRunningCount', names);
    const [shown, held, live] = reply as [string | null, number, number];
    return { shown, held, live };
  }

  async setMaxConcurrency(taskType: TaskType, max: number): Promise<void> {
    await this.client.command('SET', this.keys.limit(taskType), max);
  }

  async seedMaxConcurrency(taskType: TaskType, max: number): Promise<void> {
    await this.client.command('SET', this.keys.limit(taskType), max, 'NX');
  }

  async setEffectiveConcurrency(taskType: TaskType, limit: number | null): Promise<void> {
    const key = this.keys.effectiveLimit(taskType);
    await (limit === null ? this.client.command('DEL', key) : this.client.command('SET', key, limit));
  }

  async seedEffectiveConcurrency(taskType: TaskType, limit: number): Promise<void> {
    await this.client.command('SET', this.keys.effectiveLimit(taskType), limit, 'NX');
  }

  async limitRecord(taskType: TaskType): Promise<LimitRecord | null> {
    const text = (await this.client.command('GET', this.keys.limitRecord(taskType))) as string | null;
    return text === null ? null : camelKeys(JSON.parse(text));
  }

  async saveLimitRecord(taskType: TaskType, record: LimitRecord): Promise<void> {
    const text = JSON.stringify(snakeKeys(record));
    await this.client.command('SET', this.keys.limitRecord(taskType), text);
  }

  async resetSlots(taskType: TaskType): Promise<{ previous: number; current: number }> {
    const keys = [...this.#queueKeys(taskType), this.keys.retrySlots(taskType)];
    const clear = async (): Promise<[number, number]> =>
      (await this.client.script('workResetSlots', keys, [SLOTS_PER_RESET])) as [number, number];
    let [previous, current] = await clear();
    // The number of calls is bounded, because running workers claim new slots meanwhile.
    for (let left = MAX_CONCURRENCY_BOUNDS.max / SLOTS_PER_RESET; current > 0 && left > 0; left -= 1) {
      [, current] = await clear();
    }
    return { previous, current };
  }

  async followClock(taskType: TaskType, leaseMs: number): Promise<number> {
    const { keys } = this;
    const names = [
      keys.queue(taskType),
      keys.manual(taskType),
      keys.manualLeases(taskType),
      keys.slots(taskType),
      keys.retrySlots(taskType),
      keys.retry(taskType),
      keys.pauses(taskType),
      keys.claims(taskType),
    ];
    const args = [leaseMs, CLOCK_STEP_MS, MOVES_PER_CALL];
    for (;;) {
      const [setBackMs, more] = (await this.client.script('workFollowClock', names, args)) as [
        number,
        number,
      ];
      if (more === 0) return setBackMs;
    }
  }

  async reap(taskType: TaskType): Promise<{ expiredSlots: number; healedFrom: number | null }> {
    const { keys } = this;
    const [expiredSlots, foreign] = (await this.client.script('workReap', [
      keys.manual(taskType),
      keys.manualLeases(taskType),
      keys.runningCount(taskType),
      keys.slots(taskType),
      keys.retrySlots(taskType),
    ])) as [number, string | null];
    return { expiredSlots, healedFrom: foreign === null ? null : Number(foreign) };
  }

  pause(taskType: TaskType, pause: PauseRequest): Promise<void> {
    return this.#pauses.pause(taskType, pause);
  }

  resume(taskType: TaskType): Promise<Pause[]> {
    return this.#pauses.resume(taskType);
  }

  pauses(): Promise<Pause[]> {
    return this.#pauses.list();
  }

  #queueKeys(taskType: TaskType): string[] {
    const { keys } = this;
    return [
      keys.queue(taskType),
      keys.manual(taskType),
      keys.manualLeases(taskType),
      keys.runningCount(taskType),
      keys.slots(taskType),
    ];
  }
}

/** Reads a limit like work-claim.lua: a text that is not a number counts as no limit. */
function limitOf(text: string | null): number | null {
  return text === null || Number.isNaN(Number(text)) ? null : Number(text);
}

async function inChunks<T>(
  values: readonly T[],
  size: number,
  send: (chunk: readonly T[]) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < values.length; from += size) await send(values.slice(from, from + size));
}
