// Renders the metrics once a second at most, however many ask: a request within a second of the last page waits for the
// next one and shares it. So a page is never older than its request by more than the time it takes. Used by
// routes/metrics.ts.
import type { Clock } from '../../platform/clock.ts';

const EVERY_MS = 1_000;

export class PacedPage {
  #next: Promise<string> | null = null;
  #begunAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly render: () => Promise<string>,
    private readonly clock: Pick<Clock, 'monotonic' | 'sleep'>,
  ) {}

  text(): Promise<string> {
    this.#next ??= this.#renderInTurn();
    return this.#next;
  }

  async #renderInTurn(): Promise<string> {
    const waitMs = this.#begunAtMs + EVERY_MS - this.clock.monotonic();
    await this.clock.sleep(Math.max(0, waitMs));
    this.#begunAtMs = this.clock.monotonic();
    // Who asks from here on gets the next page: this one may be read already.
    this.#next = null;
    return this.render();
  }
}
