// Carries out one order: asks the gateway for the card's status, claims the call that follows, makes it, and waits until the
// gateway shows its effect. Used by order-worker.ts, which takes orders. src/domain/orders decides which calls are allowed.
//
// The claim comes after everything the call has to wait for and right before the call, so a claim is never older than its call. A
// stop or resume is done when the gateway shows its effect; an acknowledgement alone is not enough. When a worker dies in
// between, its claim expires; the order is then taken again, and its status is newer than the lost call (whose deadline was half
// a lease). If that call took effect, only the record is written; if not, the call is made again. A call that was acknowledged
// without effect is also repeated, with growing pauses. While the vendor reports work on a call, no call is made, and the status
// is requested at growing intervals.
import pLimit from 'p-limit';
import type { MonthCalendar } from '../../domain/cards/month-calendar.ts';
import type { InterfaceName } from '../../domain/gateway-interface.ts';
import { CARD_RESUMED, STOP_UNCONFIRMED, STOP_UNCONFIRMED_REASON } from '../../domain/log-phrases.ts';
import type { StopRules } from '../../domain/stops/stop.ts';
import { type Gateway, type GatewayAnswer, GatewayError, type Pass } from '../../gateway/gateway.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { AuditTrail } from '../../store/ports/records/audit-trail.ts';
import type { Order } from '../../store/ports/records/order-records.ts';
import type { ResumeRecords } from '../../store/ports/records/resume-records.ts';
import type { StopRecords, UnconfirmedStop } from '../../store/ports/records/stop-records.ts';
import { recordStop } from '../tasks/package.ts';
import type { CardReader } from '../work/card-reader.ts';
import { logWaiting } from './wanted-stops.ts';

export interface OrderCallsDeps {
  readonly gateway: Pick<Gateway, 'call' | 'isStoppedStatus'>;
  readonly records: {
    readonly stops: Pick<StopRecords, 'claim' | 'complete' | 'acknowledge' | 'abandon'>;
    readonly resumes: Pick<ResumeRecords, 'claim' | 'complete' | 'acknowledge' | 'abandon'>;
  };
  readonly reader: Pick<CardReader, 'forget'>;
  readonly audit: Pick<AuditTrail, 'log'>;
  readonly calendar: MonthCalendar;
  readonly stopRules: () => StopRules;
  /** Now, epoch milliseconds, by the fleet's clock. */
  readonly fleetNow: () => number;
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Gathers everything a call needs: a grant of the rate limits, a connection, the permit of flow control, a slot under the limit.
 */
export type Gather = (interfaceName: InterfaceName) => Promise<Pass>;

/** Maximum age of a status: an older one may not show a call of unknown outcome. */
const STATUS_GOOD_FOR_MS = 1_000;

/** A call whose card is claimed, and how its outcome is recorded. */
interface ClaimedCall {
  readonly name: 'stop' | 'start';
  /** An earlier call has an unknown outcome, and the status may not show it. */
  readonly asksFirst: boolean;
  /** Time just before the claim, by the monotonic clock. */
  readonly claimedAt: number;
  /** Records that the call certainly had no effect. */
  readonly abandon: (reason: string, isCardFault: boolean) => Promise<void>;
  /**
   * Records that the gateway acknowledged the call and does not show its effect yet. @param pendingForMs null: it does not report
   * work on it
   */
  readonly acknowledge: (pendingForMs: number | null) => Promise<void>;
}

/** The card's status at the gateway. */
interface Shown {
  readonly isStopped: boolean;
  /** How long the vendor's work on the card takes, during which it is neither stopped nor running; null: no work in progress. */
  readonly pendingForMs: number | null;
}

export class OrderCalls {
  /**
   * Claims of stops take turns in the database, fleet-wide. Only one of this instance waits there at a time: the others hold no
   * connection meanwhile, and their passes do not age.
   */
  readonly #claims = pLimit(1);

  constructor(private readonly deps: OrderCallsDeps) {}

