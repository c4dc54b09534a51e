// Looks at what the records say of cards that look over their package. Used by package.ts, before it gathers for a stop and
// claims it, which takes turns. When a whole fleet is over and its stops are held or only observed, no card gets so far.
//
// One statement at a time: cards that come meanwhile share the next one. So it waits for nothing when few come, and is for
// hundreds of cards when the database is slow.
import type { NamedCard } from '../../domain/cards/card.ts';
import type { StopRules } from '../../domain/stops/stop.ts';
import type { StopLook, StopRecords } from '../../store/ports/records/stop-records.ts';

/** Cards of one statement. */
const MOST_CARDS = 1_000;

interface Batch {
  readonly month: string;
  readonly cards: Map<number, NamedCard>;
  readonly answers: Promise<ReadonlyMap<number, StopLook>>;
}

export class StopLooks {
  /** The batch that has not been sent yet. */
  #open: Batch | null = null;
  /** Ends with the batch that was begun last. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly stops: Pick<StopRecords, 'look'>,
    private readonly rules: () => StopRules,
  ) {}

  /** @param month YYYY-MM */
  async look(card: NamedCard, month: string): Promise<StopLook> {
    let batch = this.#open;
    if (batch === null || batch.month !== month || batch.cards.size >= MOST_CARDS) batch = this.#begin(month);
    batch.cards.set(card.cardId, card);
    // A card that two polls hold is asked about once. Without an answer somebody else has just claimed it.
    return (await batch.answers).get(card.cardId) ?? { state: 'claimed' };
  }

  #begin(month: string): Batch {
    const cards = new Map<number, NamedCard>();
    const answers = this.#last.then(() => {
      if (this.#open === batch) this.#open = null;
      return this.stops.look([...cards.values()], month, this.rules());
    });
    const batch = { month, cards, answers };
    this.#last = answers.catch(() => {});
    this.#open = batch;
    return batch;
  }
}
