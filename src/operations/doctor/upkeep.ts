// Checks of what an operator keeps up: alert rules and the cleanup, whose absence is noticed only when they are needed, and
// admin tokens of the configuration, which expire. Used by fleet.ts and, for the tokens, by src/doctor.ts.
import type { AdminToken } from '../../domain/admin-token.ts';
import { type Finding, ok, warning } from '../../domain/finding.ts';
import type { Clock } from '../../platform/clock.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';

/** Every usual schedule has come up once by then. */
const CLEANUP_EXPECTED_AFTER_MS = 2 * 86_400_000;
const RULES_LOOKED_AT = 1_000;

/** @param cleanupSchedule cron expression, or `off`. */
export async function upkeepFindings(
  records: RecordStore,
  clock: Clock,
  cleanupSchedule: string,
): Promise<Finding[]> {
  return [await alertFinding(records), await cleanupFinding(records, clock, cleanupSchedule)];
}

async function alertFinding({ alerts }: RecordStore): Promise<Finding> {
  const check = 'alert rules';
  const { items, total } = await alerts.rules({ offset: 0, limit: RULES_LOOKED_AT });
  const enabled = items.filter(({ isEnabled }) => isEnabled);
  const notifying = enabled.filter(({ notifyChannels }) => notifyChannels.length > 0).length;
  if (notifying > 0) {
    return ok(check, `${enabled.length} of ${total} rules enabled, ${notifying} with a webhook`);
  }
  if (enabled.length > 0) {
    return warning(
      check,
      `${enabled.length} of ${total} rules enabled, but none has a webhook: no one is notified`,
      {
        hint: '`cardpoll alerts recommended --apply --webhook-url URL` gives them one',
        command: 'cardpoll alerts rules',
      },
    );
  }
  return total === 0
    ? warning(check, 'there are none: no one is notified when polling fails', {
        command: 'cardpoll alerts recommended --apply',
      })
    : warning(check, `all ${total} are disabled: no one is notified when polling fails`, {
        command: `cardpoll alerts rules update ${items[0]?.id} --enable`,
      });
}

async function cleanupFinding(records: RecordStore, clock: Clock, cleanupSchedule: string): Promise<Finding> {
  const check = 'cleanup';
  const command = 'cardpoll cleanup run --yes --wait';
  const [last, migrations] = await Promise.all([records.cleanup.latest(), records.migrations.status()]);
  if (last?.status === 'failed') {
    const errors = last.items.flatMap(({ target, error }) => (error === null ? [] : `${target}: ${error}`));
    return warning(check, `the last run failed: ${errors.join('; ')}`, { command });
  }
  if (last !== null) {
    const when = new Date(last.finishedAtMs ?? last.startedAtMs).toISOString();
    return ok(check, last.status === 'running' ? `running since ${when}` : `last run at ${when}`);
  }
  if (cleanupSchedule === 'off') {
    return warning(check, 'it has never run and has no schedule: expired data is never removed', {
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
    `it has never run, although its schedule is ${cleanupSchedule}: no leader was alive at these times`,
    {
      command,
    },
  );
}

const DAY_MS = 86_400_000;
const SOON_DAYS = 14;

/** One finding for each token that has expired or expires soon; none without tokens. */
export function tokenFindings(tokens: ReadonlyArray<Omit<AdminToken, 'hash'>>, nowMs: number): Finding[] {
  if (tokens.length === 0) return [];
  const ending = tokens.filter(({ expiresAtMs }) => (expiresAtMs ?? Infinity) - nowMs < SOON_DAYS * DAY_MS);
  if (ending.length === 0) {
    return [ok('admin tokens', `${tokens.length} known, none expires within ${SOON_DAYS} days`)];
  }
  return ending.map(({ name, role, expiresAtMs }) => {
    const endsMs = expiresAtMs ?? nowMs;
    const lastDay = new Date(endsMs - 1).toISOString().slice(0, 10);
    const is =
      endsMs <= nowMs ? `expired: ${lastDay} was its last day` : `expires: ${lastDay} is its last day`;
    return warning('admin tokens', `the token of ${name} ${is}`, {
      hint: 'add the line of a new token, reload, and remove the old line when the new token is in use',
      command: `cardpoll token new --name ${name} --role ${role}`,
    });
  });
}
