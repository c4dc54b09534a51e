// Findings of the doctor: one line per check. Made by operations/doctor, by src/doctor.ts and, from a daemon's answers, by
// the command line, which prints them. operations/doctor/finding.ts makes findings of errors.
import type { AlertCause } from './alerts/alert-cause.ts';
import { span } from './words.ts';

export interface Finding {
  readonly check: string;
  /** unknown: the check failed to run; skipped: it is not needed, or the finding above says why it is not possible. */
  readonly status: 'ok' | 'warning' | 'failed' | 'unknown' | 'skipped';
  readonly detail: string;
  readonly hint: string | null;
  /** The command for that; null: none. */
  readonly command: string | null;
}

/** When the remedy is a command only, `hint` is empty. */
type Remedy = Partial<Pick<Finding, 'hint' | 'command'>>;

/** A command that shows more about a reason; useless in the doctor itself. */
const DOCTOR = 'cardpoll doctor';

export const ok = (check: string, detail: string) => finding(check, 'ok', detail);
export const skipped = (check: string, detail: string) => finding(check, 'skipped', detail);
export const warning = (check: string, detail: string, remedy?: Remedy) =>
  finding(check, 'warning', detail, remedy);
export const failed = (check: string, detail: string, remedy?: Remedy) =>
  finding(check, 'failed', detail, remedy);
export const unknown = (check: string, detail: string, remedy?: Remedy) =>
  finding(check, 'unknown', detail, remedy);

/** Reasons that follow from a backlog; `interval_missed` already reports that cards are late. */
const OF_A_BACKLOG: readonly string[] = ['queue_backlog', 'concurrency_usage'];

/**
 * The reasons of the fleet's health as findings. An alert that passes by itself is a warning that says why: a job that mails its
 * failures must not mail about it.
 * @param reasons `since` is null for reasons that began moments ago, or at an unknown time
 * @param drainSeconds until the whole backlog is gone; null: never, or unknown
 */
export function reasonFindings(
  reasons: ReadonlyArray<AlertCause & { readonly since: Date | null; readonly causedBy?: string | null }>,
  drainSeconds: number | null,
): Finding[] {
  return reasons.map(({ code, severity, text, command, since, causedBy = null }) => {
    const passes = severity === 'alert' && drainSeconds !== null && OF_A_BACKLOG.includes(code);
    const why = passes ? `; the whole backlog is gone in about ${span(Math.ceil(drainSeconds))}` : '';
    const minute = since?.toISOString().slice(0, 'YYYY-MM-DDThh:mm'.length);
    return finding(
      code,
      severity === 'alert' && !passes ? 'failed' : 'warning',
      `${text}${why}${minute === undefined ? '' : ` (since ${minute}Z)`}`,
      remedyOf(code, command, causedBy),
    );
  });
}

/** A consequence goes with its cause, and this is the doctor: neither has a command of its own. */
function remedyOf(code: string, command: string | null, causedBy: string | null): Remedy {
  if (causedBy !== null) return { hint: `it follows from ${causedBy}` };
  return command === DOCTOR ? { hint: `docs/runbook.md, section ${code}` } : { command };
}

function finding(check: string, status: Finding['status'], detail: string, remedy: Remedy = {}): Finding {
  return { check, status, detail, hint: remedy.hint ?? null, command: remedy.command ?? null };
}
