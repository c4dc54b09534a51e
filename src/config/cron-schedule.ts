// The kind of value a schedule has: a cron expression, or `off`. Used by the settings table.
import { Cron } from 'croner';
import { messageOf } from '../platform/errors.ts';
import type { Kind } from './kinds.ts';

/** Five fields (minute, hour, day, month, weekday), or six with seconds in front. An expression that never matches is refused. */
export function cronSchedule(): Kind<string> {
  return {
    accepts: 'cron expression or off',
    parse: (raw) => {
      const value = raw === false ? 'off' : String(raw).trim(); // YAML reads a bare `off` as false
      const problem = value === 'off' ? null : problemOf(value);
      return problem === null
        ? { ok: true, value }
        : { ok: false, problem: `${JSON.stringify(raw)} is not a cron expression or off: ${problem}` };
    },
  };
}

function problemOf(expression: string): string | null {
  try {
    return new Cron(expression).nextRun() === null ? 'it never matches a date' : null;
  } catch (error) {
    return messageOf(error).replace(/^CronPattern: /, '');
  }
}
