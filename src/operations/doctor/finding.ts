// Findings that several checks make: about an error that ended a check, and about the clock of a server, compared with this
// machine's. Used by everything in this folder and by src/doctor.ts.
import { type Finding, failed, ok, unknown, warning } from '../../domain/finding.ts';
import type { Clock } from '../../platform/clock.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';

/** A check that ended with an error: its message becomes the finding. */
export function failure(check: string, error: unknown, command: string | null = null): Finding {
  return failed(check, messageOf(error), { hint: hintOf(error), command });
}

/** Runs a check that needs a store; if the store does not answer, its finding is `unknown`. */
export async function answered(check: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await look();
  } catch (error) {
    return [unknown(check, messageOf(error), { hint: hintOf(error) })];
  }
}

function hintOf(error: unknown): string | null {
  return error instanceof CardpollError ? (error.hint ?? null) : null;
}

/** A difference up to the first is harmless, up to the second a warning. */
const SKEW_OK_MS = 1_000;
const SKEW_BEARABLE_MS = 10_000;

export async function clockFinding(
  check: string,
  read: () => Promise<number>,
  clock: Clock,
): Promise<Finding> {
  try {
    const askedMs = clock.now();
    const theirsMs = await read();
    const skewMs = Math.round(theirsMs - (askedMs + clock.now()) / 2);
    const detail = `${skewMs >= 0 ? '+' : ''}${skewMs} ms against this machine`;
    if (Math.abs(skewMs) <= SKEW_OK_MS) return ok(check, detail);
    const judge = Math.abs(skewMs) <= SKEW_BEARABLE_MS ? warning : failed;
    return judge(check, `${detail}: instances would date readings, leases and alerts differently`, {
      hint: 'synchronise the clocks of both machines; to let systemd do it',
      command: 'timedatectl set-ntp true',
    });
  } catch (error) {
    return failure(check, error);
  }
}
