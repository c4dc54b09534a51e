// The upkeep of orders, on the leader: resume runs order the next cards as earlier ones are resumed, unwanted stops are dropped
// (the allowance was raised, the usage corrected, the month is over), and a month begins (MonthStart).
import { DAEMON } from '../../domain/audit.ts';
import type { MonthCalendar } from '../../domain/cards/month-calendar.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { LoopService } from '../../platform/loop.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { AuditTrail } from '../../store/ports/records/audit-trail.ts';
import { earlierTime, type RecordStore } from '../../store/ports/records/record-store.ts';
import type { LeaderDeps } from '../leadership.ts';

const LOOK_EVERY_MS = 1_000;
/** Steps of one run per turn, each over ten thousand stops: a run may pass a year of stops before it finds a match. */
const STEPS_A_TURN = 10;
/** Interval between checks of all open stops. One turn checks a bounded number: a million take minutes. */
const LOOK_AT_STOPS_EVERY_MS = 10_000;
const STOPS_A_TURN = 2_000;
const LOOK_AT_MONTH_EVERY_MS = 60_000;
/** The resumes are spread over the first hours of the month, so that the cards do not all register at the same moment. */
const SPREAD_MS = 4 * 3_600_000;
/** Stops of the previous month may still be claimed and called: a poll ends with its lease. */
const ENDS_WITHIN_MS = 60_000;
/** No run starts later in the month: enabling the setting must not resume a fleet at once. */
const BEGINS_WITHIN_MS = 24 * 3_600_000;

export class OrderUpkeep extends LoopService<
  LeaderDeps & {
    readonly records: {
      readonly stops: Pick<RecordStore['stops'], 'dropUnwanted'>;
      readonly resumes: Pick<RecordStore['resumes'], 'open' | 'handOut'>;
    };
    readonly monthStart: Pick<MonthStart, 'run'>;
    readonly log: Logger;
  }
> {
  readonly name = 'order-upkeep';
  /** The check of open stops continues after this card id; 0: from the start. */
  #afterCardId = 0;
  #dropped = 0;
  #lookAtStopsAt = Number.NEGATIVE_INFINITY;

  async runOnce(): Promise<number> {
    const { fence, monthStart } = this.deps;
    if (fence() === null) return LOOK_EVERY_MS;
    await this.#handOut();
    await this.#dropUnwanted();
    await monthStart.run();
    return LOOK_EVERY_MS;
  }

  async #handOut(): Promise<void> {
    const { resumes } = this.deps.records;
    for (const id of await resumes.open()) {
      for (let step = 0; step < STEPS_A_TURN && (await resumes.handOut(id)); step += 1);
    }
  }

  /** Starts every ten seconds, and continues in every turn until all open stops are checked. */
  async #dropUnwanted(): Promise<void> {
    const { records, clock, log } = this.deps;
    if (clock.monotonic() < this.#lookAtStopsAt) return;
    const { lastCardId, dropped } = await records.stops.dropUnwanted(this.#afterCardId, STOPS_A_TURN);
    this.#dropped += dropped;
    this.#afterCardId = lastCardId ?? 0;
    if (lastCardId !== null) return;
    if (this.#dropped > 0) log.info({ stops: this.#dropped }, 'stops dropped: not wanted any more');
    this.#dropped = 0;
    this.#lookAtStopsAt = clock.monotonic() + LOOK_AT_STOPS_EVERY_MS;
  }
}

/**
 * At the start of a month, resumes the cards that cardpoll stopped for the usage of the month before: the setting
 * stops.resume_at_month_start. Once a month, by the calendar of the configured time zone, when both stores' clocks are in the new
 * month: a clock that is ahead would resume a fleet too early, and use up the month's run.
 */
export class MonthStart {
  #lookAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly deps: {
      readonly enabled: boolean;
      readonly records: Pick<RecordStore, 'now'> & {
        readonly resumes: Pick<RecordStore['resumes'], 'hasRunFor' | 'preview'>;
      };
      readonly live: Pick<LiveStore, 'now'>;
      readonly audit: Pick<AuditTrail, 'change'>;
      readonly calendar: MonthCalendar;
      readonly clock: Pick<Clock, 'monotonic'>;
      readonly log: Logger;
    },
  ) {}

  /** Checks once a minute. */
  async run(): Promise<void> {
    const { enabled, records, live, calendar, clock } = this.deps;
    if (!enabled || clock.monotonic() < this.#lookAt) return;
    const nowMs = await earlierTime(live, records);
    const month = calendar.monthOf(nowMs - ENDS_WITHIN_MS);
    if (calendar.monthOf(nowMs - BEGINS_WITHIN_MS) !== month) await this.#resumeFor(month);
    this.#lookAt = clock.monotonic() + LOOK_AT_MONTH_EVERY_MS;
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
