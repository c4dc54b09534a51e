// Asks before a destructive or fleet-wide action: shows the plan, then asks. Used by every command that needs it.
import { createInterface } from 'node:readline';
import { CardpollError } from '../platform/errors.ts';
import type { CommandContext, OptionSpec } from './command.ts';
import { EXIT_NEGATIVE, EXIT_OK } from './exit-codes.ts';
import type { Io } from './io.ts';
import { plainText } from './output/line.ts';

export interface ConfirmOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

/** Every command that asks takes these two. */
export const CONFIRM_OPTIONS: readonly OptionSpec[] = [
  { flags: '--yes', doc: 'do it without asking' },
  { flags: '--dry-run', doc: 'print what would be done, and do nothing' },
];

/**
 * @param plan one line a fact, what will happen.
 * Returns whether to go ahead. Throws CardpollError kind `usage` where nobody can be asked.
 */
export async function confirm(
  context: CommandContext,
  plan: readonly string[],
  { yes, dryRun }: ConfirmOptions,
): Promise<boolean> {
  const { io } = context;
  const show = async () =>
    [...(await target(context)), ...plan].map((line) => `${plainText(line)}\n`).join('');
  if (dryRun === true) {
    io.stdout.write(await show());
    return false;
  }
  if (yes === true) return true;
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true) {
    throw new CardpollError(
      'usage',
      'confirmation_missing',
      'this needs a confirmation and there is nobody to ask',
      {
        hint: 'add --yes to do it, --dry-run to see the plan',
      },
    );
  }
  io.stderr.write(await show());
  return /^y(es)?$/i.test((await question(io, 'Go ahead? [y/N] ')).trim());
}

/** With contexts about, it is easily another daemon than the one in mind. */
async function target(context: CommandContext): Promise<string[]> {
  const { context: name, url } = await context.clientConfig();
  return name === null ? [] : [`On ${name} (${url}):`];
}

/** The exit code of a command that was not to go ahead: a plan that was asked for is no refusal. */
export function declined({ dryRun }: ConfirmOptions): number {
  return dryRun === true ? EXIT_OK : EXIT_NEGATIVE;
}

/** The line typed; empty when the input ends. Throws the Interruption on Ctrl-C. */
async function question(io: Io, text: string): Promise<string> {
  const signal = io.onInterrupt();
  // Not as a terminal: the system then turns Ctrl-C into a signal, as everywhere else.
  const prompt = createInterface({ input: io.stdin, output: io.stderr, terminal: false });
  try {
    return await new Promise<string>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      prompt.once('line', resolve).once('close', () => resolve(''));
      io.stderr.write(text);
    });
  } finally {
    prompt.close();
  }
}
