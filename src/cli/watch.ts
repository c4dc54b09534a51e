// --watch: shows an answer of the daemon at a fixed interval. On a terminal each answer replaces the one before, behind a
// pipe they follow each other. When the daemon goes away, its last answer stays, marked as stale, until it is back.
import type { ApiClient } from '../api/client/client.ts';
import { duration } from '../config/kinds.ts';
import { CardpollError } from '../platform/errors.ts';
import type { CommandContext, OptionSpec } from './command.ts';
import { Repaint } from './output/repaint.ts';
import { inLocale, type Style, sentenceLines, span, styleFor } from './output/style.ts';

export interface WatchOptions {
  /** Seconds. */
  readonly watch?: number;
}

export const WATCH_OPTION: OptionSpec = {
  flags: '--watch[=<seconds>]',
  doc: 'refresh every so many seconds until Ctrl-C (default: 2)',
  kind: duration('s', { min: 1, max: 3_600 }),
  bare: '2',
};

interface Shown {
  readonly text: string;
  readonly atMs: number;
}

/** Ends only by an interruption: Ctrl-C, or a closed stdout. Throws the error of the first request. */
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
  /** Shows that there is no answer, since when, and the last answer. */
  miss(error: CardpollError, sinceMs: number, last: Shown): Promise<void>;
}

async function terminalFace({ io }: CommandContext): Promise<Face> {
  const { layout } = await styleFor(io);
  const screen = new Repaint(io.stdout, layout.widthOf);
  return {
    show: async (text) => screen.draw(text),
    // A new style: the time and the width of the terminal have changed.
    miss: async (error, sinceMs, last) =>
      screen.draw(
        inLocale(`${staleNote(error, sinceMs, last, io.clock.now(), await styleFor(io))}\n${last.text}`, io),
      ),
  };
}

function staleNote({ message }: CardpollError, sinceMs: number, last: Shown, nowMs: number, style: Style) {
  const ago = (ms: number) => span(Math.round((nowMs - ms) / 1_000));
  const said =
    `✖ STALE: no answer for ${ago(sinceMs)}, since ${style.clockTime(new Date(sinceMs).toISOString())}: ` +
    `${message}. The data below is ${ago(last.atMs)} old.`;
  return sentenceLines(said, style)
    .map((line) => style.paint(line, 'red'))
    .join('\n');
}

async function pipeFace({ io, format }: CommandContext): Promise<Face> {
  let absent = false;
  let gap = '';
  return {
    show: async (text) => {
      if (absent) io.stderr.write('cardpoll: the daemon answers again\n');
      absent = false;
      io.stdout.write(`${gap}${text}`);
      gap = format === 'table' ? '\n' : '';
    },
    miss: async ({ message }) => {
      if (!absent) io.stderr.write(`cardpoll: ${message}; waiting for the daemon\n`);
      absent = true;
    },
  };
}

/** Errors of a restart or of a short overload: worth waiting for. */
function isPassing(error: unknown): error is CardpollError {
  return error instanceof CardpollError && (error.kind === 'unavailable' || error.kind === 'busy');
}
