// Progress of long work on stderr, only on a terminal: a bar with percent and time left, drawn over itself.
import type { Io } from '../io.ts';
import { span } from './style.ts';

const WIDTH = 30;
const REDRAW_MS = 100;

export class ProgressBar {
  /** Where it stood when it was first told: work that was under way before is no measure of the pace. */
  #first: { readonly done: number; readonly atMs: number } | null = null;
  #drawnMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly io: Io,
    private readonly label: string,
    private readonly total: number,
  ) {}

  update(done: number): void {
    const nowMs = this.io.clock.monotonic();
    this.#first ??= { done, atMs: nowMs };
    if (this.io.stderr.isTTY !== true || nowMs - this.#drawnMs < REDRAW_MS) return;
    this.#drawnMs = nowMs;
    const share = this.total === 0 ? 1 : Math.min(1, done / this.total);
    const filled = Math.round(share * WIDTH);
    const gained = done - this.#first.done;
    const leftSeconds = ((nowMs - this.#first.atMs) / 1000 / gained) * (this.total - done);
    const eta = gained <= 0 || share === 1 ? '' : `  ${span(Math.round(leftSeconds))} left`;
    const bar = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)}`;
    this.io.stderr.write(`\r\x1b[K${this.label} ${bar} ${Math.floor(share * 100)} %${eta}`);
  }

  /** Takes the bar off the screen. */
  clear(): void {
    if (this.io.stderr.isTTY === true) this.io.stderr.write('\r\x1b[K');
  }
}
