// Whether the admin tokens of the configuration still let their owners in. Used by src/doctor.ts.
import { type Finding, ok, warning } from '../../domain/finding.ts';

const DAY_MS = 86_400_000;
const SOON_DAYS = 14;

interface ExpiringToken {
  readonly name: string;
  readonly role: string;
  readonly expiresAtMs: number | null;
}

/** One finding a token that has expired or soon will; none where there are no tokens. */
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
      hint: 'add the line of a new one beside it, reload, and take the old line out when the new token is in use',
      command: `cardpoll token new --name ${name} --role ${role}`,
    });
  });
}
