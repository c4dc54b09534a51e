// Progress of long work on stderr, only on a terminal: a bar with percent and time left, drawn over itself.
import type { Io } from '../io.ts';
import { span } from './style.ts';

const WIDTH = 30;
const REDRAW_MS = 100;

export class ProgressBar {
  readonly #startedMs: number;
  #drawnMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly io: Io,
    private readonly label: string,
    private readonly total: number,
  ) {
    this.#startedMs = io.clock.monotonic();
  }

  update(done: number): void {
    const nowMs = this.io.clock.monotonic();
    if (this.io.stderr.isTTY !== true || nowMs - this.#drawnMs < REDRAW_MS) return;
    this.#drawnMs = nowMs;
    const share = this.total === 0 ? 1 : Math.min(1, done / this.total);
    const filled = Math.round(share * WIDTH);
    const leftSeconds = share === 0 ? null : Math.round(((nowMs - this.#startedMs) / 1000) * (1 / share - 1));
    const eta = leftSeconds === null || share === 1 ? '' : `  ${span(leftSeconds)} left`;
    const bar = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)}`;
    this.io.stderr.write(`\r\x1b[K${this.label} ${bar} ${Math.floor(share * 100)} %${eta}`);
  }

  /** Takes the bar off the screen. */
  clear(): void {
    if (this.io.stderr.isTTY === true) this.io.stderr.write('\r\x1b[K');
  }
}
