// Task package: stops a card that exceeds its package, exactly once a month (operations interface, section 1).
//
// The task always asks the gateway for the card's status first. If the card runs, the claim of the stop decides from
// the records of that moment whether it is over its package; the cached card only says whether to ask. The right to
// stop the card is claimed before the call. The stop is done when the gateway shows the card stopped: an
// acknowledgement alone is not enough. A worker that dies in between leaves a claim that ends by itself. The next poll
// then has a status that is newer than the lost call (its own deadline is half a lease, the lost call ended at least
// half a lease ago), so it knows whether that call took effect: if the card is stopped, this is only recorded; if not,
// the call is made again. A call that was acknowledged without effect is repeated too, with growing pauses.
import type { Card } from '../../domain/cards/card.ts';
import { type MonthCalendar, usedInMonth } from '../../domain/cards/usage-month.ts';
import {
  CARD_RESUMED,
  CARD_STOPPED,
  STOP_UNCONFIRMED,
  STOP_UNCONFIRMED_REASON,
} from '../../domain/log-phrases.ts';
import { type Gateway, GatewayError } from '../../gateway/gateway.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import type { AuditTrail } from '../../store/ports/records/audit-trail.ts';
import type { StopRecords } from '../../store/ports/records/stop-records.ts';
import type { CardReader } from '../work/card-reader.ts';
import type { Deadline } from '../work/deadline.ts';
import type { Task, TaskResult } from '../work/task.ts';

export interface PackageTaskDeps {
  readonly gateway: Gateway;
  readonly stops: Pick<StopRecords, 'claim' | 'complete' | 'acknowledge' | 'abandon'>;
  readonly audit: Pick<AuditTrail, 'log'>;
  readonly reader: Pick<CardReader, 'forget'>;
  readonly calendar: MonthCalendar;
  readonly leaseMs: number;
  readonly log: Logger;
}

/** A card that must be stopped, and why. */
interface Excess {
  readonly card: Card;
  readonly month: string;
  readonly usedMb: number;
  readonly allowanceMb: number;
}

/** An excess whose card this worker may stop now. */
interface ClaimedExcess extends Excess {
  readonly attempt: number;
}

interface Verdict {
  readonly over: boolean;
  readonly stopped: boolean;
}

export class PackageTask implements Task {
  readonly taskType = 'package';

  constructor(private readonly deps: PackageTaskDeps) {}

  async poll(card: Card, deadline: Deadline): Promise<TaskResult> {
    const reportedStopped = await this.#reportsStopped(card, deadline);
    const month = this.deps.calendar.monthOf(deadline.nowMs());
    const usedMb = usedInMonth(card.usage, month);
    const { allowanceMb } = card;
    const { over, stopped } =
      allowanceMb !== null && usedMb > allowanceMb
        ? await this.#keepStopped({ card, month, usedMb, allowanceMb }, reportedStopped, deadline)
        : { over: false, stopped: reportedStopped };
    if (card.stopped && !stopped)
      this.deps.log.info({ card_id: card.cardId, iccid: card.iccid }, CARD_RESUMED);
    const polled = {
      cardId: card.cardId,
      taskType: this.taskType,
      polledAtMs: deadline.nowMs(),
    } as const;
    const changed = stopped !== card.stopped;
    return {
      outcome: changed ? { ...polled, stopped } : polled,
      fields: {
        used_mb_month: usedMb,
        allowance_mb: allowanceMb,
        over_package: over,
        stopped,
      },
    };
  }

