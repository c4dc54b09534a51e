// --watch: shows an answer of the daemon at a fixed interval. On a terminal each answer replaces the previous one, in a pipe they
// follow each other. When the daemon is down, its last answer stays, marked as stale, until it is back.
import type { ApiClient } from '../api/client/client.ts';
import { duration } from '../config/kinds.ts';
import { span } from '../domain/words.ts';
import { CardpollError } from '../platform/errors.ts';
import { inLocale, type Style, sentenceLines, styleFor, USUAL_SIZE } from '../terminal/style.ts';
import { widthOf } from '../terminal/width.ts';
import type { CommandContext, Io, OptionSpec } from './command.ts';

export const WATCH_OPTION = {
  flags: '--watch[=<seconds>]',
  doc: 'refresh every so many seconds until Ctrl-C (default: 2)',
  kind: duration('s', { min: 1, max: 3_600 }),
  bare: '2',
} as const satisfies OptionSpec;

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
  const { show, miss } = face(context);
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

function terminalFace({ io }: CommandContext): Face {
  const screen = new Repaint(io.stdout);
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

function pipeFace({ io, format }: CommandContext): Face {
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

/** Errors of a restart or of a short overload, which are worth a wait. */
function isPassing(error: unknown): error is CardpollError {
  return error instanceof CardpollError && (error.kind === 'unavailable' || error.kind === 'busy');
}

/** Draws a text over the previous one, in its place on the terminal, so that the lines above it and the scrollback stay. */
class Repaint {
  /** Rows of the last text; 0 before the first. */
  #height = 0;
  #columns = 0;

  constructor(private readonly stdout: Io['stdout']) {}

  draw(text: string): void {
    const columns = this.stdout.columns || USUAL_SIZE.columns;
    const rows = this.stdout.rows || USUAL_SIZE.rows;
    const lines = this.#fitting(text.replace(/\n$/, '').split('\n'), columns, rows - 1);
    this.stdout.write(`${this.#back(columns)}${lines.map((line) => `${line}\x1b[K\n`).join('')}\x1b[J`);
    this.#height = this.#heightOf(lines, columns);
    this.#columns = columns;
  }

  /** Moves to the beginning of the last text. After a change of width, which wraps the lines again, it is unknown. */
  #back(columns: number): string {
    if (this.#height === 0) return '';
    return columns === this.#columns ? `\x1b[${this.#height}A\r` : '\x1b[H';
  }

  /** A text must not be higher than the screen: its top would scroll away and could not be drawn over. */
  #fitting(lines: readonly string[], columns: number, rows: number): string[] {
    const shown = [...lines];
    while (
      shown.length > 1 &&
      this.#heightOf(shown, columns) + (shown.length < lines.length ? 1 : 0) > rows
    ) {
      shown.pop();
    }
    return shown.length === lines.length ? shown : [...shown, `… ${lines.length - shown.length} more lines`];
  }

  #heightOf(lines: readonly string[], columns: number): number {
    return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
  }
}
