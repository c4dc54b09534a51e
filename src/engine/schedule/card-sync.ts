// Puts cards into the rings of every task type that they belong to: page by page while rings are built, and later those that
// were added, changed or removed, which it also drops from the card cache. Called by the initialiser. It keeps no state: the
// change mark it returns is saved with the initialiser's progress.
import type { CardMembership } from '../../domain/cards/card.ts';
import type { PollingConfig } from '../../domain/schedule/polling-config.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RingState } from '../../store/ports/live/rings.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import { makeOverPackageDue, type OverPackageDeps } from '../results/over-package.ts';
import type { RingView } from './ring-repair.ts';
import { ringKey, ringOf } from './scheduler.ts';

const PAGE_CARDS = 20_000;
const CHANGES_A_CALL = 10_000;
/** At most this many calls in one pass: a million changed cards must not hold up the initialiser's batches. */
const CALLS_A_PASS = 10;

export class CardSync {
  constructor(
    private readonly deps: OverPackageDeps & {
      readonly live: Pick<LiveStore, 'rings'>;
      readonly records: Pick<RecordStore, 'cards'>;
      readonly configs: () => readonly PollingConfig[];
      /** Throws when this instance no longer leads. */
      readonly requireLead: () => void;
    },
  ) {}

  /**
   * Adds up to `limit` cards with ids after `afterId` to those of their rings that are being built, page by page to bound
   * the memory.
   */
  async load(afterId: number, limit: number, rings: readonly RingState[], view: RingView) {
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

  /** Applies what changed since `mark`. @returns the mark to go on from, and whether all changes of this instant are in. */
  async follow(mark: string, rings: readonly RingState[]) {
    let at = mark;
    for (let call = 0; call < CALLS_A_PASS; call += 1) {
      const changes = await this.deps.records.cards.changesSince(at, CHANGES_A_CALL);
      this.deps.requireLead();
      await this.#place(changes.changed);
      for (const ring of rings) await this.#remove(ring, changes.removed);
      if (changes.removed.length > 0) await this.deps.live.work.forgetCards(changes.removed);
      const changed = changes.changed.map((card) => card.cardId);
      const touched = [...changed, ...changes.removed];
      if (touched.length > 0) await this.deps.live.cards.drop(touched);
      // The allowance of any of these cards may have been lowered.
      await makeOverPackageDue(this.deps, changed);
      at = changes.mark;
      if (touched.length === 0) return { mark: at, caughtUp: true };
    }
    return { mark: at, caughtUp: false };
  }

  /** Puts each card into the ring that polls it, and removes it from the other rings of that task type. */
  async #place(cards: readonly CardMembership[]): Promise<void> {
    if (cards.length === 0) return;
    const view = { configs: this.deps.configs(), matcher: this.deps.matcher() };
    for (const [config, members] of groupByRing(cards, view)) {
      if (members.length > 0) await this.deps.live.rings.add(ringOf(config), members);
      const belongs = new Set(members);
      const others = cards.filter((card) => !belongs.has(card.cardId)).map((card) => card.cardId);
      await this.#remove(ringOf(config), others);
    }
  }

  async #remove(
    ring: { configId: number; taskType: RingState['taskType'] },
    cardIds: readonly number[],
  ): Promise<void> {
    if (cardIds.length > 0) await this.deps.live.rings.remove(ring, cardIds);
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
