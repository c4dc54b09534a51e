// Counts the cards of the walk over all cards by the criteria of polling configs: carrier and verification. These few numbers
// show which cards no enabled config selects, by the current configs. Also counts each carrier's cards with a doubtful counter.
// Pure.

import type { CardMembership } from '../cards/card.ts';
import type { TaskType } from '../task-type.ts';
import { cardCount } from '../words.ts';
import type { ConfigMatcher } from './polling-config.ts';

/** Groups of carrier and verification that are counted; cards of further groups are left out. */
const GROUPS_AT_MOST = 1_000;

export interface CarrierCards {
  readonly carrierId: number;
  readonly cards: number;
}

/** Fewer doubtful counters mean nothing for a carrier: devices restart. */
const DOUBTED_AT_LEAST = { cards: 20, share: 0.001 };
const IN_DOUBT = 'd';

/**
 * Written as `7:1:100,8:0:3,7:d:20`: carrier, whether verified, number of cards; and a carrier's cards with a doubtful counter.
 */
export class CardCounts {
  readonly #cards: Map<string, number>;

  /** @param text of earlier counts; '' means none. */
  constructor(text = '') {
    const groups = text === '' ? [] : text.split(',');
    this.#cards = new Map(
      groups.map((group) => {
        const at = group.lastIndexOf(':');
        return [group.slice(0, at), Number(group.slice(at + 1))];
      }),
    );
  }

  add(
    { carrierId, realNameVerified }: Pick<CardMembership, 'carrierId' | 'realNameVerified'>,
    cards = 1,
  ): void {
    this.#add(`${carrierId}:${Number(realNameVerified)}`, cards);
  }

  /** These cards are also counted as cards. */
  addInDoubt({ carrierId, cards }: CarrierCards): void {
    this.#add(`${carrierId}:${IN_DOUBT}`, cards);
  }

  #add(group: string, cards: number): void {
    const before = this.#cards.get(group);
    if (before === undefined && this.#cards.size >= GROUPS_AT_MOST) return;
    this.#cards.set(group, (before ?? 0) + cards);
  }

  toString(): string {
    return [...this.#cards].map((group) => group.join(':')).join(',');
  }

  /**
   * @returns the carriers with cards that no enabled config of the task type selects, most cards first. Empty if no config of the
   * type is enabled: it is not polled at all. A card with a verified name needs no further check of it.
   */
  unselected(taskType: TaskType, matcher: ConfigMatcher): CarrierCards[] {
    if (!matcher.configs.some((config) => config.taskType === taskType && config.status === 1)) return [];
    const carriers = new Map<number, number>();
    for (const { carrierId, kind, cards } of this.#groups()) {
      if (kind === IN_DOUBT) continue;
      const verified = Number(kind);
      const card = { cardId: 0, carrierId, realNameVerified: verified === 1 };
      const isSelected = (as: CardMembership) => matcher.match(taskType, as)?.status === 1;
      const isDone = taskType === 'realname' && card.realNameVerified;
      if (isSelected(card) || (isDone && isSelected({ ...card, realNameVerified: false }))) continue;
      carriers.set(carrierId, (carriers.get(carrierId) ?? 0) + cards);
    }
    return mostFirst([...carriers].map(([carrierId, cards]) => ({ carrierId, cards })));
  }

  /** @returns the carriers with many doubtful counters, most cards first. */
  inDoubt(): CarrierCards[] {
    const groups = [...this.#groups()];
    const doubted = groups.filter(({ kind, carrierId, cards }) => {
      const ofCarrier = groups.filter((one) => one.kind !== IN_DOUBT && one.carrierId === carrierId);
      const all = ofCarrier.reduce((sum, one) => sum + one.cards, 0);
      const { cards: least, share } = DOUBTED_AT_LEAST;
      return kind === IN_DOUBT && cards >= Math.max(least, share * all);
    });
    return mostFirst(doubted.map(({ carrierId, cards }) => ({ carrierId, cards })));
  }

  *#groups(): Generator<CarrierCards & { readonly kind: string }> {
    for (const [group, cards] of this.#cards) {
      const [carrierId, kind = ''] = group.split(':');
      yield { carrierId: Number(carrierId), kind, cards };
    }
  }
}

function mostFirst(carriers: readonly CarrierCards[]): CarrierCards[] {
  return carriers.toSorted((a, b) => b.cards - a.cards || a.carrierId - b.carrierId);
}

const CARRIERS_NAMED = 3;

/** `100 cards of carrier 7, 3 cards of carrier 8` */
export function cardsOfCarriers(found: readonly CarrierCards[]): string {
  const named = found
    .slice(0, CARRIERS_NAMED)
    .map(({ carrierId, cards }) => `${cardCount(cards)} of carrier ${carrierId}`);
  const more = found.slice(CARRIERS_NAMED);
  const cards = more.reduce((sum, one) => sum + one.cards, 0);
  return [...named, ...(cards > 0 ? [`${cardCount(cards)} of ${more.length} more carriers`] : [])].join(', ');
}

/** @param found cards that no enabled config of the task type selects. */
export function unselectedWords(taskType: TaskType, found: readonly CarrierCards[]): string {
  return `${cardsOfCarriers(found)}: selected by no enabled ${taskType} config, so not polled`;
}
