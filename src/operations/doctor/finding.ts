// What the doctor finds: one line a check. Used by everything in this folder, by src/doctor.ts and the command.
import { CardpollError, messageOf } from '../../platform/errors.ts';

export interface Finding {
  readonly check: string;
  /** unknown: it could not be found out; skipped: it need not be, or the finding above says why it cannot. */
  readonly status: 'ok' | 'warning' | 'failed' | 'unknown' | 'skipped';
  /** What was found and what it means. */
  readonly detail: string;
  /** What to do about it. */
  readonly hint: string | null;
  /** What to type for that; null where no command does it. */
  readonly command: string | null;
}

/** Where the remedy is a command alone, `hint` says nothing. */
type Remedy = Partial<Pick<Finding, 'hint' | 'command'>>;

function finding(check: string, status: Finding['status'], detail: string, remedy: Remedy = {}): Finding {
  return { check, status, detail, hint: remedy.hint ?? null, command: remedy.command ?? null };
}

export const ok = (check: string, detail: string) => finding(check, 'ok', detail);
export const skipped = (check: string, detail: string) => finding(check, 'skipped', detail);
export const warning = (check: string, detail: string, remedy?: Remedy) =>
  finding(check, 'warning', detail, remedy);
export const failed = (check: string, detail: string, remedy?: Remedy) =>
  finding(check, 'failed', detail, remedy);
export const unknown = (check: string, detail: string, remedy?: Remedy) =>
  finding(check, 'unknown', detail, remedy);

/** A check that ended with an error: what the error says is the finding. */
export function failure(check: string, error: unknown, command: string | null = null): Finding {
  const hint = error instanceof CardpollError ? (error.hint ?? null) : null;
  return finding(check, 'failed', messageOf(error), { hint, command });
}

/** Runs a check that needs an answer: without one it is unknown what it would have found. */
export async function answered(check: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await look();
  } catch (error) {
    const hint = error instanceof CardpollError ? (error.hint ?? null) : null;
    return [finding(check, 'unknown', messageOf(error), { hint })];
  }
}
