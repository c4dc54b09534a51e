// Orders the stops of cards that are over their package. Called at once after a reading or status that shows it, and by
// card-sync.ts for every changed card. The records decide by the facts of that moment, and order no stop for a card that no
// enabled package config polls.
import type { MonthCalendar } from '../../domain/cards/month-calendar.ts';
import type { Offers } from '../../domain/gateway-interface.ts';
import type { ConfigMatcher } from '../../domain/schedule/polling-config.ts';
import type { StopRules } from '../../domain/stops/stop.ts';
import type { Logger } from '../../platform/logger.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';

interface WantedStopsDeps {
  readonly records: Pick<RecordStore, 'orders'>;
  readonly offers: Offers;
  readonly calendar: MonthCalendar;
  readonly matcher: () => ConfigMatcher;
  readonly stopRules: () => StopRules;
  /** Now, epoch milliseconds, by the fleet's clock. */
  readonly fleetNow: () => number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** @returns how many stops were ordered. */
export async function orderWantedStops(
  { records, offers, calendar, matcher, stopRules, fleetNow, log }: WantedStopsDeps,
  cardIds: readonly number[],
): Promise<number> {
  if (cardIds.length === 0 || !offers('stop')) return 0;
  const month = calendar.monthOf(fleetNow());
  const isPolled = isStoppable(matcher());
  const wanted = await records.orders.want(cardIds, month, stopRules(), isPolled);
  for (const stop of wanted) logWaiting(log, stop);
  return wanted.filter(({ state }) => state === 'ordered').length;
}

/** Only a card that an enabled package config polls can be stopped. */
export function isStoppable(matcher: ConfigMatcher) {
  return (card: Parameters<ConfigMatcher['match']>[1]): boolean =>
    matcher.match('package', card)?.status === 1;
}

/** Logs one line when a stop begins to wait, and none while it waits. */
export function logWaiting(
  log: Pick<Logger, 'info' | 'warn'>,
  stop: { cardId: number; iccid: string; state: string; isNew?: boolean; heldBy?: string },
): void {
  if (stop.isNew !== true) return;
  const about = { card_id: stop.cardId, iccid: stop.iccid };
  if (stop.state === 'held') log.warn({ ...about, held_by: stop.heldBy }, 'stop held');
  else log.info(about, 'stop observed');
}
