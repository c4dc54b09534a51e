// Silences: periods without notifications for some alerts. Used by operations, API, CLI and the stores. The database decides
// which alerts a silence covers (store/sql/migrations/0.2/0010_alert_care.sql); this file has its type. A silence does not stop
// an alert from firing: the outbox holds the notification back while the silence is active, so no process has to notice its end.

import type { TaskType } from '../task-type.ts';
import type { RuleType } from './alert-rule.ts';

/** Ten seconds to thirty-one days; to silence an alert for longer, disable the rule. */
export const SILENCE_SECONDS_BOUNDS = { min: 10, max: 2_678_400 } as const;

/** Covers the alerts that match every attribute that is not null. At least one is not null. */
export interface SilenceScope {
  readonly ruleId: number | null;
  readonly ruleType: RuleType | null;
  readonly taskType: TaskType | null;
}

export interface Silence extends SilenceScope {
  readonly id: number;
  readonly reason: string;
  /** The actor that created it. */
  readonly by: string;
  readonly sinceMs: number;
  readonly untilMs: number;
}
