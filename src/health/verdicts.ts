// What follows from a judgement: the conditions that alert rules watch besides the polls, and whether the fleet does what it is there
// for, which is that cards are polled as configured. The heartbeat for those who watch from outside (engine/alerts/outside-heartbeat.ts)
// is sent only while that promise is kept. Pure.
import type { OrderedCause } from '../domain/alerts/alert-cause.ts';
import { RULE_TYPE_FACTS, type TaskConditions } from '../domain/alerts/alert-rule.ts';
import { NOT_IN_FORCE } from '../domain/limits/in-force.ts';
import { REASON_AFTER_SECONDS } from '../domain/limits/operator-limits.ts';
import { sum } from '../domain/numbers.ts';
import { windowOfPause } from '../domain/schedule/maintenance.ts';
import { perTaskType, type TaskType } from '../domain/task-type.ts';
import type { InstanceInfo } from '../store/ports/live/coordination.ts';
import type { Pause } from '../store/ports/live/work-queue.ts';
import { isStarting } from './fleet-faults.ts';
import { type Breakers, heldInterfacesOf } from './gateway-report.ts';
import { OF_A_START } from './health-reasons.ts';
import type { InitProgressFacts } from './init-progress.ts';
import type { HealthReason } from './reason.ts';
import type { TaskJudgement } from './task-judge.ts';

const NO_FAULT = 'concurrency_usage';

/** @returns those that concern the task type: its own, and those of the whole fleet. */
export function reasonsOf<Reason extends HealthReason>(
  taskType: TaskType,
  reasons: readonly Reason[],
): readonly Reason[] {
  return reasons.filter((reason) => reason.code !== NO_FAULT && (reason.taskType ?? taskType) === taskType);
}

/** In the order of health what follows comes after its cause, which may be of another task type. */
function withRoots(reasons: readonly HealthReason[]): Array<HealthReason & OrderedCause> {
  let root: HealthReason | null = null;
  return reasons.map((reason) => {
    if (reason.causedBy === null || root === null) root = reason;
    return { ...reason, root };
  });
}

/** The part of a judgement that is looked at here. */
interface Judged {
  readonly nowMs: number;
  readonly gateway: Breakers;
  readonly reasons: readonly HealthReason[];
  readonly pauses: readonly Pause[];
  readonly init: InitProgressFacts;
  /** null: the database did not answer. */
  readonly stops: unknown;
  readonly tasks: readonly TaskJudgement[];
  readonly instances: readonly InstanceInfo[];
}

export function taskConditionsOf({
  nowMs,
  gateway,
  reasons,
  pauses,
  tasks,
}: Pick<Judged, 'nowMs' | 'gateway' | 'reasons' | 'pauses' | 'tasks'>): TaskConditions {
  return perTaskType((taskType) => {
    const opened = heldInterfacesOf(taskType, gateway).flatMap(({ breaker, since }) =>
      breaker === 'open' && since !== null ? since.getTime() : [],
    );
    const isForgotten = pauses.some((pause) => pause.taskType === taskType && mayBeForgotten(pause, nowMs));
    const marked = ({ code, severity }: HealthReason) =>
      isForgotten && code === 'paused' && severity === 'warning' ? { reminds: true as const } : {};
    return {
      reasons: reasonsOf(taskType, withRoots(reasons)).map((one) => ({ ...one, ...marked(one) })),
      breakerOpenSeconds: opened.length === 0 ? 0 : Math.max(0, nowMs - Math.min(...opened)) / 1000,
      pausedByOperator:
        pauses.some((pause) => pause.taskType === taskType && pause.source === 'operator') ||
        resuming(tasks).includes(taskType),
    };
  });
}

/** An operator's pause that has lasted so long that it needed a reason. Maintenance was planned and is shown ahead. */
function mayBeForgotten({ source, id, sinceMs }: Pause, nowMs: number): boolean {
  return (
    source === 'operator' && windowOfPause(id) === null && nowMs - sinceMs >= 1_000 * REASON_AFTER_SECONDS
  );
}

/** What the last seconds show of these is still of a pause. */
function resuming(tasks: Judged['tasks']): TaskType[] {
  return tasks.filter(({ isResuming }) => isResuming).map(({ taskType }) => taskType);
}

const POLLED_PERCENT = RULE_TYPE_FACTS.polling_stalled.usual.threshold;

/**
 * Every reason of severity `alert` breaks the promise, so that a new one is never forgotten here. A pause by an operator does not: it is
 * his wish, and ends by itself. The rest is what health leaves out, because it wakes nobody or is nobody's fault.
 * @returns why the promise is not kept, or not known to be kept; null: it is.
 */
export function brokenPromise(judged: Omit<Judged, 'gateway'>): string | null {
  const { nowMs, reasons, init, pauses, stops, tasks, instances } = judged;
  if (stops === null) return 'the database did not answer in time';
  // A fleet that starts again and again must not look well between two starts.
  const calmed = isStarting(instances, nowMs) ? OF_A_START : [];
  const reason = reasons.find(({ code, severity }) => severity === 'alert' || calmed.includes(code));
  if (reason !== undefined) return `${reason.code}: ${reason.text}`;
  // Health leaves it out while the fleet starts.
  if (!tasks.every(({ counts }) => counts.inForce)) return NOT_IN_FORCE;
  const isBuilt = init.status === 'completed' || (init.status === 'running' && init.reason !== 'build');
  if (!isBuilt) return 'the cards are being loaded into their rings';
  if (sum(tasks.map(({ metrics }) => metrics.schedule.demandPerSecond)) === 0) {
    return 'no card is to be polled: no enabled polling config selects one';
  }
  const byOperator = [
    ...pauses.filter(({ source }) => source === 'operator').map(({ taskType }) => taskType),
    ...resuming(tasks),
  ];
  const stalled = tasks.find(
    ({ taskType, metrics: { polledPercent } }) =>
      (polledPercent ?? 100) < POLLED_PERCENT && !byOperator.includes(taskType),
  );
  return stalled === undefined
    ? null
    : `${stalled.taskType}: ${Math.round(stalled.metrics.polledPercent ?? 0)} % of the demand is polled`;
}
