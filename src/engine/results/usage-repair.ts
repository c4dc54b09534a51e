// Moves usage from months that have not begun back to the present month. A clock that was ahead counted it there, and
// until it is moved it does not count against the card's package (docs/decisions/0004-usage-month.md). Run by the
// leader's reaper.ts, by the record store's clock. Future months are otherwise empty, so the check is cheap.
import type { MonthCalendar } from '../../domain/cards/usage-month.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { CardCache } from '../../store/ports/live/card-cache.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';

const LOOK_EVERY_MS = 60_000;
const ROWS_AT_ONCE = 5_000;
/** A month begins this much earlier in some time zones: instances may have different zones during a change of it. */
const ZONES_APART_MS = 26 * 3_600_000;

export class UsageRepair {
  /** The repair continues after this card id; 0: from the start. */
  #afterCardId = 0;
  #repaired = 0;
  #lookAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly deps: {
      readonly records: Pick<RecordStore, 'now' | 'results'>;
      readonly cards: Pick<CardCache, 'drop'>;
      readonly calendar: MonthCalendar;
      readonly clock: Pick<Clock, 'monotonic'>;
      readonly log: Logger;
    },
  ) {}

  /** Checks once a minute, and with every call while it finds cards. */
  async run(): Promise<void> {
    const { records, cards, calendar, clock, log } = this.deps;
    if (clock.monotonic() < this.#lookAt) return;
    const nowMs = await records.now();
    const repaired = await records.results.foldBack({
      present: calendar.monthOf(nowMs),
      latest: calendar.monthOf(nowMs + ZONES_APART_MS),
      afterCardId: this.#afterCardId,
      limit: ROWS_AT_ONCE,
    });
    if (repaired.length > 0) await cards.drop(repaired);
    this.#repaired += repaired.length;
    this.#afterCardId = repaired.at(-1) ?? 0;
    if (repaired.length > 0) return;
    if (this.#repaired > 0) {
      log.warn({ cards: this.#repaired }, 'usage of future months moved to the present month');
    }
    this.#repaired = 0;
    this.#lookAt = clock.monotonic() + LOOK_EVERY_MS;
  }
}
