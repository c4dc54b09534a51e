// What an operator can ask or do, built once over the two stores. Opened by wiring; the admin API is a face on it.
// Holds no connection of its own and needs no closing.
import { MonthCalendar } from '../domain/usage-month.ts';
import type { Clock } from '../platform/clock.ts';
import type { LiveStore } from '../store/live-store.ts';
import type { RecordStore } from '../store/record-store.ts';
import { CardTotal } from './card-total.ts';
import { CardOperations } from './cards.ts';
import { ConcurrencyOperations } from './concurrency.ts';
import { ConfigOperations } from './configs.ts';
import { RepeatableRequests } from './repeatable-requests.ts';
import { StatsOperations } from './stats.ts';

export interface Operations {
  readonly stats: StatsOperations;
  readonly concurrency: ConcurrencyOperations;
  readonly configs: ConfigOperations;
  readonly cards: CardOperations;
  readonly requests: RepeatableRequests;
}

export interface OperationsOptions {
  readonly live: LiveStore;
  readonly records: RecordStore;
  readonly clock: Clock;
  /** IANA zone whose calendar months usage is counted in. */
  readonly timeZone: string;
  readonly version: string;
}

export function openOperations({ live, records, clock, timeZone, version }: OperationsOptions): Operations {
  const cardTotal = new CardTotal(() => records.cards.count(), clock);
  const concurrency = new ConcurrencyOperations(live, records);
  return {
    concurrency,
    stats: new StatsOperations({
      live,
      concurrency,
      cardTotal,
      clock,
      version,
    }),
    configs: new ConfigOperations(records),
    requests: new RepeatableRequests(live),
    cards: new CardOperations({
      live,
      records,
      cardTotal,
      clock,
      calendar: new MonthCalendar(timeZone),
    }),
  };
}
