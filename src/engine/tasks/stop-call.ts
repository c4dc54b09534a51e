// Makes a claimed stop: the call, and what the gateway shows of it. Used by package.ts.
//
// The right to stop the card is claimed before the call. The stop is done when the gateway shows the card stopped: an
// acknowledgement alone is not enough. A worker that dies in between leaves a claim that ends by itself. The next poll
// then has a status that is newer than the lost call (its own deadline is half a lease, the lost call ended at least
// half a lease ago), so it knows whether that call took effect: if the card is stopped, this is only recorded; if not,
// the call is made again. A call that was acknowledged without effect is repeated too, with growing pauses.
import type { Card } from '../../domain/cards/card.ts';
import { CARD_STOPPED, STOP_UNCONFIRMED, STOP_UNCONFIRMED_REASON } from '../../domain/log-phrases.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import type { AuditTrail } from '../../store/ports/records/audit-trail.ts';
import type { StopRecords } from '../../store/ports/records/stop-records.ts';
import type { CardReader } from '../work/card-reader.ts';
import { type Deadline, makeClaimedCall } from '../work/task.ts';

/**
 * A claim is judged by the mode of its moment. The call is made within this time or not at all, so that mode observe is in
 * force on every instance a second after it was set, also on one that was paused.
 */
const CLAIM_GOOD_FOR_MS = 1_000;

export interface StopCallDeps {
  readonly gateway: Gateway;
  readonly stops: Pick<StopRecords, 'complete' | 'acknowledge' | 'abandon'>;
  readonly audit: Pick<AuditTrail, 'log'>;
  readonly reader: Pick<CardReader, 'forget'>;
  readonly log: Logger;
}

/** A stop that this worker may make now. */
interface ClaimedStop {
  readonly card: Card;
  readonly month: string;
  readonly attempt: number;
}

export class StopCall {
  constructor(private readonly deps: StopCallDeps) {}

  /**
   * Makes the claimed call and waits until the gateway shows its effect.
   * @param leftMs `deadline.remainingMs()` from before the claim was sent.
   * @throws CardpollError `stop_unconfirmed`, `lease_over`, `claim_too_old`; GatewayError.
   */
  async make(stop: ClaimedStop, leftMs: number, deadline: Deadline): Promise<void> {
    const { gateway, stops, reader } = this.deps;
    const { card, month, attempt } = stop;
    // The card was stopped when it was cached, and runs now: the claim has recorded that.
    if (card.stopped) await reader.forget([card.cardId]);
    await this.#requireTime(stop, leftMs, deadline);
    const startWithinMs = CLAIM_GOOD_FOR_MS - (leftMs - deadline.remainingMs());
    await makeClaimedCall(gateway, card, deadline, {
      send: () => gateway.call('stop', card, deadline.remainingMs(), startWithinMs),
      stopsCard: true,
      abandon: ({ message }) => stops.abandon(card.cardId, month, attempt, message),
      acknowledge: () => this.#noteUnconfirmed(stop),
      unconfirmed: unconfirmedStop,
    });
    await this.record(card, month);
  }

  /** Records that the gateway shows the card stopped, if a stop of ours was in progress. */
  async record(card: Card, month: string): Promise<void> {
    const entry = await this.deps.stops.complete(card.cardId, month);
    // No stop of ours was in progress: another system stopped the card, or another poll has recorded this stop.
    if (entry === null) return;
    this.deps.audit.log(entry);
    const { used_mb, allowance_mb } = entry.after as { used_mb: number; allowance_mb: number | null };
    this.deps.log.info(
      {
        card_id: card.cardId,
        iccid: card.iccid,
        usage_month: month,
        used_mb_month: used_mb,
        allowance_mb,
      },
      CARD_STOPPED,
    );
  }

  /** After a pause (of this process or of the record store) the claim may have ended and another worker may hold it. */
  async #requireTime(
    { card, month, attempt }: ClaimedStop,
    leftMs: number,
    deadline: Deadline,
  ): Promise<void> {
    const isOver = deadline.remainingMs() <= 0;
    if (!isOver && leftMs - deadline.remainingMs() <= CLAIM_GOOD_FOR_MS) return;
    const why = isOver ? 'the lease was over before the call' : 'the claim took longer than a second';
    await this.deps.stops.abandon(card.cardId, month, attempt, why);
    throw new CardpollError(
      'busy',
      isOver ? 'lease_over' : 'claim_too_old',
      `card ${card.cardId} was not stopped: ${why}`,
    );
  }

  async #noteUnconfirmed({ card, month, attempt }: ClaimedStop): Promise<void> {
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

export function stopInProgress(card: Pick<Card, 'cardId'>): CardpollError {
  return new CardpollError('busy', 'stop_in_progress', `another call for card ${card.cardId} is under way`);
}

export function unconfirmedStop(card: Pick<Card, 'cardId'>): CardpollError {
  return new CardpollError(
    'busy',
    'stop_unconfirmed',
    `the gateway acknowledged the stop of card ${card.cardId} and shows it running`,
    { hint: 'The call is repeated with growing pauses; ask the owner of the gateway.' },
  );
}
