// The work queue and the manual lists in this process's memory. The rules are those of the scripts
// src/store/redis/work/work-*.lua, checked by the same contract suite. JavaScript runs in one thread, so every method is atomic.

import { reportedLimit } from '../../../domain/limits/operator-limits.ts';
import { triggerIdOf } from '../../../domain/manual-trigger.ts';
import type { TaskType } from '../../../domain/task-type.ts';
import type { Clock } from '../../../platform/clock.ts';
import {
  MAX_RETRIES_WAITING,
  type ManualList,
  ORDERS_WAIT_MS,
  pollsShare,
  renewed,
  type Settlement,
  type Slot,
  type WorkItem,
  type WorkQueue,
} from '../../ports/live/work-queue.ts';
import { claimNew, TRICKLE_EVERY_MS } from './claim.ts';
import { manualEntryOf, slotOf, type WorkState } from './work-state.ts';

export function embeddedWorkQueue(clock: Clock, types: Readonly<Record<TaskType, WorkState>>): WorkQueue {
  /** @returns the time in whole milliseconds: only tokens have a fraction. */
  function nowMs(): number {
    return Math.floor(clock.now());
  }

  function inFlightOf({ slots }: WorkState): number {
    return slots.size - slots.countUpTo(nowMs());
  }

  return {
    async claim(taskType, request) {
      const type = types[taskType];
      const now = nowMs();
      for (const item of request.released ?? []) type.releaseSlot(item);
      type.takeBackExpired(now);
      const limit = type.claimable;
      const leftForOrders = type.leftForOrders(Math.max(0, limit - type.slots.size), now);
      const pausedMs = type.pauseLeft(now);
      const last = type.lastClaims.get(request.instanceId);
      let items: readonly WorkItem[] = [];
      let lateMs: readonly number[] = [];
      let claimedAtMs: number | null = null;
      if (last !== undefined && last.claimNumber === request.claimNumber && last.token > now) {
        items = last.items.filter((item) => type.leaseOf(item) === last.token);
        claimedAtMs = Math.floor(last.token) - request.leaseMs;
      } else if (pausedMs === 0) {
        ({ items, lateMs } = claimNew(type, request, limit, now));
        claimedAtMs = now;
      }
      if (items.length === 0) claimedAtMs = null;
      const free = Math.max(0, limit - type.slots.size);
      const freeSlots = Math.max(0, free - leftForOrders);
      return { inForce: type.isInForce, items, claimedAtMs, lateMs, freeSlots, pausedMs };
    },

    async claimSlots(taskType, max, leaseMs, trickle) {
      const type = types[taskType];
      const now = nowMs();
      type.takeBackExpired(now);
      const pausedMs = type.pauseLeft(now);
      const free = pausedMs > 0 ? 0 : Math.max(0, type.claimable - type.slots.size);
      const isShared = type.manual.length > 0 || type.queue.countUpTo(now) > 0;
      const hasTrickled = trickle && Math.abs(now - type.trickledAtMs) < TRICKLE_EVERY_MS;
      const take = hasTrickled ? 0 : Math.min(max, isShared ? free - pollsShare(free, now) : free);
      if (trickle && take > 0) type.trickledAtMs = now;
      type.ordersUntilMs = take < max ? now + ORDERS_WAIT_MS : 0;
      if (take > 0) type.claims += 1;
      const token = now + leaseMs + (1 + (type.claims % 4095)) / 4096;
      const slots = Array.from(
        { length: take },
        (_, i): Slot => ({ lane: 'order', member: `${i + 1}`, token: String(token) }),
      );
      for (const slot of slots) type.slots.set(slotOf(slot), token);
      return { inForce: type.isInForce, slots, pausedMs };
    },

    async release(taskType, items) {
      for (const item of items) types[taskType].releaseSlot(item);
    },

    async hold(taskType, items) {
      const type = types[taskType];
      if (!type.isInForce) for (const item of items) type.holdSlot(item);
    },

    async renew(taskType, items, byMs) {
      for (const item of items) types[taskType].renew(item, byMs);
      return items.map((item) => renewed(item, byMs));
    },

    async settle(taskType, settlements, backoff) {
      const type = types[taskType];
      const now = nowMs();
      const returned: string[] = [];
      let fenced = 0;
      for (const settlement of settlements) {
        const { item, verdict } = settlement;
        type.releaseSlot(item);
        if (type.leaseOf(item) !== Number(item.token)) {
          fenced += 1;
        } else if (item.lane === 'manual') {
          type.manualLeases.delete(item.member);
          if (verdict === 'returned') returned.push(item.member);
        } else {
          settleCard(type, settlement, backoff, now);
        }
      }
      type.returnManual(returned);
      return { fenced };
    },

    async forgetCards(cardIds) {
      for (const type of Object.values(types)) {
        for (const cardId of cardIds) {
          type.failures.delete(cardId);
          type.retry.delete(cardId);
        }
      }
    },

    onWork(taskType, listener) {
      const { listeners } = types[taskType];
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    async counts(taskType) {
      const type = types[taskType];
      const now = nowMs();
      return {
        queueLength: type.queue.size,
        due: type.queue.countUpTo(now),
        waitedMs: Math.max(0, Math.floor(now - (type.queue.lowest()?.score ?? now))),
        retryDue: type.retry.countUpTo(now),
        backoff: type.retry.size - type.retry.countUpTo(now),
        inFlight: inFlightOf(type),
        manualLength: type.manual.length,
        maxConcurrency: type.limit,
        effectiveConcurrency: reportedLimit(type.limit, type.effectiveLimit),
        leaderLimit: type.effectiveLimit,
        inForce: type.isInForce,
      };
    },

    place: async (taskType, cardId, manualEntries) => types[taskType].placeOf(cardId, manualEntries, nowMs()),

    /** The running count is computed from the slots, so it cannot differ from them. */
    async runningCount(taskType) {
      const { size } = types[taskType].slots;
      return { shown: String(size), held: size, live: inFlightOf(types[taskType]) };
    },

    async inForce(taskType) {
      const type = types[taskType];
      const { isInForce, limit, effectiveLimit } = type;
      const [pause = null] = type.pausesInForce(nowMs()).filter(({ source }) => source === 'operator');
      const stored = [isInForce, limit, effectiveLimit, pause];
      return {
        isInForce,
        maxConcurrency: limit,
        leaderLimit: effectiveLimit,
        held: type.slots.size,
        pause,
        stored,
      };
    },

    async putInForce(taskType, { stored }, { maxConcurrency, leaderLimit, pause }, slotsHeldAfterMs) {
      const type = types[taskType];
      const now = nowMs();
      const seen = stored as readonly unknown[];
      const [present = null] = type.pausesInForce(now).filter(({ source }) => source === 'operator');
      const isSame = [type.isInForce, type.limit, type.effectiveLimit, present].every(
        (one, i) => one === seen[i],
      );
      if (!isSame) return false;
      type.firstPutAtMs ??= now;
      if (!type.isInForce && now - type.firstPutAtMs < slotsHeldAfterMs) return false;
      type.limit = maxConcurrency;
      type.effectiveLimit = leaderLimit;
      if (pause === 'ended') {
        type.pauses.delete('operator');
      } else if (pause !== 'kept') {
        const { id, reason, by, leftMs, lastsMs } = pause;
        const untilMs = now + Math.ceil(leftMs);
        type.pauses.set('operator', {
          taskType,
          source: 'operator',
          reason,
          by,
          id,
          sinceMs: untilMs - Math.ceil(lastsMs),
          untilMs,
        });
      }
      type.isInForce = true;
      return true;
    },

    async setEffectiveConcurrency(taskType, limit) {
      types[taskType].effectiveLimit = limit;
    },

    limitRecord: async (taskType) => types[taskType].limitRecord,

    async saveLimitRecord(taskType, record) {
      types[taskType].limitRecord = record;
    },

    async resetSlots(taskType) {
      const type = types[taskType];
      const now = nowMs();
      const cleared = type.slots.takeUpTo(Number.POSITIVE_INFINITY);
      type.retrySlots.takeUpTo(Number.POSITIVE_INFINITY);
      const returned: string[] = [];
      for (const { member: slot, score } of cleared) {
        const entry = manualEntryOf(slot);
        if (entry === null) {
          if (type.queue.scoreOf(Number(slot)) === score) type.queue.set(Number(slot), now);
        } else if (type.manualLeases.scoreOf(entry) === score) {
          type.manualLeases.delete(entry);
          returned.push(entry);
        }
      }
      type.returnManual(returned);
      return { previous: cleared.length, current: 0 };
    },

    followClock: async (taskType, leaseMs) => types[taskType].followClock(leaseMs, nowMs()),

    /** The running count is always the number of slots held, so it never needs a correction. */
    async reap(taskType) {
      return { expiredSlots: types[taskType].takeBackExpired(nowMs()), healedFrom: null };
    },

    async pause(taskType, { ms, reason, by }) {
      const type = types[taskType];
      const now = nowMs();
      const untilMs = now + Math.ceil(ms);
      const [inForce] = type.pausesInForce(now).filter(({ source }) => source === 'gateway');
      if (inForce !== undefined && inForce.untilMs >= untilMs) return;
      const sinceMs = inForce?.sinceMs ?? now;
      type.pauses.set('gateway', { taskType, source: 'gateway', reason, by, id: null, sinceMs, untilMs });
    },

    async resume(taskType) {
      const ended = types[taskType].pausesInForce(nowMs());
      types[taskType].pauses.clear();
      return ended;
    },

    pauses: async () => Object.values(types).flatMap((type) => type.pausesInForce(nowMs())),
  };
}

function settleCard(
  type: WorkState,
  { item, verdict, random, waitMs = 0 }: Settlement,
  backoff: { baseMs: number; capMs: number },
  nowMs: number,
): void {
  const { cardId, lane } = item;
  if (verdict === 'returned' && lane !== 'retry') {
    type.queue.set(cardId, nowMs);
    return;
  }
  type.queue.delete(cardId);
  if (verdict === 'done') {
    type.failures.delete(cardId);
  } else if (verdict !== 'failed') {
    const isWaiting = verdict === 'early' && waitMs > 0;
    if (isWaiting && type.retry.size >= MAX_RETRIES_WAITING) return;
    type.retry.delete(cardId);
    type.retry.addNew(cardId, Math.floor(nowMs + (isWaiting ? waitMs : 0)));
  } else {
    const failuresInARow = (type.failures.get(cardId) ?? 0) + 1;
    type.failures.set(cardId, failuresInARow);
    const backoffMs = backoff.baseMs * 2 ** (failuresInARow - 1);
    const pauseMs = Math.max(backoffMs < backoff.capMs ? random * backoffMs : 0, waitMs);
    const waits = backoffMs < backoff.capMs || waitMs > 0;
    if (waits && type.retry.size < MAX_RETRIES_WAITING)
      type.retry.addNew(cardId, Math.floor(nowMs + pauseMs));
  }
}

/** Fills and searches the manual lists; claims and settlements use them too. */
export function embeddedManualList(types: Readonly<Record<TaskType, WorkState>>): ManualList {
  return {
    async push(taskType, entries) {
      const type = types[taskType];
      for (const entry of entries) type.manual.push(entry);
      type.wakeListeners();
    },

    async remove(taskType, triggerIds) {
      const type = types[taskType];
      const removed = new Set<string | null>(triggerIds);
      type.manual = type.manual.filter((entry) => !removed.has(triggerIdOf(entry)));
    },

    running: async (taskType) => types[taskType].manualLeases.members(),

    async missing(taskType, entries) {
      const { manual, manualLeases } = types[taskType];
      const waiting = new Set(manual);
      return entries.filter((entry) => !waiting.has(entry) && manualLeases.scoreOf(entry) === undefined);
    },
  };
}
