// The work queue in this process's memory. Same rules as the scripts src/store/redis/scripts/work-*.lua, proven by
// the same contract suite; single-threaded, so every method is atomic by itself.
import { DEFAULT_MAX_CONCURRENCY } from '../../domain/health.ts';
import { triggerIdOf } from '../../domain/manual-trigger.ts';
import { perTaskType, type TaskType } from '../../domain/task-type.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Claim, QueueCounts, Settlement, WorkItem, WorkQueue } from '../live-store.ts';
import { DueQueue } from './live-due-queue.ts';
import { ManualList } from './live-manual-list.ts';
import { ScoreSet } from './live-score-set.ts';

interface TypeState {
  readonly queue: DueQueue;
  readonly manual: ManualList;
  readonly manualLeases: ScoreSet<string>;
  /** Slot member (see slotOf) -> token. */
  readonly slots: ScoreSet<string>;
  readonly failures: Map<number, number>;
  readonly lastClaims: Map<string, { claimNumber: number; token: number; items: readonly WorkItem[] }>;
  limit: number | null;
  pausedUntilMs: number;
  claims: number;
}

interface ClaimRequest {
  readonly workerId: string;
  readonly claimNumber: number;
  readonly max: number;
  readonly leaseMs: number;
}

export class EmbeddedWorkQueue implements WorkQueue {
  readonly #types = perTaskType(
    (): TypeState => ({
      queue: new DueQueue(),
      manual: new ManualList(),
      manualLeases: new ScoreSet(),
      slots: new ScoreSet(),
      failures: new Map(),
      lastClaims: new Map(),
      limit: null,
      pausedUntilMs: 0,
      claims: 0,
    }),
  );

  constructor(private readonly clock: Clock) {}

  /** The queue the rings move due cards into. */
  queueOf(taskType: TaskType): DueQueue {
    return this.#types[taskType].queue;
  }

  /** Forgets the claims of a worker that is gone. */
  forgetWorker(workerId: string): void {
    for (const type of Object.values(this.#types)) type.lastClaims.delete(workerId);
  }

  async claim(taskType: TaskType, request: ClaimRequest): Promise<Claim> {
    const type = this.#types[taskType];
    const now = this.#now();
    takeBackExpired(type, now);
    const limit = type.limit ?? DEFAULT_MAX_CONCURRENCY;
    const pausedMs = Math.max(0, type.pausedUntilMs - now);
    const last = type.lastClaims.get(request.workerId);
    let items: readonly WorkItem[] = [];
    if (last !== undefined && last.claimNumber === request.claimNumber && last.token > now) {
      items = last.items.filter((item) => leaseOf(type, item) === last.token);
    } else if (pausedMs === 0) {
      items = claimNew(type, request, now, Math.min(request.max, limit - type.slots.size));
    }
    return { items, freeSlots: Math.max(0, limit - type.slots.size), pausedMs };
  }

  async release(taskType: TaskType, items: readonly WorkItem[]): Promise<void> {
    for (const item of items) releaseSlot(this.#types[taskType], item);
  }

  async settle(
    taskType: TaskType,
    settlements: readonly Settlement[],
    backoff: { baseMs: number; capMs: number },
  ): Promise<{ fenced: number }> {
    const type = this.#types[taskType];
    const now = this.#now();
    const returned: string[] = [];
    let fenced = 0;
    for (const settlement of settlements) {
      const { item, verdict } = settlement;
      releaseSlot(type, item);
      if (leaseOf(type, item) !== Number(item.token)) {
        fenced += 1;
      } else if (item.lane === 'manual') {
        type.manualLeases.delete(item.member);
        if (verdict === 'returned') returned.push(item.member);
      } else {
        settleScheduled(type, settlement, backoff, now);
      }
    }
    type.manual.prepend(returned);
    return { fenced };
  }

  async pushManual(taskType: TaskType, entries: readonly string[]): Promise<void> {
    for (const entry of entries) this.#types[taskType].manual.append(entry);
  }

  async removeManual(taskType: TaskType, triggerId: string): Promise<number> {
    return this.#types[taskType].manual.remove((entry) => triggerIdOf(entry) === triggerId);
  }

  async runningManual(taskType: TaskType): Promise<string[]> {
    return [...this.#types[taskType].manualLeases.entries()].map(({ member }) => member);
  }

  async missingManual(taskType: TaskType, entries: readonly string[]): Promise<string[]> {
    const { manual, manualLeases } = this.#types[taskType];
    const waiting = new Set(manual.entries());
    return entries.filter((entry) => !waiting.has(entry) && manualLeases.scoreOf(entry) === undefined);
  }

  async counts(taskType: TaskType): Promise<QueueCounts> {
    const type = this.#types[taskType];
    const now = this.#now();
    let inFlight = 0;
    for (const slot of type.slots.entries()) if (slot.score > now) inFlight += 1;
    return {
      queueLength: type.queue.size,
      due: type.queue.dueCount(now),
      inFlight,
      manualLength: type.manual.length,
      maxConcurrency: type.limit,
    };
  }

  async setMaxConcurrency(taskType: TaskType, max: number): Promise<void> {
    this.#types[taskType].limit = max;
  }

  async seedMaxConcurrency(taskType: TaskType, max: number): Promise<void> {
    this.#types[taskType].limit ??= max;
  }

  async resetSlots(taskType: TaskType): Promise<{ previous: number; current: number }> {
    const type = this.#types[taskType];
    const now = this.#now();
    const cleared = type.slots.takeUpTo(Number.POSITIVE_INFINITY);
    const returned: string[] = [];
    for (const { member: slot, score } of cleared) {
      const entry = manualEntryOf(slot);
      if (entry === null) {
        if (type.queue.scoreOf(Number(slot)) === score) type.queue.move(Number(slot), now);
      } else if (type.manualLeases.scoreOf(entry) === score) {
        type.manualLeases.delete(entry);
        returned.push(entry);
      }
    }
    type.manual.prepend(returned);
    return { previous: cleared.length, current: 0 };
  }

  /** The running count is the number of slots held: there is no foreign count to heal. */
  async reap(taskType: TaskType): Promise<{ expiredSlots: number; healedFrom: number | null }> {
    return { expiredSlots: takeBackExpired(this.#types[taskType], this.#now()), healedFrom: null };
  }

  async pause(taskType: TaskType, ms: number): Promise<void> {
    const type = this.#types[taskType];
    type.pausedUntilMs = Math.max(type.pausedUntilMs, this.#now() + ms);
  }

  /** Whole milliseconds: only tokens have a fraction. */
  #now(): number {
    return Math.floor(this.clock.now());
  }
}

function slotOf(item: WorkItem): string {
  return item.lane === 'manual' ? `m${item.member}` : item.member;
}

function manualEntryOf(slot: string): string | null {
  return slot.startsWith('m') ? slot.slice(1) : null;
}

function leaseOf(type: TypeState, item: WorkItem): number | undefined {
  return item.lane === 'manual' ? type.manualLeases.scoreOf(item.member) : type.queue.scoreOf(item.cardId);
}

function releaseSlot(type: TypeState, item: WorkItem): void {
  if (type.slots.scoreOf(slotOf(item)) === Number(item.token)) type.slots.delete(slotOf(item));
}

function takeBackExpired(type: TypeState, nowMs: number): number {
  const slots = type.slots.takeUpTo(nowMs).length;
  type.manual.prepend(type.manualLeases.takeUpTo(nowMs).map(({ member }) => member));
  return slots;
}

function claimNew(type: TypeState, request: ClaimRequest, nowMs: number, take: number): WorkItem[] {
  const due = type.queue.dueCount(nowMs);
  if (take <= 0 || (due === 0 && type.manual.length === 0)) return [];
  type.claims += 1;
  // The same token as in Redis: an exact double that no other claim and no due time equals.
  const token = nowMs + request.leaseMs + (1 + (type.claims % 4095)) / 4096;
  // Half for each lane while both have work; the odd item goes to either in turn.
  const half = Math.floor((take + (type.claims % 2)) / 2);
  const items = claimManual(type, Math.min(type.manual.length, Math.max(half, take - due)), token);
  for (const cardId of type.queue.lease(nowMs, take - items.length, token)) {
    items.push({ cardId, lane: 'schedule', member: String(cardId), token: String(token) });
  }
  for (const item of items) type.slots.set(slotOf(item), token);
  type.lastClaims.set(request.workerId, { claimNumber: request.claimNumber, token, items });
  return items;
}

function claimManual(type: TypeState, count: number, token: number): WorkItem[] {
  const items: WorkItem[] = [];
  for (const member of type.manual.take(count)) {
    if (type.manualLeases.scoreOf(member) === undefined) {
      type.manualLeases.set(member, token);
      items.push({ cardId: Number.parseInt(member, 10), lane: 'manual', member, token: String(token) });
    } else {
      // Running already (triggered twice): it waits at the tail for its turn.
      type.manual.append(member);
    }
  }
  return items;
}

function settleScheduled(
  type: TypeState,
  { item, verdict, random }: Settlement,
  backoff: { baseMs: number; capMs: number },
  nowMs: number,
): void {
  if (verdict === 'done') {
    type.queue.delete(item.cardId);
    type.failures.delete(item.cardId);
  } else if (verdict === 'returned') {
    type.queue.move(item.cardId, nowMs);
  } else {
    const inARow = (type.failures.get(item.cardId) ?? 0) + 1;
    type.failures.set(item.cardId, inARow);
    const backoffMs = backoff.baseMs * 2 ** (inARow - 1);
    if (backoffMs < backoff.capMs) type.queue.move(item.cardId, Math.floor(nowMs + random * backoffMs));
    else type.queue.delete(item.cardId);
  }
}
