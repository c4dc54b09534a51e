// What alert rules watch of a task type besides its polls. Made by the statistics (operations/stats), so that a rule
// judges what `cardpoll stats` shows; read by the evaluator.
import type { Health } from '../health.ts';
import type { TaskType } from '../task-type.ts';

export interface TaskCondition {
  /**
   * Of the task type and of the whole fleet, without `concurrency_usage`: a backlog that drains uses the whole limit.
   */
  readonly health: Health;
  /** How long the oldest breaker has held its calls back, without a success; 0: none does. */
  readonly breakerOpenSeconds: number;
  readonly pausedByOperator: boolean;
}

export type TaskConditions = Readonly<Record<TaskType, TaskCondition>>;
