// A table of cards in memory, for what puts cards into rings: the two ways it reads them. What a database adds (marks,
// transactions, failures) test/integration/engine/schedule/initialiser.test.ts shows on a real one.
import type { CardMembership } from '../../src/domain/cards/card.ts';
import { ConfigMatcher, type PollingConfig } from '../../src/domain/schedule/polling-config.ts';
import type { RecordStore } from '../../src/store/ports/records/record-store.ts';

export class CardTable {
  /** How many cards each read asked for, in order. */
  readonly reads: number[] = [];
  readonly #cards = new Map<number, CardMembership>();

  /** What the engine is handed: `page` and `byIds` alone. */
  get port(): RecordStore['cards'] {
    const port = {
      page: async (lowest: number, limit: number) => {
        this.reads.push(limit);
        const ids = [...this.#cards.keys()].filter((id) => id > lowest).sort((a, b) => a - b);
        return this.#read(ids.slice(0, limit));
      },
      byIds: async (ids: readonly number[]) => {
        this.reads.push(ids.length);
        return this.#read(ids);
      },
    };
    return port as unknown as RecordStore['cards'];
  }

  /** Adds or changes cards. */
  put(ids: readonly number[], { carrierId = 0, realNameVerified = false } = {}): void {
    for (const cardId of ids) this.#cards.set(cardId, { cardId, carrierId, realNameVerified });
  }

  remove(ids: readonly number[]): void {
    for (const id of ids) this.#cards.delete(id);
  }

  /** As a look at this instant would remember them. */
  seen(ids: readonly number[]): Map<number, CardMembership | null> {
    return new Map(ids.map((id) => [id, this.#read([id])[0] ?? null]));
  }

  /** Every read makes objects of its own, as a database does. */
  #read(ids: readonly number[]): CardMembership[] {
    return ids.flatMap((id) => this.#cards.get(id) ?? []).map((card) => ({ ...card }));
  }
}

/** The numbers from `first` to `last`. */
export function idsBetween(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

export function viewOf(configs: readonly PollingConfig[]): ConfigMatcher {
  return new ConfigMatcher(configs);
}

/** Polls every card's realname once a minute, unless told otherwise. */
export function configOf(id: number, differing: Partial<PollingConfig> = {}): PollingConfig {
  return {
    id,
    name: `config ${id}`,
    taskType: 'realname',
    cardCondition: 'any',
    carrierId: null,
    intervalSeconds: 60,
    priority: 0,
    status: 1,
    ...differing,
  };
}
