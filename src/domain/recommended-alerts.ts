// The nine recommended alert rules: each metric of operations interface, section 2.3, for each task type. Used by
// `cardpoll alerts recommended`.
import { type AlertCondition, SPECIFIED_RULE_TYPES, type SpecifiedRuleType } from './alert-rule.ts';
import { RECOMMENDED_CONDITIONS } from './health.ts';
import { TASK_TYPES } from './task-type.ts';

const LABELS: Record<SpecifiedRuleType, string> = {
  queue_backlog: 'Queue backlog',
  success_rate: 'Success rate',
  avg_duration: 'Average duration',
};

/** Names are distinct and never change: they tell which of the rules a fleet has already. */
export function recommendedAlerts(): ReadonlyArray<
  AlertCondition & { readonly name: string; readonly ruleType: SpecifiedRuleType }
> {
  return SPECIFIED_RULE_TYPES.flatMap((ruleType) =>
    TASK_TYPES.map((taskType) => ({
      name: `${LABELS[ruleType]}: ${taskType}`,
      ruleType,
      taskType,
      ...RECOMMENDED_CONDITIONS[ruleType],
    })),
  );
}
