// Finds admin tokens of the configuration that have expired or expire soon. Used by src/doctor.ts.
import { type Finding, ok, warning } from '../../domain/finding.ts';

const DAY_MS = 86_400_000;
const SOON_DAYS = 14;

interface ExpiringToken {
  readonly name: string;
  readonly role: string;
  readonly expiresAtMs: number | null;
}

/** One finding for each token that has expired or expires soon; none without tokens. */
export function tokenFindings(tokens: readonly ExpiringToken[], nowMs: number): Finding[] {
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
