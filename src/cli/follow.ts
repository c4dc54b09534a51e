// Waits for long work of the daemon: reads its progress until it is done. Used by commands with --wait. Also waits, within
// limits, for a daemon that restarts: the work continues after the restart.
import type { ApiClient } from '../api/client/client.ts';
import type { Answer } from '../api/client/client-calls.ts';
import { CardpollError } from '../platform/errors.ts';
import { EXIT_OK } from '../platform/exit-codes.ts';
import { type CommandContext, Interruption } from './command.ts';
import type { ProgressBar } from './output/progress-bar.ts';

const READ_EVERY_MS = 500;
const ABSENCE_MS = 30_000;

export interface WaitOptions {
  readonly wait?: boolean;
}

interface Followed<Body> {
  readonly read: (client: ApiClient) => Promise<Answer<Body>>;
  readonly isDone: (body: Body) => boolean;
  /** Cleared at the end. */
  readonly bar?: ProgressBar;
  /** Printed when the wait is interrupted: the work that continues, and how to follow and cancel it. */
  readonly whatContinues: string;
}

/** Resolves with the first answer that is done; Ctrl-C ends the wait, not the work. */
export async function follow<Body>(context: CommandContext, followed: Followed<Body>): Promise<Answer<Body>> {
  try {
    return await untilDone(context, followed);
  } catch (error) {
    if (error instanceof Interruption && error.exitCode !== EXIT_OK) {
      context.io.stderr.write(`\n${followed.whatContinues}\n`);
    }
    throw error;
  } finally {
    followed.bar?.clear();
  }
}

async function untilDone<Body>(context: CommandContext, { read, isDone }: Followed<Body>) {
  const { io } = context;
  const signal = io.onInterrupt();
  const client = await context.client();
  let absentSinceMs: number | null = null;
  for (;;) {
    try {
      const answer = await read(client);
      absentSinceMs = null;
      if (isDone(answer.body)) return answer;
    } catch (error) {
      if (!(error instanceof CardpollError) || error.kind !== 'unavailable') throw error;
      absentSinceMs ??= io.clock.monotonic();
      if (io.clock.monotonic() - absentSinceMs > ABSENCE_MS) throw error;
    }
    await io.clock.sleep(READ_EVERY_MS, signal);
    signal.throwIfAborted();
  }
}
