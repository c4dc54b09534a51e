// Puts cards into the rings of every task type that they belong to: page by page while rings are built, and afterwards every card
// that was added, changed or removed, which it also drops from the card cache. Called by the initialiser. Keeps no state: the
// change mark it returns is saved with the initialiser's progress.
import type { CardMembership } from '../../domain/cards/card.ts';
import type { ConfigMatcher, PollingConfig } from '../../domain/schedule/polling-config.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import { type RingState, ringKey } from '../../store/ports/live/rings.ts';
import type { CardChanges } from '../../store/ports/records/card-records.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import { ringOf } from './scheduler.ts';

const PAGE_CARDS = 20_000;
const CHANGES_A_CALL = 10_000;
/** Limit of calls in one pass: a million changed cards must not delay the initialiser's batches. */
const CALLS_A_PASS = 10;

export class CardSync {
  constructor(
    private readonly deps: {
      readonly live: Pick<LiveStore, 'rings' | 'cards' | 'work'>;
      readonly records: Pick<RecordStore, 'cards'>;
      readonly matcher: () => ConfigMatcher;
      readonly queueCap: number;
      /** Orders the stops of cards that are over their package, and records stopped cards that are within it. */
      readonly judgeChanged: (cardIds: readonly number[]) => Promise<void>;
      /** Throws when this instance no longer leads. */
      readonly requireLead: () => void;
    },
  ) {}

  /**
   * Adds up to `limit` cards with ids after `afterId` to their rings among those that are being built, page by page to bound the
   * memory.
   */
  async load(afterId: number, limit: number, rings: readonly RingState[], matcher: ConfigMatcher) {
    const loading = new Set(rings.map(ringKey));
    let count = 0;
    let lastCardId = afterId;
    while (count < limit) {
      const wanted = Math.min(PAGE_CARDS, limit - count);
      const cards = await this.deps.records.cards.page(lastCardId, wanted);
      for (const [config, cardIds] of groupByRing(cards, matcher)) {
        if (!loading.has(ringKey(ringOf(config)))) continue;
        this.deps.requireLead();
        await this.deps.live.rings.add(ringOf(config), cardIds, this.deps);
      }
      count += cards.length;
      lastCardId = cards.at(-1)?.cardId ?? lastCardId;
      if (cards.length < wanted) break;
    }
    return { count, lastCardId };
  }

  /**
   * Applies the changes since `mark`. @returns the mark to continue from, and whether all changes until this call are applied.
   */
  async follow(mark: string, rings: readonly RingState[]) {
    let at = mark;
    for (let call = 0; call < CALLS_A_PASS; call += 1) {
      const changes = await this.deps.records.cards.changesSince(at, CHANGES_A_CALL);
      at = changes.mark;
      if (changes.changed.length + changes.removed.length > 0) await this.#apply(changes, rings);
      if (changes.caughtUp) return { mark: at, caughtUp: true };
    }
    return { mark: at, caughtUp: false };
  }

  async #apply({ changed, removed }: CardChanges, rings: readonly RingState[]): Promise<void> {
    const { live } = this.deps;
    this.deps.requireLead();
    if (changed.length > 0) await this.#place(changed);
    if (removed.length > 0) {
      for (const ring of rings) await live.rings.remove(ring, removed);
      await live.work.forgetCards(removed);
    }
    const changedIds = changed.map((card) => card.cardId);
    await live.cards.drop([...changedIds, ...removed]);
    // The allowance of any of these cards may have changed.
    await this.deps.judgeChanged(changedIds);
  }

  /** Puts each card into the ring that polls it, and removes it from the other rings of that task type. */
  async #place(cards: readonly CardMembership[]): Promise<void> {
    const { rings } = this.deps.live;
    for (const [config, members] of groupByRing(cards, this.deps.matcher())) {
      const belongs = new Set(members);
      const others = cards.filter((card) => !belongs.has(card.cardId)).map((card) => card.cardId);
      if (members.length > 0) await rings.add(ringOf(config), members);
      if (others.length > 0) await rings.remove(ringOf(config), others);
    }
  }
}

/** @returns card ids by the config that polls them; every config has an entry, even without cards. */
export function groupByRing(
  cards: readonly CardMembership[],
  matcher: ConfigMatcher,
): Map<PollingConfig, number[]> {
  const groups = new Map<PollingConfig, number[]>(matcher.configs.map((config) => [config, []]));
  for (const card of cards) {
    for (const taskType of TASK_TYPES) {
      const config = matcher.match(taskType, card);
      if (config !== null) groups.get(config)?.push(card.cardId);
    }
  }
  return groups;
}
