// One run of the command line: arguments -> command -> exit code. Called by main.ts. Every error becomes one line on stderr and
// an exit code here; the code below prints no errors and does not end the process.

import { CommanderError } from 'commander';
import { incompleteInstallation } from '../../bin/refusals.js';
import type { ApiClient } from '../api/client/client.ts';
import { type ClientConfig, loadClientConfig } from '../config/load-config.ts';
import { plainText } from '../domain/plain-text.ts';
import { isLoopback } from '../platform/addresses.ts';
import { CardpollError, messageOf } from '../platform/errors.ts';
import { EXIT_BUG, EXIT_OK, exitCodeOf } from '../platform/exit-codes.ts';
import { VERSION } from '../platform/version.ts';
import { openClient } from './ask.ts';
import {
  type CommandContext,
  commandIn,
  Interruption,
  type Io,
  nameOf,
  type OutputFormat,
} from './command.ts';
import { commandLineOf } from './command-line.ts';
import { daemon } from './commands/daemon.ts';
import { ROOT } from './commands/root.ts';
import type { Launchers } from './launchers.ts';
import { type ParsedInput, parsed } from './program.ts';

/**
 * @param argv without the interpreter and the script.
 * @param endByHangups called unless the daemon is to run: only the daemon handles SIGHUP.
 * @returns the exit code; does not throw.
 */
export async function run(
  argv: readonly string[],
  io: Io,
  launchers: Launchers,
  endByHangups: () => void,
): Promise<number> {
  let asked: ApiClient | null = null;
  try {
    const { run, input } = understood(argv, io, endByHangups);
    if (run === undefined) throw new CardpollError('usage', 'command_missing', 'a command is missing');
    const context = contextOf(io, launchers, input);
    const client: CommandContext['client'] = async (signal) => {
      asked = await context.client(signal);
      return asked;
    };
    return await run({ ...context, client }, input);
  } catch (error) {
    return report((await otherVersion(error, asked)) ?? error, io, argv);
  }
}

/** The command and its input. Throws for a wrong command line, and after it has printed help or version. */
function understood(argv: readonly string[], io: Io, endByHangups: () => void) {
  let isDaemon = false;
  try {
    const { path, words } = commandLineOf(argv, ROOT);
    const input = parsed(path, words, (text) => io.stdout.write(text));
    isDaemon = path[0] === daemon;
    return { run: path[0].run, input };
  } finally {
    if (!isDaemon) endByHangups();
  }
}

/**
 * If the daemon has another version, an unexpected error may come from a field that its answer lacks.
 * @returns null: the daemon has this version, or cannot be asked.
 */
async function otherVersion(error: unknown, daemon: ApiClient | null): Promise<CardpollError | null> {
  const isForeseen = [CardpollError, CommanderError, Interruption].some((kind) => error instanceof kind);
  if (isForeseen || daemon === null) return null;
  const version = await daemon.overview().then(
    ({ body }) => body.version,
    () => VERSION,
  );
  if (version === VERSION) return null;
  const text = `the daemon is ${version}, this command is ${VERSION}, which cannot show what that answers`;
  const hint = 'install the version of the daemon here, or upgrade the daemon';
  return new CardpollError('unavailable', 'other_version', text, { hint, cause: error });
}

function contextOf(io: Io, launchers: Launchers, { options, flags }: ParsedInput): CommandContext {
  const configInputs = { flags, env: io.env };
  const warn = plainHttpWarning(io);
  return {
    io,
    launchers,
    format: formatOf(options),
    wide: options.output === 'wide',
    configInputs,
    root: ROOT,
    clientConfig: () => loadClientConfig(configInputs),
    client: async (signal = io.onInterrupt()) => {
      const config = await loadClientConfig(configInputs);
      warn(config);
      return openClient(io, config, signal);
    },
  };
}

/**
 * Warns of a token that would cross a network in clear text.
 * @returns a check that warns once, however many requests a command sends.
 */
export function plainHttpWarning(io: Io): (config: ClientConfig) => void {
  let hasWarned = false;
  return ({ url, token }) => {
    const { protocol, hostname, host } = new URL(url);
    if (hasWarned || token === null || protocol !== 'http:' || isLoopback(hostname.replace(/^\[|\]$/g, '')))
      return;
    hasWarned = true;
    io.stderr.write(
      `cardpoll: warning: the token is sent to ${plainText(host)} over plain HTTP; use https://\n`,
    );
  };
}

function formatOf({ output }: ParsedInput['options']): OutputFormat {
  return output === undefined || output === 'wide' ? 'table' : (output as OutputFormat);
}

function report(error: unknown, io: Io, argv: readonly string[]): number {
  if (error instanceof Interruption) return error.exitCode;
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT_OK;
  const known = error instanceof CommanderError ? usageErrorOf(error, argv) : installed(error);
  const line = known instanceof CardpollError ? lineOf(known, argv) : `unexpected error: ${messageOf(known)}`;
  // Error messages may quote names that other users have chosen.
  io.stderr.write(`cardpoll: ${line.split('\n').map(plainText).join('\n')}\n`);
  if (argv.includes('--debug')) io.stderr.write(`${stackOf(known)}\n`);
  return known instanceof CardpollError ? exitCodeOf(known.kind) : EXIT_BUG;
}

/** Most packages are loaded when a command needs them. */
function installed(error: unknown): unknown {
  const incomplete = error instanceof Error ? incompleteInstallation(error) : null;
  if (incomplete === null) return error;
  const { message, hint } = incomplete;
  return new CardpollError('config', 'not_installed', message, { hint, cause: error });
}

/** One line, unless the message lists several problems. */
function lineOf({ kind, message, hint }: CardpollError, argv: readonly string[]): string {
  const next = hint ?? (kind === 'usage' ? helpOf(argv) : undefined);
  if (next === undefined) return message;
  return message.includes('\n') ? `${message}\n  hint: ${next}` : `${message} (hint: ${next})`;
}

/** The --help command line of the intended command, as far as it is recognisable. */
function helpOf(argv: readonly string[]): string {
  return `${nameOf(commandIn(argv, ROOT))} --help`;
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined
    ? (error.stack ?? '')
    : `${error.stack}\ncaused by: ${stackOf(error.cause)}`;
}

function usageErrorOf(error: CommanderError, argv: readonly string[]): CardpollError {
  const gone = new Map(commandIn(argv, ROOT).flatMap((command) => Object.entries(command.gone ?? {})));
  const old = argv.map((word) => word.replace(/=.*/s, '')).find((word) => gone.has(word));
  if (old !== undefined) {
    const hint = gone.get(old) ?? '';
    return new CardpollError('usage', 'gone', `'${old}' is gone`, { hint, cause: error });
  }
  const text = error.message.replace(/^error: /, '').replace(/\n\(Did(.*)\)$/s, ' (did$1)');
  return new CardpollError('usage', 'usage', text, { cause: error });
}
