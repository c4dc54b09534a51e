// Settings of the cleanup. Part of the settings table (settings.ts).
import { Cron } from 'croner';
import { messageOf } from '../../platform/errors.ts';
import { duration, type Kind, refuse, shown, textOf } from '../kinds.ts';
import { section, withDefault } from './setting.ts';

/**
 * A cron expression, or `off`. Five fields (minute, hour, day, month, weekday), six with seconds in front, or seven with a year
 * at the end as well. An expression that never matches is refused.
 */
const CRON_SCHEDULE: Kind<string> = {
  accepts: 'cron expression or off',
  parse: (raw) => {
    const value = raw === false ? 'off' : textOf(raw).trim(); // YAML reads a bare `off` as false
    const problem = value === 'off' ? null : problemOf(value);
    return problem === null ? value : refuse(`${shown(raw)} is not a cron expression or off: ${problem}`);
  },
};

function problemOf(expression: string): string | null {
  try {
    return new Cron(expression).nextRun() === null ? 'it never matches a date' : null;
  } catch (error) {
    return messageOf(error).replace(/^CronPattern: /, '');
  }
}

export const CLEANUP = section('cleanup.', 'CLEANUP_', {
  schedule: withDefault({
    kind: CRON_SCHEDULE,
    default: '30 3 * * *',
    doc: 'When expired data is removed, in the configured time zone. A run missed while no instance was up is skipped.',
  }),
  pauseMs: withDefault({
    kind: duration('ms', { min: 0, max: 60_000 }),
    default: 50,
    doc: 'Minimum pause between two cleanup batches; it grows to four times the duration of a batch. 0: no pause.',
  }),
});
