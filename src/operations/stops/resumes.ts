// Runs that resume stopped cards: previews and creates them, shows their progress, cancels them. Used by the admin API. The
// workers carry them out.
import type { Actor } from '../../domain/audit.ts';
import { dated } from '../../domain/date-of.ts';
import { notOfferedWords, WHOLE_GATEWAY } from '../../domain/gateway-interface.ts';
import { MAX_ORDERED_CARDS } from '../../domain/stops/stop.ts';
import { TASKS } from '../../domain/task-type.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { ResumeOrder, ResumePreview, ResumeRunReport } from '../../resources/stops.ts';
import type { ResumeRun, ResumeSelection } from '../../store/ports/records/resume-records.ts';
import type { OperationDeps } from '../deps.ts';
import { type CardList, findCard, requireOffered, wrongCards } from '../requirements.ts';

/**
 * A list of cards, the cards that cardpoll stopped since a time, or the stopped cards that are now within their package; null:
 * not given.
 */
interface ResumeCriteria {
  readonly cardIds: CardList | null;
  readonly sinceMs: number | null;
  readonly within?: boolean;
  readonly carrierId: number | null;
}

type Deps = Pick<OperationDeps, 'live' | 'records' | 'audit' | 'offers' | 'calendar' | 'clock'>;

const LATEST = 20;
/** Without these interfaces no card is resumed. */
const NEEDED: readonly string[] = [WHOLE_GATEWAY, TASKS.package.interface, 'start'];

export class ResumeOperations {
  constructor(private readonly deps: Deps) {}

  /** Counts the cards that a run would have. @throws CardpollError `invalid`. */
  async preview(criteria: ResumeCriteria): Promise<ResumePreview> {
    return this.deps.records.resumes.preview(await this.#select(criteria));
  }

  /** Cards that wait in another run are skipped. @throws CardpollError `invalid`; `conflict` if no resume is offered. */
  create(actor: Actor, criteria: ResumeCriteria, given: ResumeOrder): Promise<ResumeRunReport> {
    // A card that is within its package is stopped again by the first reading that is over it.
    const order = criteria.within === true ? { ...given, stopAgain: true } : given;
    return this.#create(actor, () => this.#select(criteria), order);
  }

  /** Resumes one card. @throws CardpollError `not_found`; `conflict` if no resume is offered. */
  async createForCard(actor: Actor, cardIdOrIccid: string, order: ResumeOrder): Promise<ResumeRunReport> {
    const select = async () => {
      const { cardId } = await findCard(this.deps.records.cards, cardIdOrIccid);
      return { cardIds: [cardId] };
    };
    return this.#create(actor, select, order);
  }

  /** @throws CardpollError `not_found`. */
  async show(id: string): Promise<ResumeRunReport> {
    return this.#report(required(id, await this.deps.records.resumes.find(id)));
  }

  /** @returns the latest runs, latest first. */
  async latest(): Promise<ResumeRunReport[]> {
    const runs = await this.deps.records.resumes.latest(LATEST);
    const waitsFor = runs.some(isOpen) ? await this.#waitsFor() : null;
    return runs.map((run) => reportOf(run, waitsFor));
  }

  /** Calls in flight end normally. @throws CardpollError `not_found`; `conflict` for a run that has ended. */
  async cancel(actor: Actor, id: string): Promise<ResumeRunReport> {
    const run = await this.deps.audit.change(actor, async ({ resumes }, note) => {
      const before = required(id, await resumes.find(id));
      if (!isOpen(before)) {
        throw new CardpollError('conflict', 'resume_run_finished', `run ${id} has already ended`);
      }
      const after = required(id, await resumes.cancel(id));
      const counts = { waiting: before.waiting, resumed: before.resumed, failed: before.failed };
      const object = `resume run ${id}`;
      note({ action: 'stops.resume.cancel', object, before: counts, after: { cancelled: after.cancelled } });
      return after;
    });
    return this.#report(run);
  }

  async #select({ within = false, ...criteria }: ResumeCriteria): Promise<ResumeSelection> {
    if (!within) return selectionOf(criteria);
    if (criteria.cardIds !== null || criteria.sinceMs !== null)
      throw wrongCards('within', 'is not taken together with card_ids or since');
    const { records, calendar, clock } = this.deps;
    const month = calendar.monthOf(clock.now());
    return { cardIds: await records.stoppedWithin.cards(month, criteria.carrierId, MAX_ORDERED_CARDS) };
  }