  /** Stops a card that is over its package, unless it was resumed after this month's stop. */
  async #keepStopped(excess: Excess, reportedStopped: boolean, deadline: Deadline): Promise<Verdict> {
    const { card, month } = excess;
    if (reportedStopped) {
      // Stopped by another system, or by a call of ours whose outcome was lost or late: record that once.
      if (!card.stopped) await this.#record(excess);
      return { over: true, stopped: true };
    }
    // The gateway's answer may be wrong; the next reading confirms or disproves it.
    if (card.usage !== null && card.usage.suspectedMb !== null) return { over: true, stopped: false };
    const claim = await this.deps.stops.claim(card.cardId, month, this.deps.leaseMs);
    switch (claim.state) {
      case 'not_over':
        await this.deps.reader.forget([card.cardId]);
        return { over: false, stopped: false };
      case 'done':
        return { over: true, stopped: false };
      case 'held':
        throw new CardpollError('busy', 'stop_in_progress', `another worker is stopping card ${card.cardId}`);
      case 'unconfirmed':
        throw unconfirmed(card);
      default: {
        const { attempt, usedMb, allowanceMb } = claim;
        await this.#stop({ card, month, attempt, usedMb, allowanceMb }, deadline);
        return { over: true, stopped: true };
      }
    }
  }

  /** Makes the claimed call and waits until the gateway shows its effect. @throws CardpollError `stop_unconfirmed` */
  async #stop(excess: ClaimedExcess, deadline: Deadline): Promise<void> {
    const { card } = excess;
    // The card was stopped when it was cached, and runs now: the claim has recorded that.
    if (card.stopped) await this.deps.reader.forget([card.cardId]);
    await this.#requireTime(excess, deadline);
    await this.#callStop(excess, deadline);
    if (await this.#showsEffect(excess, deadline)) return this.#record(excess);
    await this.#noteUnconfirmed(excess);
    throw unconfirmed(card);
  }

  async #reportsStopped(card: Card, deadline: Deadline): Promise<boolean> {
    const { gateway } = this.deps;
    const { value } = await gateway.call('card_status', card, deadline.remainingMs());
    return gateway.isStoppedStatus(String(value));
  }

  async #record({ card, month, usedMb, allowanceMb }: Excess): Promise<void> {
    const entry = await this.deps.stops.complete(card.cardId, month);
    // No stop of ours was in progress: another system stopped the card, or another poll has recorded this stop.
    if (entry === null) return;
    this.deps.audit.log(entry);
    this.deps.log.info(
      {
        card_id: card.cardId,
        iccid: card.iccid,
        usage_month: month,
        used_mb_month: usedMb,
        allowance_mb: allowanceMb,
      },
      CARD_STOPPED,
    );
  }

  /** After a pause (of this process or of the record store) the claim may have ended and another worker may hold it. */
  async #requireTime({ card, month, attempt }: ClaimedExcess, deadline: Deadline): Promise<void> {
    if (deadline.remainingMs() > 0) return;
    await this.deps.stops.abandon(card.cardId, month, attempt, 'the lease was over before the call');
    throw new CardpollError('busy', 'lease_over', `no time is left to stop card ${card.cardId}`);
  }

  async #callStop({ card, month, attempt }: ClaimedExcess, deadline: Deadline): Promise<void> {
    try {
      await this.deps.gateway.call('stop', card, deadline.remainingMs());
    } catch (error) {
      // Only a refusal proves that the call had no effect. After any other error the claim ends and the status is
      // asked.
      if (error instanceof GatewayError && error.isRefusal) {
        await this.deps.stops.abandon(card.cardId, month, attempt, error.message);
      }
      throw error;
    }
  }

  /**
   * @returns whether the gateway shows the effect of the call. Without an answer, notes it as unconfirmed and throws.
   */
  async #showsEffect(excess: ClaimedExcess, deadline: Deadline): Promise<boolean> {
    try {
      return await this.#reportsStopped(excess.card, deadline);
    } catch (error) {
      await this.#noteUnconfirmed(excess);
      throw error;
    }
  }

  async #noteUnconfirmed({ card, month, attempt }: ClaimedExcess): Promise<void> {
    const noted = await this.deps.stops.acknowledge(card.cardId, month, attempt);
    if (noted === null) return;
    this.deps.log.warn(
      {
        card_id: card.cardId,
        iccid: card.iccid,
        usage_month: month,
        attempts: noted.calls,
        retry_in_ms: noted.retryInMs,
        reason: STOP_UNCONFIRMED_REASON,
      },
      STOP_UNCONFIRMED,
    );
  }
}

function unconfirmed(card: Card): CardpollError {
  return new CardpollError(
    'busy',
    'stop_unconfirmed',
    `the gateway acknowledged the stop of card ${card.cardId} and shows it running`,
    { hint: 'The call is repeated with growing pauses; ask the owner of the gateway.' },
  );
}
