// Shows what the daemon says again and again: --watch. On a terminal each answer is drawn over the one before, behind a
// pipe they follow each other. A daemon that goes away is waited for: its last answer stays, marked as old.
import type { ApiClient } from '../api/client/client.ts';
import { duration } from '../config/kinds.ts';
import { CardpollError } from '../platform/errors.ts';
import type { CommandContext, OptionSpec } from './command.ts';
import { Repaint } from './output/repaint.ts';
import { type Style, sentenceLines, span, styleFor } from './output/style.ts';

export interface WatchOptions {
  /** Seconds. */
  readonly watch?: number;
}

export const WATCH_OPTION: OptionSpec = {
  flags: '--watch[=<seconds>]',
  doc: 'show again every so many seconds (2) until Ctrl-C',
  kind: duration('s', { min: 1, max: 3_600 }),
  bare: '2',
};

interface Shown {
  readonly text: string;
  readonly atMs: number;
}

/** Ends by the interruption only: Ctrl-C, or nobody reading any more. Throws what the first answer fails with. */
export async function watch(
  context: CommandContext,
  everySeconds: number,
  read: (client: ApiClient) => Promise<string>,
): Promise<never> {
  const { io } = context;
  const signal = io.onInterrupt();
  const client = await context.client();
  const face = io.stdout.isTTY === true && context.format === 'table' ? terminalFace : pipeFace;
  const { show, miss } = await face(context);
  let last: Shown | null = null;
  let absentSinceMs: number | null = null;
  for (;;) {
    try {
      const text = await read(client);
      last = { text, atMs: io.clock.now() };
      absentSinceMs = null;
      await show(text);
    } catch (error) {
      if (last === null || !isPassing(error)) throw error;
      absentSinceMs ??= io.clock.now();
      await miss(error, absentSinceMs, last);
    }
    await io.clock.sleep(everySeconds * 1_000, signal);
    signal.throwIfAborted();
  }
}

interface Face {
  show(text: string): Promise<void>;
  /** No answer, since when, and what was shown last. */
  miss(error: CardpollError, sinceMs: number, last: Shown): Promise<void>;
}

async function terminalFace({ io, wide }: CommandContext): Promise<Face> {
  const { layout } = await styleFor(io, { wide });
  const screen = new Repaint(io.stdout, layout.widthOf);
  return {
    show: async (text) => screen.draw(text),
    // The style knows what time it is, and how wide the terminal is by now.
    miss: async (error, sinceMs, last) =>
      screen.draw(`${staleNote(error, sinceMs, last, io.clock.now(), await styleFor(io))}\n${last.text}`),
  };
}

function staleNote({ message }: CardpollError, sinceMs: number, last: Shown, nowMs: number, style: Style) {
  const ago = (ms: number) => span(Math.round((nowMs - ms) / 1_000));
  const said =
    `✖ STALE: no answer for ${ago(sinceMs)}, since ${style.clockTime(new Date(sinceMs).toISOString())}: ` +
    `${message}. What follows is ${ago(last.atMs)} old.`;
  return sentenceLines(said, style)
    .map((line) => style.paint(line, 'red'))
    .join('\n');
}

async function pipeFace({ io }: CommandContext): Promise<Face> {
  let absent = false;
  return {
    show: async (text) => {
      if (absent) io.stderr.write('cardpoll: the daemon answers again\n');
      absent = false;
      io.stdout.write(text);
    },
    miss: async ({ message }) => {
      if (!absent) io.stderr.write(`cardpoll: ${message}; waiting for it\n`);
      absent = true;
    },
  };
}

/** What a restart, or a moment of too much work, looks like. */
function isPassing(error: unknown): error is CardpollError {
  return error instanceof CardpollError && (error.kind === 'unavailable' || error.kind === 'busy');
}