  /** The cards are counted before the turn and handed out after it, so that no other change waits for them. */
  async #create(
    actor: Actor,
    select: () => Promise<ResumeSelection>,
    order: ResumeOrder,
  ): Promise<ResumeRunReport> {
    requireOffered(this.deps.offers, 'start');
    const { resumes } = this.deps.records;
    const { reason, stopAgain } = order;
    const count = async () => {
      const selection = await select();
      return { selection, ...(await resumes.preview(selection)) };
    };
    const { id } = await this.deps.audit.prepared(actor, count, async (counted, inTurn, note) => {
      const { selection, total, skipped } = counted;
      const made = await inTurn.resumes.create({ selection, expected: total, by: actor, ...order });
      const object = `resume run ${made.id}`;
      const again = stopAgain ? { stopAgain } : {};
      const after = { reason, ...again, total, skipped, ...auditedSelection(selection) };
      note({ action: 'stops.resume', object, before: null, after });
      return made;
    });
    // The leader makes the other steps.
    await resumes.handOut(id);
    return this.show(id);
  }

  async #report(run: ResumeRun): Promise<ResumeRunReport> {
    return reportOf(run, isOpen(run) ? await this.#waitsFor() : null);
  }

  /** Why no card is resumed at present; null: no known cause. */
  async #waitsFor(): Promise<string | null> {
    if (!this.deps.offers('start')) return notOfferedWords('start');
    try {
      const [pauses, instances] = await Promise.all([
        this.deps.live.work.pauses(),
        this.deps.live.coordination.instances(),
      ]);
      const pause = pauses.find(({ taskType }) => taskType === 'package');
      if (pause !== undefined) {
        const until = new Date(pause.untilMs).toISOString();
        const reason = pause.reason === '' ? '' : ` (${pause.reason})`;
        return `package is paused until ${until}${reason}: cardpoll resume package ends the pause`;
      }
      const breaker = instances
        .flatMap(({ breakers }) => breakers)
        .find(({ state, interface: name }) => state === 'open' && NEEDED.includes(name));
      if (breaker === undefined) return null;
      const since = new Date(breaker.sinceMs).toISOString();
      return `the breaker of ${breaker.interface} is open since ${since}: ${breaker.reason}`;
    } catch (error) {
      // The run is in the records, so it is shown even when the live store is down.
      if (!(error instanceof CardpollError && error.kind === 'unavailable')) throw error;
      return error.message;
    }
  }
}

function selectionOf({ cardIds, sinceMs, carrierId }: Omit<ResumeCriteria, 'within'>): ResumeSelection {
  if (cardIds === null) {
    if (sinceMs === null) throw wrongCards('cardIds', 'is required, or since or within instead of it');
    return { sinceMs, carrierId };
  }
  if (sinceMs !== null) throw wrongCards('since', 'is not taken together with card_ids');
  if (carrierId !== null) throw wrongCards('carrierId', 'is not taken together with card_ids');
  return { cardIds: [...new Set(cardIds)] };
}

/** A list may have many cards, so the audit trail stores their number. */
function auditedSelection(selection: ResumeSelection): object {
  if ('sinceMs' in selection) {
    const { sinceMs, carrierId } = selection;
    return { since: new Date(sinceMs), ...(carrierId === null ? {} : { carrierId }) };
  }
  const { cardIds } = selection;
  return cardIds.length === 1 ? { cardId: cardIds[0] } : { cards: cardIds.length };
}

function required(id: string, run: ResumeRun | null): ResumeRun {
  if (run !== null) return run;
  throw new CardpollError('not_found', 'resume_run_not_found', `there is no run ${id}`, {
    hint: '`cardpoll stops runs` shows the ids',
  });
}

function isOpen({ cancelledAtMs, finishedAtMs }: ResumeRun): boolean {
  return cancelledAtMs === null && finishedAtMs === null;
}

function reportOf(run: ResumeRun, waitsFor: string | null): ResumeRunReport {
  const cutOff = run.total - run.resumed - run.alreadyRunning;
  return { ...dated(run), status: statusOf(run), cutOff, waitsFor: isOpen(run) ? waitsFor : null };
}

function statusOf(run: ResumeRun): ResumeRunReport['status'] {
  if (run.cancelledAtMs !== null) return 'cancelled';
  return isOpen(run) ? 'running' : 'completed';
}
