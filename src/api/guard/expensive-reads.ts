// Bounds the requests that cost much more than others, so that polling keeps the event loop and the database: exports,
// counts of the fleet, the API description. What finds no place within a second is refused with 429. Used by the routes.
// Without it twenty such requests at a time took between two thirds and nine tenths of the polls.
import { Bulkhead, type TimeBudget } from '../../platform/bulkhead.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { Instruments } from '../metrics/instruments.ts';
import { TOO_BUSY } from '../problem.ts';

/**
 * Makes an answer that many may ask for once in a while, however many ask: a request soon after the last answer was begun
 * waits for the next one and shares it. So no answer is older than its request by more than the time it takes. Used by
 * routes whose answers cost much: metrics, statistics, counts of cards.
 */
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

/** Between two equal counts. A client that asks again at once costs as much by being answered as by being counted for. */
const COUNT_EVERY_MS = 400;
/** With the pause above and two seconds for a count, within the time that a request has for its answer (ANSWER_WITHIN_MS). */
const WAIT_MS = 1_000;
/** Of one core, or of one connection to the database. */
const SHARE = 0.15;
/** Enough for a preview of a large fleet and the trigger after it. */
const COUNT_BURST_MS = 10_000;
/**
 * Enough for the export of a hundred thousand cards. Meanwhile an export keeps a core busy, that of the database most of all,
 * and polling on the same machine goes without it.
 */
const EXPORT_BURST_MS = 2_000;

const PER_DOCUMENT = { share: SHARE, burstMs: 200, leastMs: 5 }; // writing 200 kB costs about as much as this
const budgetOf = (burstMs: number): TimeBudget => ({ share: SHARE, burstMs, leastMs: 0 });

export class ExpensiveReads {
  /** Each export reads for minutes; this bounds how many are open. */
  readonly exports = this.#bulkhead(8, 'exports');
  /** The stretches that all exports together read. */
  readonly stretches = this.#bulkhead(1, 'exports', { waitMs: null, budget: budgetOf(EXPORT_BURST_MS) });
  readonly documents = this.#bulkhead(8, 'API descriptions', { waitMs: WAIT_MS, budget: PER_DOCUMENT });
  /** Counts of many rows, and what cannot do without one. */
  readonly counts = this.#bulkhead(2, 'counts of cards or rows', {
    waitMs: WAIT_MS,
    budget: budgetOf(COUNT_BURST_MS),
  });
  readonly #pace = new PacedReads(COUNT_EVERY_MS, systemClock);
  readonly #counting = new Map<string, Promise<unknown>>();

  constructor(private readonly instruments: Pick<Instruments, 'refused'>) {}

  /** Requests for the same count share one, and it is made twice a second or so at most. @param what what is counted */
  count<T>(what: string, count: () => Promise<T>): Promise<T> {
    const known = this.#counting.get(what);
    if (known !== undefined) return known as Promise<T>;
    const counting = this.#pace
      .read(what, () => this.counts.run(count))
      .finally(() => this.#counting.delete(what));
    this.#counting.set(what, counting);
    return counting;
  }

  #bulkhead(
    places: number,
    what: string,
    bounds: { waitMs: number | null; budget?: TimeBudget } = { waitMs: WAIT_MS },
  ): Bulkhead {
    return new Bulkhead({ places, ...bounds }, () => {
      this.instruments.refused('bulkhead');
      return new CardpollError('busy', TOO_BUSY, `too many ${what} at a time`, {
        hint: 'retry after the time in Retry-After; polling goes first',
      });
    });
  }
}
