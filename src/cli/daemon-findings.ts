// What the doctor learns from a daemon: that it answers, takes the token, is of this version, and how its fleet does. Used
// by the doctor command. The sentences about the fleet are the daemon's own.
import { type Finding, failed, ok, reasonFinding, warning } from '../domain/finding.ts';
import { CardpollError } from '../platform/errors.ts';
import { ask } from './ask.ts';
import type { CommandContext } from './command.ts';
import { VERSION } from './version.ts';

const CHECK = 'daemon';

export interface DaemonFindings {
  /** Whether it told how its fleet does. */
  readonly answers: boolean;
  readonly items: readonly Finding[];
}

/**
 * @param start what starts a daemon here, where none need be running yet; null: this machine only talks to one. A daemon
 * that is there and does not answer is wrong either way.
 */
export async function daemonFindings(context: CommandContext, start: string | null): Promise<DaemonFindings> {
  const unusable = await unusableSettings(context);
  if (unusable !== null) return { answers: false, items: [unusable] };
  try {
    const { body } = await ask(context, 'asking the daemon', (client) => client.overview());
    const { version, health, health_reasons, workers } = body;
    const reasons = health_reasons.map((reason) =>
      reasonFinding({ ...reason, since: momentOf(reason.since) }),
    );
    return {
      answers: true,
      items: [
        ok(CHECK, `answers; ${workers.length} live, health ${health}`),
        versionFinding(version),
        ...reasons,
      ],
    };
  } catch (error) {
    if (!(error instanceof CardpollError)) throw error;
    return { answers: false, items: [unanswered(error, start)] };
  }
}

/** What says where the daemon is and as whom to ask it, a missing token file for instance: then none is asked. */
async function unusableSettings(context: CommandContext): Promise<Finding | null> {
  try {
    await context.clientConfig();
    return null;
  } catch (error) {
    if (!(error instanceof CardpollError)) throw error;
    const { message, hint = 'no daemon was asked: correct the flag, the variable or the file' } = error;
    return failed('client settings', message, { hint });
  }
}

/** @param since null; without a value from a daemon of an older version, which does not tell. */
function momentOf(since: string | null | undefined): Date | null {
  const ms = Date.parse(since ?? '');
  return Number.isNaN(ms) ? null : new Date(ms);
}

function versionFinding(version: string): Finding {
  const check = 'version';
  if (version === VERSION) return ok(check, version);
  return warning(check, `the daemon is ${version}, this command is ${VERSION}`, {
    hint: 'some answers may lack what this command asks for; install the same version here',
  });
}

function unanswered(error: CardpollError, start: string | null): Finding {
  const { kind, message, hint = null } = error;
  if (kind === 'auth') return failed('token', message, { hint });
  const absent = start !== null && isRefused(error);
  return absent
    ? warning(CHECK, message, { hint: 'none runs here, or it listens elsewhere', command: start })
    : failed(CHECK, message, { hint });
}

/** Nothing listens there; what listens and stays silent is no absent daemon. */
function isRefused({ cause }: CardpollError): boolean {
  return (cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';
}
