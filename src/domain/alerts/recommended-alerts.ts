// The alert rules that every fleet should have. Used by the command line, for `cardpoll alerts recommended`.
import { TASK_TYPES } from '../task-type.ts';
import { type AlertCondition, RULE_TYPE_FACTS, RULE_TYPES, ruleTypeFits } from './alert-rule.ts';

/**
 * The rules that `cardpoll alerts recommended` creates, one for each cause: `health` of each task type, which judges the metrics
 * of operations interface, section 8, and all causes that hold polling back; and separate rules about stops. Names are distinct
 * and never change: the command recognises existing rules by them.
 */
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
