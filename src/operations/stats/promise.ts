// Whether the fleet does what it is there for: cards are polled as configured. Used by the heartbeat for those who watch from outside
// (engine/alerts/outside-heartbeat.ts), which is sent only while this says so. Pure.
//
// Every reason of severity `alert` breaks the promise, so that a new one is never forgotten here. A pause by an operator does not: it is
// his wish, and ends by itself. The rest is what health leaves out, because it wakes nobody or is nobody's fault.
import { RULE_TYPE_FACTS } from '../../domain/alerts/alert-rule.ts';
import { sum } from '../../domain/numbers.ts';
import { OF_A_START } from '../health/health-reasons.ts';
import type { HealthReason, StopNumbers } from '../health/health-report.ts';
import type { PauseReport } from '../limits/limits-report.ts';
import { isStarting } from './stats.ts';
import type { InstanceReport, Overview, TaskStats } from './stats-report.ts';

const POLLED_PERCENT = RULE_TYPE_FACTS.polling_stalled.usual.threshold;

/** The part of an overview that the promise is about. */
interface Read extends Pick<Overview, 'generatedAt'> {
  readonly healthReasons: ReadonlyArray<Pick<HealthReason, 'code' | 'severity' | 'text'>>;
  readonly init: Pick<Overview['init'], 'status' | 'reason'>;
  readonly pauses: ReadonlyArray<Pick<PauseReport, 'source' | 'taskType'>>;
  readonly stops: Pick<StopNumbers, 'mode'>;
  readonly tasks: ReadonlyArray<Pick<TaskStats, 'taskType' | 'demandPerSecond' | 'polledPercent'>>;
  readonly workers: ReadonlyArray<Pick<InstanceReport, 'startedAt'>>;
}

/** @returns why the promise is not kept, or not known to be kept; null: it is. */
export function brokenPromise(overview: Read): string | null {
  const { generatedAt, healthReasons, init, pauses, stops, tasks, workers } = overview;
  if (stops.mode === null) return 'the database did not answer in time';
  const started = workers.map(({ startedAt }) => ({ startedAtMs: startedAt.getTime() }));
  // A fleet that starts again and again must not look well between two starts.
  const calmed = isStarting(started, generatedAt.getTime()) ? OF_A_START : [];
  const reason = healthReasons.find(({ code, severity }) => severity === 'alert' || calmed.includes(code));
  if (reason !== undefined) return `${reason.code}: ${reason.text}`;
  const isBuilt = init.status === 'completed' || (init.status === 'running' && init.reason !== 'build');
  if (!isBuilt) return 'the cards are being loaded into their rings';
  if (sum(tasks.map(({ demandPerSecond }) => demandPerSecond)) === 0) {
    return 'no card is to be polled: no enabled polling config selects one';
  }
  const byOperator = pauses.filter(({ source }) => source === 'operator').map(({ taskType }) => taskType);
  const stalled = tasks.find(
    ({ taskType, polledPercent }) =>
      (polledPercent ?? 100) < POLLED_PERCENT && !byOperator.includes(taskType),
  );
  return stalled === undefined
    ? null
    : `${stalled.taskType}: ${Math.round(stalled.polledPercent ?? 0)} % of the demand is polled`;
}
