// Changes of how much is polled for a task type: its limit, its running count, and its pauses.
import type { Pausable } from '../domain/limits/operator-limits.ts';
import type { TaskType } from '../domain/task-type.ts';
import { cardCount, grouped, span } from '../domain/words.ts';
import { shellQuoted } from '../platform/shell-word.ts';
import type { ConcurrencyBody, PauseBody, ResetBody } from '../resources/limits.ts';
import type { ItemsBody } from '../resources/schema.ts';
import type { TaskBody } from '../resources/stats.ts';
import { relativeTime } from '../terminal/style.ts';
import { BACKLOG, isFarOver, pollRate, roomText } from './demand.ts';
import type { PlannedChange } from './planned-change.ts';

export function limitChange(task: TaskBody, to: number): PlannedChange<ConcurrencyBody> {
  const { task_type, concurrency, effective_concurrency, scheduled_cards, demand_per_second } = task;
  return {
    title: `Limit of ${task_type}: ${grouped(concurrency.max)} -> ${grouped(to)}`,
    effects: [
      `For ${cardCount(scheduled_cards)}, on every instance within a second.`,
      `The polling configs need ${pollRate(demand_per_second)}; ${roomText(task, to)}.`,
      ...(starves(task, to) ? [BACKLOG] : []),
      ...(effective_concurrency < Math.min(concurrency.max, to)
        ? [`The limit in force is ${effective_concurrency} now; cardpoll concurrency says why.`]
        : []),
    ],
    command: `cardpoll concurrency set ${task_type} ${to}`,
    perform: (client) => client.setConcurrency(task_type, to),
    said: (body) => `limit of ${body.task_type}: ${concurrency.max} -> ${body.max_concurrency}`,
  };
}

/** Whether the new limit is lower, and far too low for the polling configs. */
export function starves(task: TaskBody, to: number): boolean {
  return to < task.concurrency.max && isFarOver(task.demand_per_second, task, to);
}

/** @param running tasks that currently count as running. */
export function resetChange(task_type: TaskType, running: number): PlannedChange<ResetBody> {
  return {
    title: `Running count of ${task_type}: ${running} -> 0`,
    effects: [`${cardCount(running)} may be running: their results are dropped and they are polled again.`],
    command: `cardpoll concurrency reset ${task_type}`,
    perform: (client) => client.resetConcurrency(task_type),
    said: (body) => `running count of ${body.task_type}: ${body.previous} -> ${body.current}`,
  };
}

interface Pausing {
  readonly taskType: Pausable;
  /** Number of cards that are polled for it; null: unknown. */
  readonly cards: number | null;
  readonly seconds: number;
  readonly reason: string;
}

/** @param pauses those in force. An operator's pause replaces that of another operator, who may rely on it. */
export function pauseChange(
  { taskType, cards, seconds, reason }: Pausing,
  pauses: readonly PauseBody[],
  nowMs: number,
): PlannedChange<ItemsBody<PauseBody>> {
  const what = taskType === 'all' ? 'all task types' : taskType;
  const whom = cards === null ? 'No card is' : cardCount(cards, ['is not', 'are not']);
  const named = reason === '' ? '' : ` --reason ${shellQuoted(reason)}`;
  return {
    title: `Pause ${what} for ${span(seconds)}, on every instance`,
    effects: [
      `${whom} polled for ${taskType === 'all' ? 'them' : 'it'} meanwhile, manual triggers included.`,
      'Calls in flight end. What falls due waits in the queue.',
      ...(taskType === 'all' || taskType === 'package' ? ['No card is stopped or resumed meanwhile.'] : []),
      ...replacedBy(taskType, pauses).map((pause) => `Replaces the ${pauseText(pause, nowMs)}.`),
    ],
    command: `cardpoll pause ${taskType} --for ${seconds}s${named}`,
    perform: (client) => client.pause(taskType, seconds, reason),
    said: () => `polling of ${what} is paused for ${span(seconds)}`,
  };
}

/** The operators' pauses that a new one ends. */
export function replacedBy(taskType: Pausable, pauses: readonly PauseBody[]): readonly PauseBody[] {
  return pauses.filter(
    ({ task_type, source }) => source === 'operator' && (taskType === 'all' || task_type === taskType),
  );
}

export function resumeChange(
  { task_type, scheduled_cards }: TaskBody,
  pauses: readonly PauseBody[],
  nowMs: number,
): PlannedChange<ItemsBody<PauseBody>> | string {
  const own = pauses.filter((pause) => pause.task_type === task_type);
  if (own.length === 0) return `${task_type} is not paused`;
  return {
    title: `Resume ${task_type}: paused -> polled`,
    effects: [
      `${cardCount(scheduled_cards, ['is', 'are'])} polled again, up to the limit.`,
      ...own.map((pause) => `Ends the ${pauseText(pause, nowMs)}.`),
    ],
    command: `cardpoll resume ${task_type}`,
    perform: (client) => client.resume(task_type),
    said: ({ items }) => (items.length === 0 ? 'nothing was paused any more' : `${task_type} goes on`),
  };
}

/** `pause of anna, else over in 10m: gateway maintenance`. */
export function pauseText({ by, until, reason }: PauseBody, nowMs: number): string {
  return `pause of ${by}, else over ${relativeTime(until, nowMs)}: ${reason || 'no reason given'}`;
}
