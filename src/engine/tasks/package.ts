// Task package: stops a card that exceeds its package (operations interface, section 1), once a month for a SIM and an allowance,
// and makes the stops and resumes that operators order.
//
// The task always asks the gateway for the card's status first. If the card runs, the claim of the stop decides from
// the records of that moment whether it is over its package, and whether the rules of stops allow the call
// (docs/decisions/0032-safeguards-of-stops.md); the cached card only says whether to ask. A look at the records comes before the
// claim: only a stop that would be granted waits for its turn. card-calls.ts makes the calls. That of
// a resume comes first: a card that was just resumed is not stopped by the same poll.
import type { Card } from '../../domain/cards/card.ts';
import type { MonthCalendar } from '../../domain/cards/month-calendar.ts';
import { usedInMonth } from '../../domain/cards/usage-month.ts';
import type { Offers } from '../../domain/gateway-interface.ts';
import { CARD_RESUMED } from '../../domain/log-phrases.ts';
import { type StopRules, type StopSettings, stopRulesOf } from '../../domain/stops/stop.ts';
import { type LoopMeans, LoopService } from '../../platform/loop.ts';
import type { CardRecords } from '../../store/ports/records/card-records.ts';
import type { StopClaim, StopLook, StopRecords } from '../../store/ports/records/stop-records.ts';
import { type Deadline, polledNow, type Task, type TaskResult } from '../work/task.ts';
import { CardCalls, type CardCallsDeps, otherIccid, stopInProgress, unconfirmedStop } from './card-calls.ts';
import { FollowUps, type Means } from './follow-ups.ts';
import { StopLooks } from './stop-looks.ts';

/** How often the fleet is counted. */
const COUNT_EVERY_MS = 60_000;

export interface PackageTaskDeps extends CardCallsDeps {
  readonly records: CardCallsDeps['records'] & { readonly stops: Pick<StopRecords, 'look'> };
  readonly offers: Offers;
  readonly calendar: MonthCalendar;
  readonly stopRules: () => StopRules;
}

interface Verdict {
  readonly over: boolean;
  readonly stopped: boolean;
  /** What became of the stop, for the log; absent: it was made, or none was wanted. */
  readonly stop?: 'held' | 'observed' | 'waiting';
  /** Its resume waits for the rate limits. */
  readonly resume?: 'waiting';
  /** It runs by a resume, which was logged. */
  readonly resumedByRun?: true;
}

/** What is known of the card when it is judged. */
interface Findings {
  readonly month: string;
  readonly isOver: boolean;
  readonly reportedStopped: boolean;
}

export class PackageTask implements Task {
  readonly taskType = 'package';
  readonly #calls: CardCalls;
  readonly #looks: StopLooks;
  readonly #followUps: FollowUps;

  constructor(private readonly deps: PackageTaskDeps) {
    this.#looks = new StopLooks(deps.records.stops, deps.stopRules);
    this.#followUps = new FollowUps(deps);
    this.#calls = new CardCalls(deps, this.#followUps);
  }

  /** Ends the waits that go on after polls. */
  stop(): Promise<void> {
    return this.#followUps.stop();
  }

  async poll(card: Card, deadline: Deadline): Promise<TaskResult> {
    try {
      return await this.#poll(card, deadline);
    } finally {
      // Carried out, given up or still waiting: the next poll reads it from the records.
      if (card.ordered) await this.deps.reader.forget([card.cardId]);
    }
  }

