// Silences: alerts nobody is to be told of for a time. Used by operations, API, CLI and the stores. Which alerts a silence
// is about is decided where they are (store/sql/migrations/0010_alert_care.sql); this is its shape.

import type { TaskType } from '../task-type.ts';
import type { RuleType } from './alert-rule.ts';

/** Ten seconds to thirty-one days: whoever wants to hear nothing for longer disables the rule. */
export const SILENCE_SECONDS_BOUNDS = { min: 10, max: 2_678_400 } as const;

/** The alerts that have all that is given; null leaves one open. At least one is given. */
export interface SilenceScope {
  readonly ruleId: number | null;
  readonly ruleType: RuleType | null;
  readonly taskType: TaskType | null;
}

export interface Silence extends SilenceScope {
  readonly id: number;
  readonly reason: string;
  /** Who made it. */
  readonly by: string;
  readonly sinceMs: number;
  readonly untilMs: number;
}
