// Findings of the doctor: one line per check. Made by operations/doctor, by src/doctor.ts and, from a daemon's answers, by
// the command line, which prints them. operations/doctor/finding.ts makes findings of errors.

export interface Finding {
  readonly check: string;
  /** unknown: the check could not be made; skipped: it is not needed, or the finding above says why it is not possible. */
  readonly status: 'ok' | 'warning' | 'failed' | 'unknown' | 'skipped';
  readonly detail: string;
  readonly hint: string | null;
  /** The command for that; null when there is none. */
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

/** A reason why the fleet is not normal, as a finding. @param since null: moments ago, or unknown */
export function reasonFinding(reason: {
  readonly code: string;
  readonly severity: 'warning' | 'alert';
  readonly text: string;
  readonly command: string | null;
  readonly since: Date | null;
}): Finding {
  const { code, severity, text, command, since } = reason;
  const minute = since?.toISOString().slice(0, 'YYYY-MM-DDThh:mm'.length);
  return finding(
    code,
    severity === 'alert' ? 'failed' : 'warning',
    minute === undefined ? text : `${text} (since ${minute}Z)`,
    command === DOCTOR ? { hint: 'see the other findings' } : { command },
  );
}

function finding(check: string, status: Finding['status'], detail: string, remedy: Remedy = {}): Finding {
  return { check, status, detail, hint: remedy.hint ?? null, command: remedy.command ?? null };
}
