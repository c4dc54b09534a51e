// How many polls a limit allows, and whether a demand is far over it. For commands that ask before they overload a fleet.
import type { TaskBody } from '../../../api/client/client-bodies.ts';

type Measured = Pick<TaskBody, 'capacity' | 'effective_concurrency'>;

/** Assumed duration of a poll before one was measured. */
const ASSUMED_MS = 100;
/** Up to this multiple of what a limit allows, the measurement may be off. */
const FAR_OVER = 2;

/** @returns polls a second. */
export function roomOf({ capacity, effective_concurrency }: Measured, limit: number): number {
  const { capacity_per_second: measured } = capacity;
  return measured === null
    ? (limit * 1000) / ASSUMED_MS
    : (limit * measured) / Math.max(1, effective_concurrency);
}

export function isFarOver(demandPerSecond: number, room: number): boolean {
  return demandPerSecond > FAR_OVER * room;
}

/** `the limit of 100 allows about 1,000 a second (assuming 100 ms a poll)`. */
export function roomText(task: Measured, limit: number): string {
  const assumed = task.capacity.capacity_per_second === null ? ` (assuming ${ASSUMED_MS} ms a poll)` : '';
  return `a limit of ${limit.toLocaleString('en-US')} allows about ${rate(roomOf(task, limit))}${assumed}`;
}

/** `1,000 polls a second`, with a digit after the point below ten. */
export function rate(perSecond: number): string {
  const digits = perSecond < 10 ? 1 : 0;
  return `${perSecond.toLocaleString('en-US', { maximumFractionDigits: digits })} polls a second`;
}
