// Asks for confirmation of a destructive or fleet-wide action, after showing the plan. Used by every command that needs it.

import { createInterface } from 'node:readline';
import { plainText } from '../domain/plain-text.ts';
import { CardpollError } from '../platform/errors.ts';
import { EXIT_NEGATIVE, EXIT_OK } from '../platform/exit-codes.ts';
import { type CommandContext, Interruption, type Io, type OptionSpec, type OptionsOf } from './command.ts';

/** The options of every command that asks for confirmation. */
export const CONFIRM_OPTIONS = [
  { flags: '--yes', doc: 'do not ask for confirmation' },
  { flags: '--dry-run', doc: 'print the plan and change nothing' },
] as const satisfies readonly OptionSpec[];

export type ConfirmOptions = OptionsOf<typeof CONFIRM_OPTIONS>;

/** The consequences, one fact per line; a function if the daemon must be asked, which --yes makes unnecessary. */
type Plan = readonly string[] | (() => Promise<readonly string[]>);

/**
 * Resolves when the command may continue. Otherwise it throws an Interruption, with exit code 0 for --dry-run, which is not a
 * refusal. Throws CardpollError kind `usage` without a terminal.
 * @param changes name of the system that the command changes.
 */
export async function confirm(
  context: CommandContext,
  plan: Plan,
  { yes, dryRun }: ConfirmOptions,
  changes: 'daemon' | 'gateway' = 'daemon',
): Promise<void> {
  const { io } = context;
  const show = async () => {
    const lines = typeof plan === 'function' ? await plan() : plan;
    return [...(changes === 'daemon' ? await target(context) : []), ...lines]
      .map((line) => `${plainText(line)}\n`)
      .join('');
  };
  if (dryRun === true) {
    io.stdout.write(await show());
    throw new Interruption(EXIT_OK);
  }
  if (yes === true) return;
  io.stderr.write(await show());
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true) {
    throw new CardpollError(
      'usage',
      'confirmation_missing',
      'this command asks for confirmation, and this is not a terminal',
      { hint: 'confirm with --yes, or print the plan with --dry-run' },
    );
  }
  const answer = await question(io, 'Go ahead? [y/N] ');
  if (!/^y(es)?$/i.test(answer.trim())) throw new Interruption(EXIT_NEGATIVE);
}

/** Asks only before a drastic change; --dry-run prints the plan of any. */
export function confirmIf(
  isDrastic: boolean,
  context: CommandContext,
  plan: Plan,
  options: ConfirmOptions,
): Promise<void> {
  return confirm(context, plan, { ...options, yes: options.yes === true || !isDrastic });
}

/** Names the daemon: with several contexts the operator may mean another one. */
async function target(context: CommandContext): Promise<string[]> {
  const { context: name, url } = await context.clientConfig();
  return name === null ? [] : [`On ${name} (${url}):`];
}

/** @returns the typed line, empty when the input ends. Throws the Interruption on Ctrl-C. */
async function question(io: Io, text: string): Promise<string> {
  const signal = io.onInterrupt();
  io.stderr.write(text);
  // `terminal: false` lets the system turn Ctrl-C into a signal, as in every other command.
  const prompt = createInterface({ input: io.stdin, terminal: false, signal });
  try {
    for await (const line of prompt) return line;
    signal.throwIfAborted();
    return '';
  } finally {
    prompt.close();
  }
}
