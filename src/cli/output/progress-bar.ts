// Progress of long work on stderr, only on a terminal: a bar with percent and time left, drawn over itself. It never goes
// back, and it never wraps, because a wrapped line cannot be drawn over.

import { span } from '../../domain/words.ts';
import { inLocale, USUAL_SIZE } from '../../terminal/style.ts';
import type { Io } from '../command.ts';

const WIDTH = 30;
/** The longest text around the bar, without the label. */
const AROUND = '  100 %  59m 59s left ';
const REDRAW_MS = 100;

export class ProgressBar {
  /** The first update. Work done before it does not count for the pace. */
  #first: { readonly done: number; readonly atMs: number } | null = null;
  #most = 0;
  #drawnMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly io: Io,
    private readonly label: string,
    /** null: unknown, or unknown so far. */
    public total: number | null = null,
  ) {}

  /** @param note printed after the bar. */
  update(soFar: number, note = ''): void {
    const done = Math.max(soFar, this.#most);
    this.#most = done;
    const nowMs = this.io.clock.monotonic();
    this.#first ??= { done, atMs: nowMs };
    if (this.io.stderr.isTTY !== true || nowMs - this.#drawnMs < REDRAW_MS) return;
    this.#drawnMs = nowMs;
    const columns = this.io.stderr.columns || USUAL_SIZE.columns;
    const line =
      this.total === null ? this.label : this.#bar(done, this.total, this.#first, columns - note.length);
    const noted = note === '' ? line : `${line}  ${note}`;
    this.io.stderr.write(`\r\x1b[K${inLocale(noted.slice(0, columns - 1), this.io)}`);
  }

  #bar(done: number, total: number, first: { done: number; atMs: number }, columns: number): string {
    const share = total === 0 ? 1 : Math.min(1, done / total);
    const width = Math.max(0, Math.min(WIDTH, columns - this.label.length - AROUND.length));
    const filled = Math.round(share * width);
    const gained = done - first.done;
    const spentSeconds = (this.#drawnMs - first.atMs) / 1000;
    const leftSeconds = (spentSeconds / gained) * (total - done);
    const eta = gained <= 0 || share === 1 ? '' : `  ${span(Math.round(leftSeconds))} left`;
    const bar = `${'█'.repeat(filled)}${'░'.repeat(width - filled)}`;
    return `${this.label} ${bar} ${Math.floor(share * 100)} %${eta}`;
  }

  clear(): void {
    if (this.io.stderr.isTTY === true) this.io.stderr.write('\r\x1b[K');
  }
}
