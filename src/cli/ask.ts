// Runs one exchange with the daemon for a command: opens the client, and shows a spinner when the answer takes long.
import type { ApiClient } from '../api/client/client.ts';
import type { CommandContext } from './command.ts';

const SPINNER_AFTER_MS = 300;

/** @param label what the spinner says, without dots. */
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

/** Starts the spinner after a delay, because ora is slow to load. @returns a function that stops it. */
function spinLater({ io }: CommandContext, label: string): () => Promise<void> {
  // Some terminals report a width of 0 (script, expect, some containers); ora then never stops clearing lines. On a dumb
  // terminal, whose cursor cannot move, it would print a line instead.
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
