// Stops and resumes a card: the claimed call, and what the gateway shows of it. Used by package.ts, which has asked for the
// card's status before, and claims stops; resumes are claimed here.
//
// The right to call is claimed before the call. The stop or resume is done when the gateway shows its effect: an
// acknowledgement alone is not enough. A worker that dies in between leaves a claim that ends by itself. The next poll then has a
// status that is newer than the lost call (its own deadline is half a lease, the lost call ended at least half a lease ago), so it
// knows whether that call took effect: if it did, this is only recorded; if not, the call is made again. A call that was
// acknowledged without effect is repeated too, with growing pauses.
import type { Card } from '../../domain/cards/card.ts';
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
import type { ResumeRecords } from '../../store/ports/records/resume-records.ts';
import type { StopRecords } from '../../store/ports/records/stop-records.ts';
import type { CardReader } from '../work/card-reader.ts';
import type { Deadline } from '../work/task.ts';

/**
 * A claim is judged by the mode of its moment. The call is made within this time or not at all, so that mode observe is in
 * force on every instance a second after it was set, also on one that was paused.
 */
const CLAIM_GOOD_FOR_MS = 1_000;
/** A call that follows from a poll draws from the rate limits by itself; half of the time that is left is for the call. */
const SHARE_FOR_PACE = 0.5;

export interface CardCallsDeps {
  readonly gateway: Gateway;
  readonly records: {
    readonly stops: Pick<StopRecords, 'claim' | 'complete' | 'acknowledge' | 'abandon'>;
    readonly resumes: Pick<ResumeRecords, 'claim' | 'complete' | 'acknowledge' | 'abandon'>;
  };
  readonly audit: Pick<AuditTrail, 'log'>;
  readonly reader: Pick<CardReader, 'forget'>;
  readonly leaseMs: number;
  readonly log: Logger;
}

/** A call that its card was claimed for, and what the records are told of it. */
interface ClaimedCall {
  /** Milliseconds; negative: the claim is too old. */
  readonly startWithinMs: number;
  /** The call certainly had no effect. */
  readonly abandon: (reason: string, isCardFault: boolean) => Promise<void>;
  /** The gateway acknowledged the call and does not show its effect. */
  readonly acknowledge: () => Promise<void>;
}

export class CardCalls {
  constructor(private readonly deps: CardCallsDeps) {}

