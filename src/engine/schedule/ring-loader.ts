// Loads cards into rings that are being built. Used by initialiser.ts, which stores the progress.
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RingState } from '../../store/ports/live/rings.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import { groupByRing } from './ring-membership.ts';
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
      for (const [config, cardIds] of groupByRing(cards, view.configs, view.matcher)) {
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
