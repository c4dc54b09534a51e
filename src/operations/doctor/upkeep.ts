// What nobody misses until it is needed: alert rules, and the cleanup. Used by fleet.ts.
import { type Finding, ok, warning } from '../../domain/finding.ts';
import type { Clock } from '../../platform/clock.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';

/** A schedule had its turn by then. */
const CLEANUP_EXPECTED_AFTER_MS = 2 * 86_400_000;
const RULES_LOOKED_AT = 1_000;

export interface UpkeepSettings {
  /** Cron expression, or `off`. */
  readonly cleanupSchedule: string;
}

export async function upkeepFindings(
  records: RecordStore,
  clock: Clock,
  settings: UpkeepSettings,
): Promise<Finding[]> {
  return [await alertFinding(records), await cleanupFinding(records, clock, settings)];
}

async function alertFinding({ alerts }: RecordStore): Promise<Finding> {
  const check = 'alert rules';
  const { items, total } = await alerts.rules({ offset: 0, limit: RULES_LOOKED_AT });
  const enabled = items.filter(({ isEnabled }) => isEnabled).length;
  if (enabled > 0) return ok(check, `${enabled} of ${total} watch`);
  return total === 0
    ? warning(check, 'there are none: nobody is told when polling fails', {
        command: 'cardpoll alerts recommended --apply',
      })
    : warning(check, `all ${total} are disabled: nobody is told when polling fails`, {
        command: `cardpoll alerts rules update ${items[0]?.id} --enable`,
      });
}

async function cleanupFinding(
  records: RecordStore,
  clock: Clock,
  { cleanupSchedule }: UpkeepSettings,
): Promise<Finding> {
  const check = 'cleanup';
  const command = 'cardpoll cleanup run --yes --wait';
  const [last, migrations] = await Promise.all([records.cleanup.latest(), records.migrations.status()]);
  if (last?.status === 'failed') {
    const errors = last.items.flatMap(({ target, error }) => (error === null ? [] : `${target}: ${error}`));
    return warning(check, `the last run failed: ${errors.join('; ')}`, { command });
  }
  if (last !== null) {
    const when = new Date(last.finishedAtMs ?? last.startedAtMs).toISOString();
    return ok(check, last.status === 'running' ? `is running since ${when}` : `ran last at ${when}`);
  }
  if (cleanupSchedule === 'off') {
    return warning(check, 'it never ran and has no schedule: expired data stays', {
      hint: 'set cleanup.schedule, or run it from cron',
      command,
    });
  }
  const bornMs = Math.min(...migrations.map(({ appliedAtMs }) => appliedAtMs ?? clock.now()));
  if (clock.now() - bornMs <= CLEANUP_EXPECTED_AFTER_MS) {
    return ok(check, `has not run yet; its schedule is ${cleanupSchedule}`);
  }
  return warning(
    check,
    `it never ran, although its schedule is ${cleanupSchedule}: no leader was alive then`,
    {
      command,
    },
  );
}