  /**
   * Makes the call of a claimed stop and waits until the gateway shows its effect.
   * @param leftMs `deadline.remainingMs()` from before the claim was sent.
   * @throws CardpollError `stop_unconfirmed`, `lease_over`, `claim_too_old`; GatewayError.
   */
  async stop(card: Card, month: string, attempt: number, leftMs: number, deadline: Deadline): Promise<void> {
    const { records, reader } = this.deps;
    const { cardId } = card;
    // The card was stopped when it was cached, and runs now: the claim has recorded that.
    if (card.stopped) await reader.forget([cardId]);
    await this.#call('stop', card, deadline, {
      startWithinMs: CLAIM_GOOD_FOR_MS - (leftMs - deadline.remainingMs()),
      abandon: (reason, isCardFault) => records.stops.abandon(cardId, month, attempt, reason, isCardFault),
      acknowledge: () => this.#noteUnconfirmed(card, month, attempt),
    });
    await this.recordStop(card, month);
  }

  /** Records that the gateway shows the card stopped, if a stop of ours was in progress. */
  async recordStop(card: Card, month: string): Promise<void> {
    const entry = await this.deps.records.stops.complete(card.cardId, month);
    // No stop of ours was in progress: another system stopped the card, or another poll has recorded this stop.
    if (entry === null) return;
    this.deps.audit.log(entry);
    const { used_mb, allowance_mb } = entry.after as { used_mb: number; allowance_mb: number | null };
    const fields = { usage_month: month, used_mb_month: used_mb, allowance_mb };
    this.deps.log.info({ ...namesOf(card), ...fields }, CARD_STOPPED);
  }

  /**
   * Has the card run if it waits in a run. If it runs already, nothing is called.
   * @param month YYYY-MM, of the audit entry. @param isStopped as the gateway shows the card.
   * @returns false when the card waits in no run.
   * @throws CardpollError `resume_in_progress`, `resume_unconfirmed`, `stop_in_progress`, `lease_over`; GatewayError.
   */
  async resume(card: Card, month: string, isStopped: boolean, deadline: Deadline): Promise<boolean> {
    const { leaseMs } = this.deps;
    const { resumes } = this.deps.records;
    const { cardId } = card;
    const claim = await resumes.claim(cardId, leaseMs);
    if (claim.state === 'none') return false;
    const { state, runId } = claim;
    if (state === 'stopping') throw stopInProgress(card);
    if (!isStopped) {
      // Without this claim, the call of another one may have done it: late, or with an answer that was lost.
      await this.#recordResume(card, runId, month, state === 'claimed' || state === 'unconfirmed');
      return true;
    }
    if (state === 'claimed') {
      throw new CardpollError('busy', 'resume_in_progress', `another worker is resuming card ${cardId}`);
    }
    if (state === 'unconfirmed') throw unconfirmedResume(card);
    const { attempt } = claim;
    const noteFailed = (gaveUp: boolean) => {
      if (gaveUp) this.deps.log.warn({ ...namesOf(card), run_id: runId }, 'resume given up');
    };
    await this.#call('start', card, deadline, {
      startWithinMs: SHARE_FOR_PACE * deadline.remainingMs(),
      abandon: async (reason, isCardFault) =>
        noteFailed(await resumes.abandon(cardId, runId, attempt, reason, isCardFault)),
      acknowledge: async () => noteFailed(await resumes.acknowledge(cardId, runId, attempt)),
    });
    await this.#recordResume(card, runId, month, true);
    return true;
  }

  async #recordResume(card: Card, runId: string, month: string, called: boolean): Promise<void> {
    const entry = await this.deps.records.resumes.complete(card.cardId, runId, month, called);
    // Another poll has recorded it.
    if (entry === null) return;
    this.deps.audit.log(entry);
    const { outcome } = entry.after as { outcome: string };
    // A card that was not known as stopped, and runs without a call, was not resumed now.
    if (card.stopped || outcome === 'resumed') {
      this.deps.log.info({ ...namesOf(card), run_id: runId }, CARD_RESUMED);
    }
  }

  async #call(name: 'stop' | 'start', card: Card, deadline: Deadline, claimed: ClaimedCall): Promise<void> {
    const { gateway } = this.deps;
    const { startWithinMs, abandon, acknowledge } = claimed;
    const leftMs = deadline.remainingMs();
    // After a pause (of this process or of the record store) the claim may have ended and another worker may hold it.
    if (leftMs <= 0 || startWithinMs < 0) {
      const isOver = leftMs <= 0;
      const why = isOver ? 'the lease was over before the call' : 'the claim took longer than a second';
      await abandon(why, false);
      throw new CardpollError(
        'busy',
        isOver ? 'lease_over' : 'claim_too_old',
        `card ${card.cardId} was not ${name === 'stop' ? 'stopped' : 'resumed'}: ${why}`,
      );
    }
    try {
      await gateway.call(name, card, leftMs, startWithinMs);
    } catch (error) {
      // Only a refusal proves that the call had no effect. After any other error the claim ends and the status is asked.
      if (error instanceof GatewayError && error.isRefusal) await abandon(error.message, error.isCardFault);
      throw error;
    }
    // Without an answer it is not known whether the call had an effect: as after a call that is lost, the claim ends by itself.
    const askInMs = deadline.remainingMs();
    const { value } = await gateway.call('card_status', card, askInMs, SHARE_FOR_PACE * askInMs);
    if (gateway.isStoppedStatus(String(value)) === (name === 'stop')) return;
    await acknowledge();
    throw name === 'stop' ? unconfirmedStop(card) : unconfirmedResume(card);
  }

  async #noteUnconfirmed(card: Card, month: string, attempt: number): Promise<void> {
    const noted = await this.deps.records.stops.acknowledge(card.cardId, month, attempt);
    if (noted === null) return;
    this.deps.log.warn(
      {
        ...namesOf(card),
        usage_month: month,
        attempts: noted.calls,
        retry_in_ms: noted.retryInMs,
        reason: STOP_UNCONFIRMED_REASON,
      },
      STOP_UNCONFIRMED,
    );
  }
}

function namesOf({ cardId, iccid }: Card) {
  return { card_id: cardId, iccid };
}

export function stopInProgress({ cardId }: Card): CardpollError {
  return new CardpollError(
    'busy',
    'stop_in_progress',
    `a call for card ${cardId} is under way, or its outcome is not known yet`,
  );
}

export function unconfirmedStop({ cardId }: Card): CardpollError {
  return new CardpollError(
    'busy',
    'stop_unconfirmed',
    `the gateway acknowledged the stop of card ${cardId} and shows it running`,
    { hint: 'The call is repeated with growing pauses; ask the owner of the gateway.' },
  );
}

function unconfirmedResume({ cardId }: Card): CardpollError {
  return new CardpollError(
    'busy',
    'resume_unconfirmed',
    `the gateway acknowledged the resume of card ${cardId} and shows it stopped`,
    { hint: 'The call is repeated with growing pauses, five times at most; ask the owner of the gateway.' },
  );
}
