// Finds cards that are in a wrong ring or in none, and puts them into the right ones. Used by reconciler.ts, which
// decides when and how fast. Keeps no state.
import type { CardMembership } from '../../domain/cards/card.ts';
import type { Counts } from '../../domain/numbers.ts';
import type { ConfigMatcher, PollingConfig } from '../../domain/schedule/polling-config.ts';
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import { ringOf } from './scheduler.ts';

const CARDS_A_READ = 10_000;

/** The configs of one pass of the initialiser, and what is derived from them. */
export interface RingView {
  readonly configs: readonly PollingConfig[];
  readonly matcher: ConfigMatcher;
}

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

  /** @returns the cards that are missing from a ring they belong to, or are in a ring they do not belong to. */
  async misplaced(cards: readonly CardMembership[], view: RingView): Promise<CardMembership[]> {
    const ids = cards.map((card) => card.cardId);
    const wrong = new Set<CardMembership>();
    for (const config of view.configs) {
      const held = await this.deps.live.rings.contains(ringOf(config), ids);
      for (const [i, card] of cards.entries()) {
        if (held[i] !== (view.matcher.match(config.taskType, card)?.id === config.id)) wrong.add(card);
      }
    }
    return [...wrong];
  }

  /** @returns members of a config's ring that do not belong there, by id; null if no such card exists. */
  async strays(
    config: PollingConfig,
    memberIds: readonly number[],
    view: RingView,
  ): Promise<Map<number, CardMembership | null>> {
    const cards = await this.#cards(memberIds);
    const strays = new Map<number, CardMembership | null>();
    for (const cardId of memberIds) {
      const card = cards.get(cardId) ?? null;
      const belongs = card !== null && view.matcher.match(config.taskType, card)?.id === config.id;
      if (!belongs) strays.set(cardId, card);
    }
    return strays;
  }

  /**
   * Puts cards into the rings they belong to and removes them from all others. Skips cards that changed since `before`:
   * the change feed handles them.
   */
  async repair(
    ids: readonly number[],
    before: ReadonlyMap<number, CardMembership | null>,
    view: RingView,
  ): Promise<Repairs> {
    const now = await this.#cards(ids);
    const settled = ids.filter((id) => isSame(before.get(id) ?? null, now.get(id) ?? null));
    const repairs = { missing: 0, foreign: 0, double: 0 };
    for (const taskType of TASK_TYPES) {
      const wanted = new Map(settled.map((id) => [id, configIdOf(now.get(id), taskType, view)]));
      const configs = view.configs.filter((config) => config.taskType === taskType);
      const held = new Map<PollingConfig, number[]>();
      for (const config of configs) {
        const found = await this.deps.live.rings.contains(ringOf(config), settled);
        held.set(
          config,
          settled.filter((_, i) => found[i]),
        );
      }
      const inPlace = new Set<number>();
      for (const [config, cardIds] of held)
        for (const id of cardIds) if (wanted.get(id) === config.id) inPlace.add(id);
      for (const [config, cardIds] of held) {
        const stray = cardIds.filter((id) => wanted.get(id) !== config.id);
        const missing = settled.filter((id) => wanted.get(id) === config.id && !inPlace.has(id));
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

  async #cards(ids: readonly number[]): Promise<Map<number, CardMembership>> {
    const found = new Map<number, CardMembership>();
    for (let from = 0; from < ids.length; from += CARDS_A_READ) {
      const cards = await this.deps.records.cards.byIds(ids.slice(from, from + CARDS_A_READ));
      for (const card of cards) found.set(card.cardId, card);
    }
    return found;
  }
}

function configIdOf(card: CardMembership | undefined, taskType: TaskType, view: RingView): number | null {
  return card === undefined ? null : (view.matcher.match(taskType, card)?.id ?? null);
}

function isSame(a: CardMembership | null, b: CardMembership | null): boolean {
  if (a === null || b === null) return a === b;
  return a.carrierId === b.carrierId && a.realNameVerified === b.realNameVerified;
}
