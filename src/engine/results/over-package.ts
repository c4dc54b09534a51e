// Makes cards that are over their package due for task package at once, so that they are stopped within seconds and not
// when their ring comes to them. Used where somebody learns of it: the engine with every written reading, card-sync.ts with
// every change of a card. It stops nothing itself: the task judges anew.
import type { ConfigMatcher } from '../../domain/schedule/polling-config.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';

export interface OverPackageDeps {
  readonly live: Pick<LiveStore, 'work' | 'cards'>;
  readonly records: Pick<RecordStore, 'stops'>;
  readonly matcher: () => ConfigMatcher;
  readonly queueCap: number;
}

export class OverPackage {
  constructor(private readonly deps: OverPackageDeps) {}

  /** Makes those of these cards due whose stop is wanted and that an enabled config polls for it. */
  async makeDue(cardIds: readonly number[]): Promise<void> {
    if (cardIds.length === 0) return;
    const { live, records, matcher, queueCap } = this.deps;
    const wanted = await records.stops.wanted(cardIds);
    const polled = wanted.filter((card) => matcher().match('package', card)?.status === 1);
    if (polled.length === 0) return;
    const due = polled.map((card) => card.cardId);
    // Who read a card before it was over may have cached it since, and the task asks the records only of cards over.
    await live.cards.drop(due);
    await live.work.makeDue('package', due, queueCap);
  }
}
