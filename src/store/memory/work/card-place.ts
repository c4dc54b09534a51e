// Finds one card in the embedded work of a task type. Used by work-queue.ts. The rules are those of
// src/store/redis/work/work-place.lua, checked by the same contract suite.
import type { CardPlace } from '../../ports/live/work-queue.ts';
import type { WorkState } from './work-state.ts';

export function placeIn(
  type: WorkState,
  cardId: number,
  manualEntries: readonly string[],
  nowMs: number,
): CardPlace {
  const score = type.queue.scoreOf(cardId);
  const leased = score !== undefined && !Number.isInteger(score) && score > nowMs;
  const retryAtMs = type.retry.scoreOf(cardId);
  const waiting = type.manual.entries().findIndex((entry) => manualEntries.includes(entry));
  return {
    queued:
      score === undefined || leased
        ? null
        : { dueAtMs: Math.floor(score), before: type.queue.countBefore(score) },
    running: leased
      ? { leaseEndsAtMs: Math.floor(score), calling: type.slots.scoreOf(String(cardId)) === score }
      : null,
    retry: retryAtMs === undefined ? null : { atMs: retryAtMs, before: type.retry.countBefore(retryAtMs) },
    failuresInARow: type.failures.get(cardId) ?? 0,
    manual: {
      waiting: waiting < 0 ? null : { before: waiting },
      running: manualEntries.some((entry) => (type.manualLeases.scoreOf(entry) ?? 0) > nowMs),
    },
  };
}
