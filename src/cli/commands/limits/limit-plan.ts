// What a new limit does to a task type, for `cardpoll concurrency set`: demand against capacity, and whether to ask first.
import type { TaskBody } from '../../../api/client/client-bodies.ts';
import { DEFAULT_MAX_CONCURRENCY } from '../../../domain/limits/max-concurrency.ts';
import { isFarOver, rate, roomOf, roomText } from './room.ts';

/** A limit that is raised further at once sends the gateway more calls than anyone has seen it handle. */
const MOST_TIMES_RAISED = 10;

interface LimitPlan {
  readonly lines: readonly string[];
  readonly asksFirst: boolean;
}

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
