// What alert rules watch of each task type besides its polls, taken from the overview that operators see. Used by stats.ts.
// Pure.
import type { TaskConditions } from '../../domain/alerts/alert-rule.ts';
import { perTaskType } from '../../domain/task-type.ts';
import { heldInterfacesOf } from '../health/gateway-report.ts';
import { type HealthCode, healthOfReasons } from '../health/health-reasons.ts';
import type { Overview } from './stats-report.ts';

const NO_FAULT: HealthCode = 'concurrency_usage';

export function taskConditionsOf({ generatedAt, gateway, healthReasons, pauses }: Overview): TaskConditions {
  return perTaskType((taskType) => {
    const reasons = healthReasons.filter(
      (reason) => reason.code !== NO_FAULT && (reason.taskType ?? taskType) === taskType,
    );
    const opened = heldInterfacesOf(taskType, gateway).flatMap(({ breaker, since }) =>
      breaker === 'open' && since !== null ? since.getTime() : [],
    );
    return {
      health: healthOfReasons(reasons),
      breakerOpenSeconds:
        opened.length === 0 ? 0 : Math.max(0, generatedAt.getTime() - Math.min(...opened)) / 1000,
      pausedByOperator: pauses.some((pause) => pause.taskType === taskType && pause.source === 'operator'),
    };
  });
}
