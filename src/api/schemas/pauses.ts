// What requests about pauses may say. Used by routes/polling-pauses.ts.
import { z } from 'zod';
import { PAUSABLE, PAUSE_SECONDS_BOUNDS } from '../../domain/limits/pause.ts';
import { body, reason, requiredOr, wholeNumber } from './fields.ts';

export const pausedTypes = z.enum(PAUSABLE, { error: requiredOr(`must be one of ${PAUSABLE.join(', ')}`) });

export const newPause = body({
  task_type: pausedTypes,
  seconds: wholeNumber(PAUSE_SECONDS_BOUNDS),
  reason,
});
