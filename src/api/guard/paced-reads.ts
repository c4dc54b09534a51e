// Makes an answer that many may ask for once in a while, however many ask: a request soon after the last answer was begun
// waits for the next one and shares it. So no answer is older than its request by more than the time it takes. Used by
// routes whose answers cost much: metrics, statistics, counts of cards.
import type { Clock } from '../../platform/clock.ts';

export class PacedReads {
  readonly #next = new Map<string, Promise<unknown>>();
  /** Ends when the next answer may be begun. */
  readonly #pauses = new Map<string, Promise<unknown>>();

  constructor(
    private readonly everyMs: number,
    private readonly clock: Pick<Clock, 'sleep'>,
  ) {}

  /** @param what the same for equal answers */
  read<T>(what: string, read: () => Promise<T>): Promise<T> {
    const next = (this.#next.get(what) as Promise<T> | undefined) ?? this.#inTurn(what, read);
    this.#next.set(what, next);
    return next;
  }

  async #inTurn<T>(what: string, read: () => Promise<T>): Promise<T> {
    await this.#pauses.get(what);
    // Who asks from here on gets the next answer: this one may be read already.
    this.#next.delete(what);
    const pause = this.clock.sleep(this.everyMs).then(() => this.#pauses.delete(what));
    this.#pauses.set(what, pause);
    return read();
  }
}
