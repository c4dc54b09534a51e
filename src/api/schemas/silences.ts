// What requests about silences may say. Used by routes/polling-alert-silences.ts. That something is silenced at all, and either for so long or
// until an instant, is checked in operations/alerts/silences.ts.
import { z } from 'zod';
import { RULE_TYPES } from '../../domain/alerts/alert-rule.ts';
import { SILENCE_SECONDS_BOUNDS } from '../../domain/alerts/alert-silence.ts';
import { RECORD_ID_BOUNDS } from '../../domain/page.ts';
import { body, reason, requiredOr, taskType, wholeNumber } from './fields.ts';

const ruleType = z.enum(RULE_TYPES, { error: `must be one of ${RULE_TYPES.join(', ')}` });
const ruleId = wholeNumber(RECORD_ID_BOUNDS);
const untilError = 'must be a time like 2026-11-22T08:00:00Z';

export const newSilence = body({
  rule_id: ruleId.nullable().default(null),
  rule_type: ruleType.nullable().default(null),
  task_type: taskType.nullable().default(null),
  seconds: wholeNumber(SILENCE_SECONDS_BOUNDS).nullable().default(null),
  until: z.iso.datetime({ offset: true, error: untilError }).nullable().default(null),
  reason,
});

/** In a path. */
export const silenceId = z
  .string()
  .regex(/^[1-9]\d{0,9}$/, { error: requiredOr('must be the number of a silence') })
  .transform(Number);
