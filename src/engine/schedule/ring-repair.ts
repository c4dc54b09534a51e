// Finds cards that are in a wrong ring or in none, and puts them into the right ones. Used by reconciler.ts, which decides when
// and how fast. Keeps no state.
import type { CardMembership } from '../../domain/cards/card.ts';
import type { Counts } from '../../domain/numbers.ts';
import type { ConfigMatcher, PollingConfig } from '../../domain/schedule/polling-config.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import { groupByRing } from './card-sync.ts';
import { ringOf } from './scheduler.ts';

const CARDS_A_READ = 10_000;

export type Repairs = Counts<'missing' | 'foreign' | 'double'>;

export class RingRepair {
  constructor(
    private readonly deps: {
      readonly live: Pick<LiveStore, 'rings'>;
      readonly records: Pick<RecordStore, 'cards'>;
      /** Throws when this instance no longer leads. */
      readonly requireLead: () => void;
    },
  ) {}

  /**
   * @returns the cards that are missing from a ring they belong to. Reads no other rings, however many there are: `strays` finds
   * the cards in a wrong ring.
   */
  async missing(cards: readonly CardMembership[], matcher: ConfigMatcher): Promise<CardMembership[]> {
    const lost = new Set<number>();
    for (const [config, ids] of groupByRing(cards, matcher)) {
      if (ids.length === 0) continue;
      const held = new Set(await this.#held(config, ids));
      for (const id of ids) if (!held.has(id)) lost.add(id);
    }
    return cards.filter(({ cardId }) => lost.has(cardId));
  }

  /** @returns members of a config's ring that do not belong there, by id; null: no such card. */
  async strays(
    config: PollingConfig,
    memberIds: readonly number[],
    matcher: ConfigMatcher,
  ): Promise<Map<number, CardMembership | null>> {
    const cards = await this.#cards(memberIds);
    const strays = memberIds.filter((id) => !matcher.polls(config, cards.get(id)));
    return new Map(strays.map((id) => [id, cards.get(id) ?? null]));
  }

  /**
   * Puts cards into their rings and removes them from all others. Skips cards that changed since `before`: the change feed
   * handles them.
   */
  async repair(
    ids: readonly number[],
    before: ReadonlyMap<number, CardMembership | null>,
    matcher: ConfigMatcher,
  ): Promise<Repairs> {
    const now = await this.#cards(ids);
    const settled = ids.filter((id) => isSame(before.get(id) ?? null, now.get(id) ?? null));
    const repairs = { missing: 0, foreign: 0, double: 0 };
    for (const taskType of TASK_TYPES) {
      const held = new Map<PollingConfig, number[]>();
      for (const config of matcher.configs.filter((one) => one.taskType === taskType))
        held.set(config, await this.#held(config, settled));
      const inPlace = new Set<number>();
      for (const [config, cardIds] of held)
        for (const id of cardIds) if (matcher.polls(config, now.get(id))) inPlace.add(id);
      for (const [config, cardIds] of held) {
        const stray = cardIds.filter((id) => !matcher.polls(config, now.get(id)));
        const missing = settled.filter((id) => matcher.polls(config, now.get(id)) && !inPlace.has(id));
        const doubles = stray.filter((id) => inPlace.has(id)).length;
        this.deps.requireLead();
        await this.deps.live.rings.remove(ringOf(config), stray);
        await this.deps.live.rings.add(ringOf(config), missing);
        repairs.double += doubles;
        repairs.foreign += stray.length - doubles;
        repairs.missing += missing.length;
      }
    }
    return repairs;
  }

  /** @returns the ids that are in the ring of a config. */
  async #held(config: PollingConfig, ids: readonly number[]): Promise<number[]> {
    const found = await this.deps.live.rings.contains(ringOf(config), ids);
    return ids.filter((_, i) => found[i]);
  }

  async #cards(ids: readonly number[]): Promise<Map<number, CardMembership>> {
    const found = new Map<number, CardMembership>();
    for (let from = 0; from < ids.length; from += CARDS_A_READ) {
      const cards = await this.deps.records.cards.byIds(ids.slice(from, from + CARDS_A_READ));
      for (const card of cards) found.set(card.cardId, card);
    }
    return found;
  }
}

function isSame(a: CardMembership | null, b: CardMembership | null): boolean {
  if (a === null || b === null) return a === b;
  return a.carrierId === b.carrierId && a.realNameVerified === b.realNameVerified;
}
