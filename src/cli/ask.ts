// Runs one exchange with the daemon for a command: opens the client and shows a spinner when it takes
// long.
import type { ApiClient } from '../api/client/client.ts';
import { CardpollError } from '../platform/errors.ts';
import type { CommandContext } from './command.ts';
import { EXIT_NEGATIVE } from './exit-codes.ts';

const SPINNER_AFTER_MS = 300;

/** @param label what is being waited for, without dots. */
export async function ask<T>(
  context: CommandContext,
  label: string,
  exchange: (client: ApiClient) => Promise<T>,
): Promise<T> {
  const client = await context.client();
  const stopSpinner = spinLater(context, label);
  try {
    return await exchange(client);
  } finally {
    await stopSpinner();
  }
}

/**
 * For commands that end something: what is over already cannot be ended, and trying again later would change nothing, so
 * the answer is no. Throws every other error again.
 */
export function conflictAsNegative({ io }: CommandContext, error: unknown): number {
  if (!(error instanceof CardpollError) || error.kind !== 'conflict') throw error;
  io.stderr.write(`cardpoll: ${error.message}\n`);
  return EXIT_NEGATIVE;
}

/** ora is slow to load, so it is loaded only when there is something to wait for. Returns what ends it. */
function spinLater({ io }: CommandContext, label: string): () => Promise<void> {
  // A terminal that does not know its width says 0 (script, expect, some containers); ora then never stops clearing lines. On
  // one whose cursor cannot move it would print a line instead.
  if (io.stderr.isTTY !== true || !io.stderr.columns || io.env.TERM === 'dumb') return async () => {};
  let spinner: Promise<{ stop(): unknown }> | null = null;
  const timer = setTimeout(() => {
    spinner = import('ora').then(({ default: ora }) =>
      ora({ text: label, stream: io.stderr as NodeJS.WriteStream, discardStdin: false }).start(),
    );
  }, SPINNER_AFTER_MS);
  return async () => {
    clearTimeout(timer);
    (await spinner)?.stop();
  };
}
