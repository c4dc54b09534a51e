// Task package: a card that exceeds its package is stopped, exactly once a month (specification, section 1).
//
// The gateway is asked for the card's status first, always. If the card is over its allowance and runs, the right to
// stop it is claimed in the record store before the call and completed after it. Whoever dies in between leaves a
// claim that runs out; the next poll then has a status answer that is newer than the lost call (its own deadline is
// half a lease, the lost call ended at least half a lease ago), so it knows whether that call took effect: a card
// reported as stopped is only written down, any other is called for again.
import type { Card } from '../../domain/card.ts';
import { CARD_RESUMED, CARD_STOPPED } from '../../domain/log-phrases.ts';
import { type MonthCalendar, usedInMonth } from '../../domain/usage-month.ts';
import { type Gateway, GatewayError } from '../../gateway/gateway.ts';
import type { Clock } from '../../platform/clock.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import type { StopRecords, StopRequest } from '../../store/record-store.ts';
import type { Deadline } from '../deadline.ts';
import type { Task, TaskResult } from './task.ts';

export interface PackageTaskDeps {
  readonly gateway: Gateway;
  readonly stops: StopRecords;
  readonly clock: Clock;
  readonly calendar: MonthCalendar;
  readonly leaseMs: number;
  readonly log: Logger;
}

export class PackageTask implements Task {
  readonly taskType = 'package';

  constructor(private readonly deps: PackageTaskDeps) {}

  async poll(card: Card, deadline: Deadline): Promise<TaskResult> {
    const { gateway, clock, calendar } = this.deps;
    const { value } = await gateway.call('card_status', card, deadline.remainingMs());
    const reportedStopped = gateway.isStoppedStatus(String(value));
    const month = calendar.monthOf(clock.now());
    const usedMb = usedInMonth(card.usage, month);
    const { allowanceMb } = card;
    const over = allowanceMb !== null && usedMb > allowanceMb;
    const stopped = over
      ? await this.#stop(
          card,
          {
            cardId: card.cardId,
            iccid: card.iccid,
            month,
            usedMb,
            allowanceMb,
          },
          reportedStopped,
          deadline,
        )
      : reportedStopped;
    if (card.stopped && !stopped)
      this.deps.log.info({ card_id: card.cardId, iccid: card.iccid }, CARD_RESUMED);
    const polled = {
      cardId: card.cardId,
      taskType: this.taskType,
      polledAtMs: clock.now(),
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

  /** Sees to it that a card over its package is stopped. @returns false when somebody resumed it after this month's stop. */
  async #stop(card: Card, stop: StopRequest, reportedStopped: boolean, deadline: Deadline): Promise<boolean> {
    if (reportedStopped) {
      // Stopped by somebody else, or by a call of ours whose outcome was lost: write that down once.
      if (!card.stopped) await this.#record(stop);
      return true;
    }
    const claim = await this.deps.stops.claim(stop, this.deps.leaseMs);
    if (claim.state === 'done') return false;
    if (claim.state === 'held') {
      throw new CardpollError('busy', 'stop_in_progress', `another worker is stopping card ${stop.cardId}`);
    }
    await this.#requireTime(stop, deadline);
    await this.#callStop(card, stop, deadline);
    await this.#record(stop);
    return true;
  }

  async #record(stop: StopRequest): Promise<void> {
    const { cardId, iccid, month, usedMb, allowanceMb } = stop;
    await this.deps.stops.complete(cardId, month);
    this.deps.log.info(
      {
        card_id: cardId,
        iccid,
        usage_month: month,
        used_mb_month: usedMb,
        allowance_mb: allowanceMb,
      },
      CARD_STOPPED,
    );
  }

  /** After a pause (of this process or of the record store) the claim may be over and another worker at it. */
  async #requireTime(stop: StopRequest, deadline: Deadline): Promise<void> {
    if (deadline.remainingMs() > 0) return;
    await this.deps.stops.abandon(stop.cardId, stop.month, 'the lease was over before the call');
    throw new CardpollError('busy', 'lease_over', `no time is left to stop card ${stop.cardId}`);
  }

  async #callStop(card: Card, stop: StopRequest, deadline: Deadline): Promise<void> {
    try {
      await this.deps.gateway.call('stop', card, deadline.remainingMs());
    } catch (error) {
      // Only a refusal proves that nothing happened. After anything else the claim runs out and status is asked again.
      if (error instanceof GatewayError && error.isRefusal) {
        await this.deps.stops.abandon(stop.cardId, stop.month, error.message);
      }
      throw error;
    }
  }
}
