// Pauses as JSON. Used by routes/polling-pauses.ts and schemas/stats.ts.
import { z } from 'zod';
import { PAUSABLE, PAUSE_SECONDS_BOUNDS } from '../../domain/limits/pause.ts';
import { body, instant, reason, requiredOr, taskType, wholeNumber } from './fields.ts';

export const pausedTypes = z.enum(PAUSABLE, { error: requiredOr(`must be one of ${PAUSABLE.join(', ')}`) });

export const pause = z
  .object({
    task_type: taskType,
    source: z.enum(['gateway', 'operator']),
    reason: z.string(),
    by: z.string(),
    since: instant,
    until: instant,
  })
  .meta({ id: 'Pause' });

export const newPause = body({
  task_type: pausedTypes,
  seconds: wholeNumber(PAUSE_SECONDS_BOUNDS),
  reason,
});
