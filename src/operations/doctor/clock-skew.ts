// Compares the clock of a server with that of this machine. Used by live-store.ts and record-store.ts of this folder.
import { type Finding, failed, ok, warning } from '../../domain/finding.ts';
import type { Clock } from '../../platform/clock.ts';
import { failure } from './finding.ts';

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
    return judge(check, `${detail}: readings, leases and alerts of instances would be dated differently`, {
      hint: 'synchronise the clocks of both machines, with chrony or',
      command: 'timedatectl set-ntp true',
    });
  } catch (error) {
    return failure(check, error);
  }
}
