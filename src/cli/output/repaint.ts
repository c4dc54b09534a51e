// Draws a text over the one drawn before, in its place on the screen, so that the lines above it and the scrollback stay.
// Used by --watch. Only for a terminal.
import type { Io } from '../io.ts';

const USUAL = { columns: 80, rows: 24 };

export class Repaint {
  /** Rows that the last text took; 0 before the first. */
  #height = 0;
  #columns = 0;

  constructor(
    private readonly stdout: Io['stdout'],
    private readonly widthOf: (text: string) => number,
  ) {}

  draw(text: string): void {
    const columns = this.stdout.columns || USUAL.columns;
    const rows = this.stdout.rows || USUAL.rows;
    const lines = this.#fitting(text.replace(/\n$/, '').split('\n'), columns, rows - 1);
    this.stdout.write(`${this.#back(columns)}${lines.map((line) => `${line}\x1b[K\n`).join('')}\x1b[J`);
    this.#height = this.#heightOf(lines, columns);
    this.#columns = columns;
  }

  /** Moves to the beginning of the last text. It is unknown after a change of width, which wraps the lines again. */
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
    return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(this.widthOf(line) / columns)), 0);
  }
}
