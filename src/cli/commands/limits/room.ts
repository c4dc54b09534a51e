// How many polls a limit allows, and whether a demand is far over it. For commands that ask before they overload a fleet.
import type { TaskBody } from '../../../api/client/client-bodies.ts';
import { DEFAULT_MAX_CONCURRENCY } from '../../../domain/limits/max-concurrency.ts';

/** A limit that is raised further at once sends the gateway more calls than anyone has seen it handle. */
const MOST_TIMES_RAISED = 10;

interface LimitPlan {
  readonly lines: readonly string[];
  readonly asksFirst: boolean;
}

/** Demand against capacity under the new limit, and whether to ask first. */
export function limitPlan(task: TaskBody, limit: number): LimitPlan {
  const { task_type, demand_per_second: demand, concurrency, scheduled_cards } = task;
  const before = concurrency.max;
  const starves = limit < before && isFarOver(demand, roomOf(task, limit));
  const isNeeded = demand >= roomOf(task, limit) / 2;
  const floods = limit > MOST_TIMES_RAISED * Math.max(before, DEFAULT_MAX_CONCURRENCY) && !isNeeded;
  const number = (value: number) => value.toLocaleString('en-US');
  return {
    lines: [
      `Set the limit of ${task_type}, with ${number(scheduled_cards)} cards: ${number(before)} -> ${number(limit)}.`,
      `The polling configs need ${rate(demand)}; ${roomText(task, limit)}.`,
      ...(starves ? ['A backlog will grow, and cards will be polled less often than configured.'] : []),
      ...(floods ? [`The gateway may get ${number(limit)} calls at a time.`] : []),
    ],
    asksFirst: starves || floods,
  };
}

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
