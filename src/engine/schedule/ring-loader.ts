// Groups cards by the rings of every task type they belong to, and loads cards into rings that are being built. Used by
// initialiser.ts, which stores the progress, and by card-sync.ts.

import type { CardMembership } from '../../domain/cards/card.ts';
import type { PollingConfig } from '../../domain/schedule/polling-config.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RingState } from '../../store/ports/live/rings.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import type { RingView } from './ring-repair.ts';
import { ringKey, ringOf } from './scheduler.ts';

const PAGE_CARDS = 20_000;

export class RingLoader {
  constructor(
    private readonly deps: {
      readonly live: Pick<LiveStore, 'rings'>;
      readonly records: Pick<RecordStore, 'cards'>;
      /** Throws when this instance no longer leads. */
      readonly requireLead: () => void;
    },
  ) {}

  /** Adds up to `limit` cards with ids after `afterId` to their rings, page by page to bound the memory. */
  async load(
    afterId: number,
    limit: number,
    rings: readonly RingState[],
    view: RingView,
  ): Promise<{ count: number; lastCardId: number }> {
    const loading = new Set(rings.map(ringKey));
    let count = 0;
    let lastCardId = afterId;
    while (count < limit) {
      const wanted = Math.min(PAGE_CARDS, limit - count);
      const cards = await this.deps.records.cards.page(lastCardId, wanted);
      for (const [config, cardIds] of groupByRing(cards, view)) {
        if (!loading.has(ringKey(ringOf(config)))) continue;
        this.deps.requireLead();
        await this.deps.live.rings.add(ringOf(config), cardIds);
      }
      count += cards.length;
      lastCardId = cards.at(-1)?.cardId ?? lastCardId;
      if (cards.length < wanted) break;
    }
    return { count, lastCardId };
  }
}

/** @returns card ids by the config that polls them; every config has an entry, even without cards. */
export function groupByRing(
  cards: readonly CardMembership[],
  { configs, matcher }: RingView,
): Map<PollingConfig, number[]> {
  const groups = new Map<PollingConfig, number[]>(configs.map((config) => [config, []]));
  for (const card of cards) {
    for (const taskType of TASK_TYPES) {
      const config = matcher.match(taskType, card);
      if (config !== null) groups.get(config)?.push(card.cardId);
    }
  }
  return groups;
}
