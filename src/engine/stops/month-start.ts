// When a month begins, has the cards resumed that cardpoll stopped for the usage of the month before: the setting
// stops.resume_at_month_start. Once a month, by the record store's clock and the calendar of the configured time zone. Run by
// order-feeder.ts.
import { DAEMON } from '../../domain/audit.ts';
import type { MonthCalendar } from '../../domain/cards/usage-month.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { AuditTrail } from '../../store/ports/records/audit-trail.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';

const LOOK_EVERY_MS = 60_000;
/** The cards are resumed at random times of these first hours, so that not all of them register in one moment. */
const SPREAD_MS = 4 * 3_600_000;
/** Later in the month no run is made: switching the setting on must not resume a fleet at once. */
const BEGINS_WITHIN_MS = 24 * 3_600_000;

export class MonthStart {
  #lookAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly deps: {
      readonly enabled: boolean;
      readonly records: Pick<RecordStore, 'now'> & {
        readonly resumes: Pick<RecordStore['resumes'], 'hasRunFor' | 'preview'>;
      };
      readonly audit: Pick<AuditTrail, 'change'>;
      readonly calendar: MonthCalendar;
      readonly clock: Pick<Clock, 'monotonic'>;
      readonly log: Logger;
    },
  ) {}

  /** Looks once a minute. */
  async run(): Promise<void> {
    const { enabled, records, calendar, clock } = this.deps;
    if (!enabled || clock.monotonic() < this.#lookAt) return;
    const nowMs = await records.now();
    const month = calendar.monthOf(nowMs);
    if (calendar.monthOf(nowMs - BEGINS_WITHIN_MS) !== month) await this.#resumeFor(month);
    this.#lookAt = clock.monotonic() + LOOK_EVERY_MS;
  }

  async #resumeFor(month: string): Promise<void> {
    const { records, audit, log } = this.deps;
    const selection = { beginning: month };
    if (await records.resumes.hasRunFor(selection)) return;
    const expected = (await records.resumes.preview(selection)).total;
    const run = await audit.change(DAEMON, async ({ resumes }, note) => {
      const made = await resumes.createForMonth(selection, expected, SPREAD_MS);
      if (made !== null) {
        const { id, total, reason } = made;
        note({
          action: 'stops.resume',
          object: `resume run ${id}`,
          before: null,
          after: { cards: total, reason },
        });
      }
      return made;
    });
    if (run !== null)
      log.info({ run_id: run.id, month, cards: run.total }, 'a month began: stopped cards are resumed');
  }
}
