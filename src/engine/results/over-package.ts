// Makes cards that are over their package urgent for task package, so that they are stopped within seconds instead
// of at their ring's next turn. Called by the engine for cards whose reading looks over their allowance, and by card-sync.ts for
// every changed card. Stops no card itself: the task checks the card again.
import type { Offers } from '../../domain/gateway-interface.ts';
import type { ConfigMatcher } from '../../domain/schedule/polling-config.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';

export interface OverPackageDeps {
  readonly live: Pick<LiveStore, 'work' | 'cards'>;
  readonly records: Pick<RecordStore, 'stops'>;
  readonly offers: Offers;
  readonly matcher: () => ConfigMatcher;
  readonly queueCap: number;
}

/** Makes those of the given cards urgent that must be stopped, can be, and that an enabled package config polls. */
export async function makeOverPackageUrgent(
  { live, records, offers, matcher, queueCap }: OverPackageDeps,
  cardIds: readonly number[],
): Promise<void> {
  if (cardIds.length === 0 || !offers('stop')) return;
  const wanted = await records.stops.wanted(cardIds);
  const polled = wanted.filter((card) => matcher().match('package', card)?.status === 1);
  if (polled.length === 0) return;
  const urgent = polled.map((card) => card.cardId);
  // The cache may still hold the card as it was before; the task asks the records only about cards that look over.
  await live.cards.drop(urgent);
  await live.work.makeUrgent('package', urgent, 'urgent', queueCap);
}