  /** @throws GatewayError when a call failed: the order is due again later. */
  async carryOut(order: Order, gather: Gather): Promise<void> {
    const { calendar, fleetNow, reader } = this.deps;
    const shown = await this.#shown(order, gather);
    const { isStopped } = shown;
    const month = calendar.monthOf(fleetNow());
    try {
      // May be the effect of our own call whose outcome was lost or late. Recorded before the card is resumed, because a resume
      // ends a stop that is done.
      if (isStopped) await recordStop(this.deps, order, month);
      if (order.kind === 'resume') await this.#resume(order, month, shown, gather);
      else if (!isStopped) await this.#stop(order, month, shown, gather);
    } finally {
      await reader.forget([order.cardId]);
    }
  }

  async #stop(order: Order, month: string, shown: Shown, gather: Gather): Promise<void> {
    const { records, clock } = this.deps;
    const { cardId } = order;
    const shownAt = clock.monotonic();
    const { pass, claimedAt, claim } = await this.#claims(() => this.#claimStop(order, month, shown, gather));
    try {
      if (!('attempt' in claim)) return logWaiting(this.deps.log, { ...order, ...claim });
      const { attempt, state, overdueCalls } = claim;
      if (overdueCalls !== undefined)
        this.#logUnconfirmed(order, claim.month, { calls: overdueCalls, retryInMs: 0 });
      const isDone = await this.#call(order, pass, gather, {
        name: 'stop',
        asksFirst: state === 'unresolved' && this.#isOld(shownAt),
        claimedAt,
        abandon: (reason, isCardFault) =>
          records.stops.abandon(cardId, claim.month, attempt, reason, isCardFault),
        acknowledge: (pendingForMs) => this.#noteAcknowledged(order, claim.month, attempt, pendingForMs),
      });
      if (isDone) await recordStop(this.deps, order, claim.month);
    } finally {
      pass.giveBack();
    }
  }

  async #claimStop(order: Order, month: string, { pendingForMs }: Shown, gather: Gather) {
    const { records, leaseMs, stopRules, clock } = this.deps;
    const pass = await gather('stop');
    try {
      const claimedAt = clock.monotonic();
      const asked = { ...order, pendingForMs };
      return { pass, claimedAt, claim: await records.stops.claim(asked, month, leaseMs, stopRules()) };
    } catch (error) {
      pass.giveBack();
      throw error;
    }
  }

  async #resume(order: Order, month: string, shown: Shown, gather: Gather): Promise<void> {
    const { records, leaseMs, clock, log } = this.deps;
    const { cardId } = order;
    const shownAt = clock.monotonic();
    const { isStopped, pendingForMs } = shown;
    const pass = isStopped || pendingForMs !== null ? await gather('start') : null;
    try {
      const claimedAt = clock.monotonic();
      const claim = await records.resumes.claim({ ...order, pendingForMs }, isStopped, leaseMs);
      if (claim.state === 'none') return;
      const { runId } = claim;
      const noteFailed = (gaveUp: boolean) => {
        if (gaveUp) log.warn({ ...namesOf(order), run_id: runId }, 'resume failed, no more attempts');
      };
      if (claim.state === 'running') return await this.#recordResume(order, runId, month);
      if (claim.state === 'failed') return noteFailed(true);
      if (pass === null || !('attempt' in claim)) return;
      const { attempt, state } = claim;
      const isDone = await this.#call(order, pass, gather, {
        name: 'start',
        asksFirst: state === 'unresolved' && this.#isOld(shownAt),
        claimedAt,
        abandon: async (reason, isCardFault) =>
          noteFailed(await records.resumes.abandon(cardId, runId, attempt, reason, isCardFault)),
        acknowledge: async (forMs) => {
          if (forMs !== null) this.#logUnderWay(order, forMs);
          noteFailed(await records.resumes.acknowledge(cardId, runId, attempt, forMs));
        },
      });
      if (isDone) await this.#recordResume(order, runId, month);
    } finally {
      pass?.giveBack();
    }
  }

  /** @returns whether the gateway shows the effect. @throws GatewayError */
  async #call(order: Order, pass: Pass, gather: Gather, claimed: ClaimedCall): Promise<boolean> {
    const { gateway, clock } = this.deps;
    const { name, asksFirst, claimedAt, abandon, acknowledge } = claimed;
    const hasEffect = ({ isStopped, pendingForMs }: Shown) =>
      pendingForMs === null && isStopped === (name === 'stop');
    if (asksFirst) {
      pass.giveBack();
      const shown = await this.#shown(order, gather);
      if (hasEffect(shown)) return true;
      // The vendor is working on that call.
      if (shown.pendingForMs !== null) await acknowledge(shown.pendingForMs);
      else await abandon('an earlier call had no effect', false);
      return false;
    }
    let answered: GatewayAnswer;
    try {
      const leftMs = this.#callMs - (clock.monotonic() - claimedAt);
      if (leftMs <= 0) throw new GatewayError('held', 'the lease was over before the call');
      answered = await gateway.call(name, order, leftMs, pass);
    } catch (error) {
      // Only a refusal proves that the call had no effect. After any other error the claim ends and the status is asked.
      if (error instanceof GatewayError && error.isRefusal) await abandon(error.message, error.isCardFault);
      throw error;
    }
    // Without an answer it is not known whether the call had an effect: as after a call that is lost, the claim ends by itself.
    const shown = await this.#shown(order, gather);
    if (hasEffect(shown)) return true;
    await acknowledge(answered.pendingForMs ?? shown.pendingForMs);
    return false;
  }

  async #shown(order: Order, gather: Gather): Promise<Shown> {
    const { gateway } = this.deps;
    const pass = await gather('card_status');
    const { value, pendingForMs = null } = await gateway.call('card_status', order, this.#callMs, pass);
    return { isStopped: pendingForMs === null && gateway.isStoppedStatus(String(value)), pendingForMs };
  }

  async #recordResume(order: Order, runId: string, month: string): Promise<void> {
    const entry = await this.deps.records.resumes.complete(order, runId, month);
    // Another caller has recorded it, or the card has a new SIM by now.
    if (entry === null) return;
    this.deps.audit.log(entry);
    // The card was not known as stopped and runs without a call, so nothing was resumed now.
    const { stopped } = entry.before as { stopped: boolean };
    if (stopped) this.deps.log.info({ ...namesOf(order), run_id: runId }, CARD_RESUMED);
  }

  async #noteAcknowledged(
    order: Order,
    month: string,
    attempt: number,
    pendingForMs: number | null,
  ): Promise<void> {
    const noted = await this.deps.records.stops.acknowledge(order.cardId, month, attempt, pendingForMs);
    if (noted === null) return;
    if (pendingForMs === null) this.#logUnconfirmed(order, month, noted);
    else this.#logUnderWay(order, pendingForMs);
  }

  #logUnconfirmed(order: Order, month: string, { calls, retryInMs }: UnconfirmedStop): void {
    this.deps.log.warn(
      {
        ...namesOf(order),
        usage_month: month,
        attempts: calls,
        retry_in_ms: retryInMs,
        reason: STOP_UNCONFIRMED_REASON,
      },
      STOP_UNCONFIRMED,
    );
  }

  #logUnderWay(order: Order, forMs: number): void {
    this.deps.log.info({ ...namesOf(order), order: order.kind, at_most_ms: forMs }, 'order under way');
  }

  #isOld(shownAt: number): boolean {
    return this.deps.clock.monotonic() - shownAt > STATUS_GOOD_FOR_MS;
  }

  /** Every call ends this soon after its claim, so the next claim of the card sees its effect. */
  get #callMs(): number {
    return this.deps.leaseMs / 2;
  }
}

function namesOf({ cardId, iccid }: Order) {
  return { card_id: cardId, iccid };
}
