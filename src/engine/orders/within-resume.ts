// Resumes the cards, on the leader, that cardpoll stopped for their usage and that are now within their package: the setting
// stops.resume_within. A reading taken after the change must confirm it (src/domain/orders/stopped-within.ts). Each time it
// creates one run, as `stops resume --within` does; OrderUpkeep orders its cards.
import { DAEMON } from '../../domain/audit.ts';
import type { MonthCalendar } from '../../domain/cards/month-calendar.ts';
import type { Logger } from '../../platform/logger.ts';
import { LoopService } from '../../platform/loop.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { AuditTrail } from '../../store/ports/records/audit-trail.ts';
import { earlierTime, type RecordStore } from '../../store/ports/records/record-store.ts';
import type { LeaderDeps } from '../leadership.ts';

const LOOK_EVERY_MS = 500;
/** Pause after a step that did not reach the end of the list. */
const NEXT_STEP_MS = 100;
const CARDS_A_STEP = 2_000;
/** Pause before a card whose resume failed is tried again. */
const TRY_AGAIN_MS = 3_600_000;
const REASON = 'within the package (stops.resume_within)';

export class WithinResume extends LoopService<
  LeaderDeps & {
    readonly records: Pick<RecordStore, 'now' | 'stoppedWithin'>;
    readonly live: Pick<LiveStore, 'now'>;
    readonly audit: Pick<AuditTrail, 'change'>;
    readonly calendar: MonthCalendar;
    readonly log: Logger;
  }
> {
  readonly name = 'within-resume';
  /** The walk over the list continues after this card id; 0: from the start. */
  #afterCardId = 0;

  async runOnce(): Promise<number> {
    const { fence, records, live, calendar } = this.deps;
    if (fence() === null) return LOOK_EVERY_MS;
    const month = calendar.monthOf(await earlierTime(live, records));
    const step = await records.stoppedWithin.confirmed(month, this.#afterCardId, CARDS_A_STEP, TRY_AGAIN_MS);
    if (step.cardIds.length > 0) await this.#resume(step.cardIds);
    this.#afterCardId = step.lastCardId ?? 0;
    return step.lastCardId === null ? LOOK_EVERY_MS : NEXT_STEP_MS;
  }

  /** The cards may be stopped again: a reading over the package may follow the resume. */
  async #resume(cardIds: readonly number[]): Promise<void> {
    const { audit, log } = this.deps;
    const cards = cardIds.length;
    const order = { expected: cards, stopAgain: true, by: DAEMON, reason: REASON };
    const { id } = await audit.change(DAEMON, async ({ resumes, stoppedWithin }, note) => {
      const run = await resumes.create({ selection: { cardIds }, ...order });
      await stoppedWithin.noteTried(cardIds);
      const object = `resume run ${run.id}`;
      note({
        action: 'stops.resume',
        object,
        before: null,
        after: { cards, stopAgain: true, reason: REASON },
      });
      return run;
    });
    log.info({ run_id: id, cards }, 'cards within their package are resumed');
  }
}
