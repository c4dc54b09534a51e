// Findings about a daemon: whether it answers, accepts the token and has this version, and the health of its fleet. Used by the
// doctor command. The daemon itself writes the sentences about the fleet.
import { type Finding, failed, ok, reasonFindings, warning } from '../../../domain/finding.ts';
import { observedWords } from '../../../domain/stops/stop.ts';
import { CardpollError } from '../../../platform/errors.ts';
import { VERSION } from '../../../platform/version.ts';
import type { OverviewBody } from '../../../resources/stats.ts';
import { ask } from '../../ask.ts';
import type { CommandContext } from '../../command.ts';

const CHECK = 'daemon';

export interface DaemonFindings {
  /** Whether it reported the health of its fleet. */
  readonly answers: boolean;
  readonly items: readonly Finding[];
}

/**
 * @param start the command that starts a daemon here, where none may be running yet; null: this machine is only a client. A
 * daemon that listens and does not answer is a failure in both cases.
 */
export async function daemonFindings(context: CommandContext, start: string | null): Promise<DaemonFindings> {
  const unusable = await unusableSettings(context);
  if (unusable !== null) return { answers: false, items: unusable };
  try {
    const { body } = await ask(context, 'asking the daemon', (client) => client.overview());
    const { version, health, workers, stops, capacity } = body;
    const reasons = body.health_reasons.map(({ since, caused_by: causedBy, ...reason }) => ({
      ...{ ...reason, since: momentOf(since), causedBy },
    }));
    return {
      answers: true,
      items: [
        ok(CHECK, `answers; ${workers.length} live, health ${health}`),
        versionFinding(version),
        // With a configuration the doctor reads the mode from the database, with who set it.
        ...(start === null ? observeFindings(stops) : []),
        ...reasonFindings(reasons, capacity.drain_seconds),
      ],
    };
  } catch (error) {
    if (!(error instanceof CardpollError)) throw error;
    return { answers: false, items: [unanswered(error, start)] };
  }
}

/** With a mistake in the client settings, for example a missing token file, no daemon is called. */
async function unusableSettings(context: CommandContext): Promise<Finding[] | null> {
  try {
    await context.clientConfig();
    return null;
  } catch (error) {
    if (!(error instanceof CardpollError)) throw error;
    const { hint = 'no daemon was asked; correct the flag, the variable or the file' } = error;
    return wrongSettings('client settings', error, { hint });
  }
}

/** One finding for each wrong setting; the last one has the remedy. */
export function wrongSettings(
  check: string,
  error: CardpollError,
  remedy: Parameters<typeof failed>[2],
): Finding[] {
  const { fields, message } = error;
  const problems = fields.length > 0 ? fields.map((field) => field.message) : [message];
  return problems.map((problem, i) => failed(check, problem, i === problems.length - 1 ? remedy : {}));
}

/** @param since null or undefined: unknown; older daemons do not send it. */
function momentOf(since: string | null | undefined): Date | null {
  const ms = Date.parse(since ?? '');
  return Number.isNaN(ms) ? null : new Date(ms);
}

function versionFinding(version: string): Finding {
  const check = 'version';
  if (version === VERSION) return ok(check, version);
  return warning(check, `the daemon is ${version}, this command is ${VERSION}`, {
    hint: 'answers may lack fields that this command needs; install the same version here',
  });
}

/** An operator chose the mode, so no health reason reports it. An older daemon does not send the mode. */
function observeFindings({ mode, observed }: OverviewBody['stops']): Finding[] {
  if (mode !== 'observe') return [];
  const detail = `observe: ${observedWords(observed ?? 0)}`;
  return [warning('stop mode', detail, { command: 'cardpoll stops list --state observed' })];
}

function unanswered(error: CardpollError, start: string | null): Finding {
  const { kind, message, hint = null } = error;
  if (kind === 'auth') return failed('token', message, { hint });
  const absent = start !== null && isRefused(error);
  return absent
    ? warning(CHECK, message, { hint: 'no daemon runs here, or it listens elsewhere', command: start })
    : failed(CHECK, message, { hint });
}

/** Whether no program listens there. A daemon that listens and stays silent is not absent. */
function isRefused({ cause }: CardpollError): boolean {
  return (cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';
}
