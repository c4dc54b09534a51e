// What the doctor learns from a daemon: that it answers, takes the token, is of this version, and how its fleet does. Used
// by the doctor command. The sentences about the fleet are the daemon's own.
import type { HealthReasonBody } from '../api/client.ts';
import { CardpollError } from '../platform/errors.ts';
import { ask } from './ask.ts';
import type { CommandContext } from './command.ts';
import type { DoctorFinding } from './launchers.ts';
import { VERSION } from './version.ts';

const CHECK = 'daemon';
/** Shows more everywhere but here. */
const THIS = 'cardpoll doctor';

export interface DaemonFindings {
  /** Whether it told how its fleet does. */
  readonly answers: boolean;
  readonly items: readonly DoctorFinding[];
}

/**
 * @param start what starts a daemon here, where none need be running yet; null: this machine only talks to one. A daemon
 * that is there and does not answer is wrong either way.
 */
export async function daemonFindings(context: CommandContext, start: string | null): Promise<DaemonFindings> {
  try {
    const { body } = await ask(context, 'asking the daemon', (client) => client.overview());
    const { version, health, health_reasons, workers } = body;
    const detail = `answers; ${workers.length} live, health ${health}`;
    return {
      answers: true,
      items: [
        { check: CHECK, status: 'ok', detail, hint: null, command: null },
        versionFinding(version),
        ...health_reasons.map(reasonFinding),
      ],
    };
  } catch (error) {
    if (!(error instanceof CardpollError)) throw error;
    return { answers: false, items: [unanswered(error, start)] };
  }
}

function versionFinding(version: string): DoctorFinding {
  const check = 'version';
  if (version === VERSION) return { check, status: 'ok', detail: version, hint: null, command: null };
  const detail = `the daemon is ${version}, this command is ${VERSION}`;
  const hint = 'some answers may lack what this command asks for; install the same version here';
  return { check, status: 'warning', detail, hint, command: null };
}

function reasonFinding({ code, severity, text, command, since }: HealthReasonBody): DoctorFinding {
  const status = severity === 'alert' ? 'failed' : 'warning';
  // A daemon of an older version does not tell since when.
  const detail = since ? `${text} (since ${since.slice(0, 'YYYY-MM-DDThh:mm'.length)}Z)` : text;
  return command === THIS
    ? { check: code, status, detail, hint: 'see what else was found', command: null }
    : { check: code, status, detail, hint: null, command };
}

function unanswered(error: CardpollError, start: string | null): DoctorFinding {
  const { kind, message, hint = null } = error;
  if (kind === 'auth') {
    return { check: 'token', status: 'failed', detail: message, hint, command: null };
  }
  const absent = start !== null && isRefused(error);
  const finding = { check: CHECK, detail: message, hint, command: null } as const;
  return absent
    ? { ...finding, status: 'warning', hint: 'none runs here, or it listens elsewhere', command: start }
    : { ...finding, status: 'failed' };
}

/** Nothing listens there; what listens and stays silent is no absent daemon. */
function isRefused({ cause }: CardpollError): boolean {
  return (cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';
}
