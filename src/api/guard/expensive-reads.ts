// Limits the requests that cost much more than others, so that polling keeps the event loop and the database: exports, counts of
// the fleet, the API description. A request that gets no place within a second is refused with 429. Used by the routes. Without
// this limit twenty such requests at a time took between two thirds and nine tenths of the polls.
import { Bulkhead, type TimeBudget } from '../../platform/bulkhead.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { Instruments } from '../metrics/instruments.ts';
import { TOO_BUSY } from '../problem.ts';

/**
 * Shares one answer among many requests: a request soon after the last answer was started waits for the next one and shares it.
 * So an answer is never older than its request by more than the time it takes. Used by routes with expensive answers: metrics,
 * statistics, counts of cards.
 */
export class PacedReads {
  readonly #next = new Map<string, Promise<unknown>>();
  /** Each ends when the next answer may be started. */
  readonly #pauses = new Map<string, Promise<unknown>>();

  constructor(
    private readonly everyMs: number,
    private readonly clock: Pick<Clock, 'sleep'>,
  ) {}

  /** @param what key, the same for equal answers */
  read<T>(what: string, read: () => Promise<T>): Promise<T> {
    const next = (this.#next.get(what) as Promise<T> | undefined) ?? this.#inTurn(what, read);
    this.#next.set(what, next);
    return next;
  }

  async #inTurn<T>(what: string, read: () => Promise<T>): Promise<T> {
    await this.#pauses.get(what);
    // Later requests get the next answer, because this one may have read its data already.
    this.#next.delete(what);
    const pause = this.clock.sleep(this.everyMs).then(() => this.#pauses.delete(what));
    this.#pauses.set(what, pause);
    return read();
  }
}

/** Pause between two equal counts. Answering a client that asks again at once costs as much as counting. */
const COUNT_EVERY_MS = 400;
/** Together with the pause above and two seconds for a count, this is within the time limit of an answer (ANSWER_WITHIN_MS). */
const WAIT_MS = 1_000;
/** Share of one core, or of one connection to the database. */
const SHARE = 0.15;
/** Enough for a preview of a large fleet and the trigger after it. */
const COUNT_BURST_MS = 10_000;
/**
 * Enough for the export of a hundred thousand cards. During an export one core is busy, mostly that of the database, and is
 * missing for polls on the same machine.
 */
const EXPORT_BURST_MS = 2_000;

const PER_DOCUMENT = { share: SHARE, burstMs: 200, leastMs: 5 }; // writing 200 kB costs about as much as this
const budgetOf = (burstMs: number): TimeBudget => ({ share: SHARE, burstMs, leastMs: 0 });

export class ExpensiveReads {
  /** An export reads for minutes; this limits the number of open ones. */
  readonly exports = this.#bulkhead(8, 'exports');
  /** The ranges that all exports together read. */
  readonly stretches = this.#bulkhead(1, 'exports', { waitMs: null, budget: budgetOf(EXPORT_BURST_MS) });
  readonly documents = this.#bulkhead(8, 'API descriptions', { waitMs: WAIT_MS, budget: PER_DOCUMENT });
  /** Counts of many rows, and requests that need one. */
  readonly counts = this.#bulkhead(2, 'counts of cards or rows', {
    waitMs: WAIT_MS,
    budget: budgetOf(COUNT_BURST_MS),
  });
  readonly #pace = new PacedReads(COUNT_EVERY_MS, systemClock);
  readonly #counting = new Map<string, Promise<unknown>>();

  constructor(private readonly instruments: Pick<Instruments, 'refused'>) {}

  /** Requests for the same count share one, which is made at most about twice a second. @param what what is counted */
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
