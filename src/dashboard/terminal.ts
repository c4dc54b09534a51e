// The terminal while the dashboard has it: another screen, no cursor, raw keys; and as it was before, however the
// dashboard ends. Used by session.ts. Paints frames line by line; knows nothing of what they show.
//
// Ink's own output is not used: it draws relative to the cursor, and wipes the scrollback when a terminal gets lower.
import type { ReadStream, WriteStream } from 'node:tty';

const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[2J';
const LEAVE = '\x1b[?2004l\x1b[?25h\x1b[?1049l';
/** Terminals that know it show all of a frame at once; others ignore it. */
const FRAME_BEGINS = '\x1b[?2026h';
const FRAME_ENDS = '\x1b[?2026l';
const CLEAR = '\x1b[2J';
const LINE_ENDS = '\x1b[0m\x1b[K';
const USUAL = { columns: 80, rows: 24 } as const;

export class Terminal {
  #shown: readonly string[] = [];
  #isOpen = false;
  readonly #restore = () => this.close();

  constructor(
    private readonly stdin: ReadStream,
    private readonly stdout: WriteStream,
  ) {}

  get size(): { readonly columns: number; readonly rows: number } {
    // A terminal that does not know its size says 0 (script, expect, some containers).
    return { columns: this.stdout.columns || USUAL.columns, rows: this.stdout.rows || USUAL.rows };
  }

  open(onText: (text: string) => void): void {
    this.#isOpen = true;
    process.on('exit', this.#restore);
    process.on('uncaughtExceptionMonitor', this.#restore);
    this.stdin.setRawMode(true);
    this.stdin.setEncoding('utf8').on('data', onText).resume();
    this.stdout.write(ENTER);
  }

  /** After a stop: the shell has had the terminal meanwhile, and has set it as it likes. */
  reopen(): void {
    if (!this.#isOpen) return;
    this.stdin.setRawMode(false).setRawMode(true);
    this.stdout.write(ENTER);
  }

  /** Paints the lines that changed. */
  paint(lines: readonly string[]): void {
    if (!this.#isOpen) return;
    const changed = lines.flatMap((line, i) =>
      line === this.#shown[i] ? [] : [`\x1b[${i + 1};1H${line}${LINE_ENDS}`],
    );
    this.#shown = lines;
    if (changed.length > 0) this.stdout.write(`${FRAME_BEGINS}${changed.join('')}${FRAME_ENDS}`);
  }

  /** Forgets what is on the screen, so that the next frame is painted whole. */
  clear(): void {
    this.#shown = [];
    if (this.#isOpen) this.stdout.write(CLEAR);
  }

  /** Gives the terminal back. May be called again, also when the process is on its way out. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    process.off('exit', this.#restore);
    process.off('uncaughtExceptionMonitor', this.#restore);
    this.stdin.removeAllListeners('data').pause();
    try {
      this.stdin.setRawMode(false);
      this.stdout.write(LEAVE);
    } catch {
      // The terminal is gone: nobody is left to see it.
    }
  }
}
