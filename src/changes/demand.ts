// Compares the capacity of a limit with the demand of the polling configs. Pure. Used by the changes of a limit and of a polling
// config.
import { grouped } from '../domain/words.ts';
import type { TaskBody } from '../resources/stats.ts';
import { digitsOf } from '../terminal/style.ts';

export const BACKLOG = 'A backlog will grow, and cards will be polled less often than configured.';

type MeasuredTask = Pick<TaskBody, 'capacity' | 'effective_concurrency' | 'avg_duration_ms_10s'>;

/** Assumed duration of a poll before one was measured. */
export const ASSUMED_MS = 100;
/** Up to this multiple of a limit's capacity, the measurement may be wrong. */
const FAR_OVER = 2;

/** Whether cards demand far more polls than the limit and the rate limits allow. */
export function isFarOver(demandPerSecond: number, task: MeasuredTask, limit: number): boolean {
  return demandPerSecond > FAR_OVER * roomOf(task, limit);
}

/** @returns polls a second that the limit and the rate limits allow. */
function roomOf(task: MeasuredTask, limit: number): number {
  const { capacity_per_second: measured, bound_by } = task.capacity;
  const allowed = bound_by === 'rate_limits' && measured !== null ? measured : Number.POSITIVE_INFINITY;
  return Math.min(allowed, perSecondAt(task, limit));
}

/** @returns polls a second that the limit allows, without rate limits. */
export function perSecondAt(
  { capacity, effective_concurrency, avg_duration_ms_10s }: MeasuredTask,
  limit: number,
): number {
  const { capacity_per_second: measured, bound_by } = capacity;
  if (measured === null) return (limit * 1000) / ASSUMED_MS;
  // The capacity of the rate limits does not show the duration of a poll.
  if (bound_by === 'rate_limits') return (limit * 1000) / (avg_duration_ms_10s ?? ASSUMED_MS);
  return (limit * measured) / Math.max(1, effective_concurrency);
}

/** `a limit of 100 allows about 1,000 polls a second (assuming 100 ms a poll)`. */
export function roomText(task: MeasuredTask, limit: number): string {
  const assumed = task.capacity.capacity_per_second === null ? ` (assuming ${ASSUMED_MS} ms a poll)` : '';
  return `a limit of ${grouped(limit)} allows about ${pollRate(roomOf(task, limit))}${assumed}`;
}

/** `1,000 polls a second`, with digits after the point below ten. */
export function pollRate(perSecond: number): string {
  return `${perSecond.toLocaleString('en-US', { maximumFractionDigits: digitsOf(perSecond) })} polls a second`;
}
