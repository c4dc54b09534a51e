// The recommended alert rules: each metric of operations interface, section 2.3, for each task type, at its alert
// threshold, and held stops. Used by `cardpoll alerts recommended`.

import { TASK_TYPES } from '../task-type.ts';
import { type AlertCondition, RULE_TYPE_FACTS, RULE_TYPES, ruleTypeFits } from './alert-rule.ts';

/** Names are distinct and never change: by them the command knows which rules a fleet already has. */
export function recommendedAlerts(): ReadonlyArray<AlertCondition & { readonly name: string }> {
  return RULE_TYPES.flatMap((ruleType) => {
    const { recommended, usual } = RULE_TYPE_FACTS[ruleType];
    if (recommended === null) return [];
    return TASK_TYPES.filter((taskType) => ruleTypeFits(ruleType, taskType)).map((taskType) => ({
      name: `${recommended}: ${taskType}`,
      ruleType,
      taskType,
      ...usual,
    }));
  });
}
