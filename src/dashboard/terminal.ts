// The terminal of the dashboard: alternate screen, no cursor, raw keys. Restores it however the dashboard ends, and paints
// frames line by line. Used by session.ts.
//
// Ink's own output is not used (docs/decisions/0015-dashboard-paints-itself.md): it draws relative to the cursor, and wipes
// the scrollback when a terminal gets lower.
import type { ReadStream, WriteStream } from 'node:tty';

const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[2J';
const LEAVE = '\x1b[?2004l\x1b[?25h\x1b[?1049l';
/** Terminals that support it show a frame at once. Others ignore it. */
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
    /** What the locale of this terminal shows of a text, in as many columns. */
    private readonly inLocale: (text: string) => string,
  ) {}

  get size(): { readonly columns: number; readonly rows: number } {
    // A terminal that does not know its size reports 0 (script, expect, some containers).
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

  /** Takes the terminal back after a stop, when the shell has changed its settings. */
  reopen(): void {
    if (!this.#isOpen) return;
    this.stdin.setRawMode(false).setRawMode(true);
    this.stdout.write(ENTER);
  }

  /** Writes the lines that differ from the last frame. */
  paint(lines: readonly string[]): void {
    if (!this.#isOpen) return;
    const changed = lines.flatMap((line, i) =>
      line === this.#shown[i] ? [] : [`\x1b[${i + 1};1H${this.inLocale(line)}${LINE_ENDS}`],
    );
    this.#shown = lines;
    if (changed.length > 0) this.stdout.write(`${FRAME_BEGINS}${changed.join('')}${FRAME_ENDS}`);
  }

  /** Clears the screen, so that the next frame is painted as a whole. */
  clear(): void {
    this.#shown = [];
    if (this.#isOpen) this.stdout.write(CLEAR);
  }

  /** Restores the terminal. May be called more than once, also while the process exits. */
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
      // The terminal is gone, so there is nothing to restore.
    }
  }
}
