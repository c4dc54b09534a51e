// What the doctor finds: one line a check. Made by operations/doctor, by src/doctor.ts and, of what a daemon says, by the
// command line, which prints them. What an error says is a finding in operations/doctor/finding.ts.

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

/** Shows more of a reason everywhere but in the doctor. */
const DOCTOR = 'cardpoll doctor';

export const ok = (check: string, detail: string) => finding(check, 'ok', detail);
export const skipped = (check: string, detail: string) => finding(check, 'skipped', detail);
export const warning = (check: string, detail: string, remedy?: Remedy) =>
  finding(check, 'warning', detail, remedy);
export const failed = (check: string, detail: string, remedy?: Remedy) =>
  finding(check, 'failed', detail, remedy);
export const unknown = (check: string, detail: string, remedy?: Remedy) =>
  finding(check, 'unknown', detail, remedy);

/** A reason why the fleet is not normal, as a finding. @param since null: moments ago, or nobody watched */
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