  async #poll(card: Card, deadline: Deadline): Promise<TaskResult> {
    const { gateway, calendar } = this.deps;
    const { value } = await gateway.call('card_status', card, deadline.remainingMs());
    const reportedStopped = gateway.isStoppedStatus(String(value));
    const month = calendar.monthOf(deadline.nowMs());
    const usedMb = usedInMonth(card.usage, month);
    const { allowanceMb } = card;
    const isOver = allowanceMb !== null && usedMb > allowanceMb;
    // Stopped by another system, or by a call of ours whose outcome was lost or late: record that once, also if the stop is
    // not wanted any more, and before the card is resumed, which ends a stop that is done.
    if (reportedStopped && (!card.stopped || card.ordered)) await this.#calls.recordStop(card, month);
    const { over, stopped, resumedByRun, ...held } =
      isOver || card.ordered
        ? await this.#carryOut(card, { month, isOver, reportedStopped }, deadline)
        : { over: false, stopped: reportedStopped };
    if (card.stopped && !stopped && resumedByRun !== true)
      this.deps.log.info({ card_id: card.cardId, iccid: card.iccid }, CARD_RESUMED);
    const polled = polledNow(this.taskType, card, deadline);
    const changed = stopped !== card.stopped;
    return {
      outcome: changed ? { ...polled, stopped } : polled,
      fields: {
        used_mb_month: usedMb,
        allowance_mb: allowanceMb,
        over_package: over,
        stopped,
        ...held,
      },
    };
  }

  /** Resumes a card that waits in a run; otherwise stops it if it is over its package, or as an operator ordered. */
  async #carryOut(card: Card, findings: Findings, deadline: Deadline): Promise<Verdict> {
    const { month, isOver, reportedStopped } = findings;
    const resumed = card.ordered && (await this.#calls.resume(card, month, reportedStopped, deadline));
    if (resumed === 'waiting') return { over: isOver, stopped: true, resume: resumed };
    if (resumed) return { over: isOver, stopped: false, resumedByRun: true };
    return reportedStopped
      ? { over: isOver, stopped: true }
      : this.#keepStopped(card, month, isOver, deadline);
  }

  /** Stops a running card that is over its package, unless it was resumed after this month's stop, or as ordered. */
  async #keepStopped(card: Card, month: string, isOver: boolean, deadline: Deadline): Promise<Verdict> {
    // The gateway's answer may be wrong; the next reading confirms or disproves it.
    if (!card.ordered && card.usage !== null && card.usage.suspectedMb !== null)
      return { over: true, stopped: false };
    if (!this.deps.offers('stop')) return { over: isOver, stopped: false };
    const { records, leaseMs, stopRules } = this.deps;
    const look = await this.#looks.look(card, month);
    if (look.state !== 'open') return this.#withoutCall(card, isOver, look);
    const verdict = await this.#followUps.make({
      name: 'stop',
      card,
      deadline,
      claim: () => records.stops.claim(card, month, leaseMs, stopRules()),
      act: (claim, means) => this.#stopAsClaimed(card, isOver, claim, means),
    });
    return verdict ?? { over: isOver, stopped: false, stop: 'waiting' };
  }

  async #stopAsClaimed(card: Card, isOver: boolean, claim: StopClaim, means: Means): Promise<Verdict> {
    if (!('attempt' in claim)) return this.#withoutCall(card, isOver, claim);
    await this.#calls.stop(card, claim, means);
    return { over: isOver, stopped: true };
  }

  async #withoutCall(
    card: Card,
    isOver: boolean,
    answer: Exclude<StopLook, { state: 'open' }>,
  ): Promise<Verdict> {
    switch (answer.state) {
      case 'other_iccid':
        await this.deps.reader.forget([card.cardId]);
        throw otherIccid(card);
      case 'not_over':
        await this.deps.reader.forget([card.cardId]);
        return { over: false, stopped: false };
      case 'done':
        return { over: isOver, stopped: false };
      case 'held':
      case 'observed':
        this.#noteHeld(card, answer);
        return { over: isOver, stopped: false, stop: answer.state };
      case 'claimed':
        throw stopInProgress(card);
      case 'unconfirmed':
        throw unconfirmedStop(card);
    }
  }

  /** One line when a stop begins to wait, and none while it waits. */
  #noteHeld(card: Card, claim: { state: 'held' | 'observed'; isNew: boolean; heldBy?: string }): void {
    if (!claim.isNew) return;
    const about = { card_id: card.cardId, iccid: card.iccid };
    if (claim.state === 'held') this.deps.log.warn({ ...about, held_by: claim.heldBy }, 'stop held');
    else this.deps.log.info(about, 'stop observed');
  }
}

/**
 * The rules of stops of this instance, for every claim of a stop: its settings, with shares of the fleet as numbers of
 * cards. The size of the fleet is asked once a minute.
 */
export class StopRulesWatch extends LoopService<
  LoopMeans & {
    readonly stops: StopSettings;
    readonly records: { readonly cards: Pick<CardRecords, 'estimate'> };
  }
> {
  readonly name = 'stop-rules-watch';
  /** Until the fleet is counted, the smallest limits apply. */
  #rules = stopRulesOf(this.deps.stops, 0);

  get rules(): StopRules {
    return this.#rules;
  }

  async runOnce(): Promise<number> {
    const { stops, records } = this.deps;
    this.#rules = stopRulesOf(stops, await records.cards.estimate());
    return COUNT_EVERY_MS;
  }
}
