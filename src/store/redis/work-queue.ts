// The work queue in Redis. Every method is one script call (or several short ones for long lists); the scripts
// work-*.lua hold the rules. This file owns their KEYS and ARGV.
import { DEFAULT_MAX_CONCURRENCY, MAX_CONCURRENCY_BOUNDS } from '../../domain/health.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type { Claim, Lane, QueueCounts, Settlement, WorkItem, WorkQueue } from '../live-store.ts';
import type { RedisArgument, RedisClient } from './client.ts';
import type { Keys } from './keys.ts';
import { RedisManualList } from './manual-list.ts';

const ITEMS_PER_CALL = 1_000;
const SLOTS_PER_RESET = 2_000;

export class RedisWorkQueue implements WorkQueue {
  readonly #manual: RedisManualList;

  constructor(
    private readonly client: RedisClient,
    private readonly keys: Keys,
  ) {
    this.#manual = new RedisManualList(client, keys);
  }

  async claim(
    taskType: TaskType,
    request: { workerId: string; claimNumber: number; max: number; leaseMs: number },
  ): Promise<Claim> {
    const { keys } = this;
    const reply = (await this.client.script(
      'workClaim',
      [
        keys.queue(taskType),
        keys.manual(taskType),
        keys.manualLeases(taskType),
        keys.runningCount(taskType),
        keys.limit(taskType),
        keys.slots(taskType),
        keys.claims(taskType),
        keys.pause(taskType),
      ],
      [request.workerId, request.claimNumber, request.max, request.leaseMs, DEFAULT_MAX_CONCURRENCY],
    )) as [number, number, string, number, ...string[]];
    const [freeSlots, pausedMs, token, manualCount, ...members] = reply;
    const items = members.map((member, i): WorkItem => {
      const lane: Lane = i < manualCount ? 'manual' : 'schedule';
      return { cardId: Number.parseInt(member, 10), lane, member, token };
    });
    return { items, freeSlots, pausedMs };
  }

  async release(taskType: TaskType, items: readonly WorkItem[]): Promise<void> {
    const keys = [this.keys.runningCount(taskType), this.keys.slots(taskType)];
    await inChunks(items, ITEMS_PER_CALL, async (chunk) => {
      const args = chunk.flatMap((item) => [
        item.lane === 'manual' ? `m${item.member}` : item.member,
        item.token,
      ]);
      await this.client.script('workRelease', keys, args);
    });
  }

  async settle(
    taskType: TaskType,
    settlements: readonly Settlement[],
    backoff: { baseMs: number; capMs: number },
  ): Promise<{ fenced: number }> {
    const { keys } = this;
    const names = [...this.#queueKeys(taskType), keys.failures(taskType)];
    let fenced = 0;
    await inChunks(settlements, ITEMS_PER_CALL, async (chunk) => {
      const args = [backoff.baseMs, backoff.capMs, ...settleGroups(chunk)];
      fenced += (await this.client.script('workSettle', names, args)) as number;
    });
    return { fenced };
  }

  pushManual(taskType: TaskType, entries: readonly string[]): Promise<void> {
    return this.#manual.push(taskType, entries);
  }

  removeManual(taskType: TaskType, triggerId: string): Promise<number> {
    return this.#manual.remove(taskType, triggerId);
  }

  runningManual(taskType: TaskType): Promise<string[]> {
    return this.#manual.running(taskType);
  }

  missingManual(taskType: TaskType, entries: readonly string[]): Promise<string[]> {
    return this.#manual.missing(taskType, entries);
  }

  async counts(taskType: TaskType): Promise<QueueCounts> {
    const { keys } = this;
    const [queueLength, due, inFlight, manualLength, limit] = (await this.client.script('workCounts', [
      keys.queue(taskType),
      keys.manual(taskType),
      keys.slots(taskType),
      keys.limit(taskType),
    ])) as [number, number, number, number, string | null];
    return {
      queueLength,
      due,
      inFlight,
      manualLength,
      maxConcurrency: limit === null ? null : Number(limit),
    };
  }

  async setMaxConcurrency(taskType: TaskType, max: number): Promise<void> {
    await this.client.command('SET', this.keys.limit(taskType), max);
  }

  async seedMaxConcurrency(taskType: TaskType, max: number): Promise<void> {
    await this.client.command('SET', this.keys.limit(taskType), max, 'NX');
  }

  async resetSlots(taskType: TaskType): Promise<{ previous: number; current: number }> {
    const keys = this.#queueKeys(taskType);
    const clear = async (): Promise<[number, number]> =>
      (await this.client.script('workResetSlots', keys, [SLOTS_PER_RESET])) as [number, number];
    let [previous, current] = await clear();
    // Bounded, because running workers claim new slots meanwhile.
    for (let left = MAX_CONCURRENCY_BOUNDS.max / SLOTS_PER_RESET; current > 0 && left > 0; left -= 1) {
      [, current] = await clear();
    }
    return { previous, current };
  }

  async reap(taskType: TaskType): Promise<{ expiredSlots: number; healedFrom: number | null }> {
    const { keys } = this;
    const [expiredSlots, foreign] = (await this.client.script('workReap', [
      keys.manual(taskType),
      keys.manualLeases(taskType),
      keys.runningCount(taskType),
      keys.slots(taskType),
    ])) as [number, string | null];
    return { expiredSlots, healedFrom: foreign === null ? null : Number(foreign) };
  }

  async pause(taskType: TaskType, ms: number): Promise<void> {
    await this.client.script('workPause', [this.keys.pause(taskType)], [Math.ceil(ms)]);
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

/** The five groups of work-settle.lua. */
function settleGroups(settlements: readonly Settlement[]): RedisArgument[] {
  const groups: RedisArgument[][] = [[0], [0], [0], [0], [0]];
  for (const { item, verdict, random } of settlements) {
    const group = groups[groupOf(item.lane, verdict)] as [number, ...RedisArgument[]];
    group[0] += 1;
    group.push(item.member, item.token);
    if (item.lane === 'schedule' && verdict === 'failed') group.push(random);
  }
  return groups.flat();
}

function groupOf(lane: Lane, verdict: Settlement['verdict']): number {
  if (lane === 'manual') return verdict === 'returned' ? 4 : 3;
  return verdict === 'done' ? 0 : verdict === 'failed' ? 1 : 2;
}

async function inChunks<T>(
  values: readonly T[],
  size: number,
  send: (chunk: readonly T[]) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < values.length; from += size) await send(values.slice(from, from + size));
}
