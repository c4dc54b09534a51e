// Stops and resumes a card: the claimed call, and what the gateway shows of it. Used by package.ts, which has asked for the
// card's status before, and claims stops; resumes are claimed here.
//
// The right to call is claimed before the call. The stop or resume is done when the gateway shows its effect: an
// acknowledgement alone is not enough. A worker that dies in between leaves a claim that ends by itself. The next poll then has a
// status that is newer than the lost call (its own deadline is half a lease, the lost call ended at least half a lease ago), so it
// knows whether that call took effect: if it did, this is only recorded; if not, the call is made again. A call that was
// acknowledged without effect is repeated too, with growing pauses.
import type { Card, NamedCard } from '../../domain/cards/card.ts';
import {
  CARD_RESUMED,
  CARD_STOPPED,
  STOP_UNCONFIRMED,
  STOP_UNCONFIRMED_REASON,
} from '../../domain/log-phrases.ts';
import { GatewayError } from '../../gateway/gateway.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { AuditTrail } from '../../store/ports/records/audit-trail.ts';
import type { ResumeClaim, ResumeRecords } from '../../store/ports/records/resume-records.ts';
import type { StopClaim, StopRecords } from '../../store/ports/records/stop-records.ts';
import type { Deadline } from '../work/task.ts';
import type { FollowUpDeps, FollowUps, Means } from './follow-ups.ts';

export interface CardCallsDeps extends FollowUpDeps {
  readonly records: {
    readonly stops: Pick<StopRecords, 'claim' | 'complete' | 'acknowledge' | 'abandon'>;
    readonly resumes: Pick<ResumeRecords, 'claim' | 'complete' | 'acknowledge' | 'abandon'>;
  };
  readonly audit: Pick<AuditTrail, 'log'>;
  readonly leaseMs: number;
}

type GrantedStop = Extract<StopClaim, { attempt: number }>;

/** A call that its card was claimed for, and what the records are told of it. */
interface ClaimedCall {
  /** The outcome of an earlier call is not known. */
  readonly isUnresolved: boolean;
  /** The call certainly had no effect. */
  readonly abandon: (reason: string, isCardFault: boolean) => Promise<void>;
  /** The gateway acknowledged the call and does not show its effect. */
  readonly acknowledge: () => Promise<void>;
}

export class CardCalls {
  constructor(
    private readonly deps: CardCallsDeps,
    private readonly followUps: FollowUps,
  ) {}

  /**
   * Makes the call of a claimed stop and waits until the gateway shows its effect.
   * @throws CardpollError `stop_unconfirmed`; GatewayError.
   */
  async stop(card: Card, claim: GrantedStop, means: Means): Promise<void> {
    const { records, reader } = this.deps;
    const { cardId } = card;
    const { month, attempt } = claim;
    // The card was stopped when it was cached, and runs now: the claim has recorded that.
    if (card.stopped) await reader.forget([cardId]);
    await this.#call('stop', card, means, {
      isUnresolved: claim.state === 'unresolved',
      abandon: (reason, isCardFault) => records.stops.abandon(cardId, month, attempt, reason, isCardFault),
      acknowledge: () => this.#noteUnconfirmed(card, month, attempt),
    });
    await this.recordStop(card, month);
  }

  /** Records that the gateway shows the card stopped, if a stop of ours was in progress, or takes effect after its resume. */
  async recordStop(card: Card, month: string): Promise<void> {
    const entry = await this.deps.records.stops.complete(card, month);
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
   * @returns false when the card waits in no run; `waiting`: the call waits for the rate limits, after the poll.
   * @throws CardpollError `resume_in_progress`, `resume_unconfirmed`, `stop_in_progress`, `other_iccid`; GatewayError.
   */
  async resume(
    card: Card,
    month: string,
    isStopped: boolean,
    deadline: Deadline,
  ): Promise<boolean | 'waiting'> {
    const { records, leaseMs } = this.deps;
    const claim = () => records.resumes.claim(card, isStopped, leaseMs);
    const act = (claimed: ResumeClaim, means: Means | null) =>
      this.#resumeAsClaimed(card, month, claimed, means);
    if (!isStopped) return act(await claim(), null);
    return (await this.followUps.make({ name: 'start', card, deadline, claim, act })) ?? 'waiting';
  }

  /** @param means null: the card was shown running, and nothing is to be called. */
  async #resumeAsClaimed(
    card: Card,
    month: string,
    claim: ResumeClaim,
    means: Means | null,
  ): Promise<boolean> {
    const { resumes } = this.deps.records;
    const { cardId } = card;
    if (claim.state === 'none') return false;
    const { state, runId } = claim;
    switch (state) {
      case 'settling':
        return true;
      case 'running':
        await this.#recordResume(card, runId, month);
        return true;
      case 'stopping':
        throw stopInProgress(card);
      case 'claimed':
        throw new CardpollError('busy', 'resume_in_progress', `another worker is resuming card ${cardId}`);
      case 'unconfirmed':
        throw unconfirmedResume(card);
      case 'other_iccid':
        await this.deps.reader.forget([cardId]);
        throw otherIccid(card);
    }
    const { attempt } = claim;
    const noteFailed = (gaveUp: boolean) => {
      if (gaveUp) this.deps.log.warn({ ...namesOf(card), run_id: runId }, 'resume failed, no more attempts');
    };
    // Granted only for a card that is shown stopped.
    await this.#call('start', card, means as Means, {
      isUnresolved: state === 'unresolved',
      abandon: async (reason, isCardFault) =>
        noteFailed(await resumes.abandon(cardId, runId, attempt, reason, isCardFault)),
      acknowledge: async () => noteFailed(await resumes.acknowledge(cardId, runId, attempt)),
    });
    await this.#recordResume(card, runId, month);
    return true;
  }

  async #recordResume(card: Card, runId: string, month: string): Promise<void> {
    const entry = await this.deps.records.resumes.complete(card, runId, month);
    // Another poll has recorded it, or the card has another SIM by now.
    if (entry === null) return;
    this.deps.audit.log(entry);
    const { outcome } = entry.after as { outcome: string };
    // A card that was not known as stopped, and runs without a call, was not resumed now.
    if (card.stopped || outcome === 'resumed') {
      this.deps.log.info({ ...namesOf(card), run_id: runId }, CARD_RESUMED);
    }
  }

  async #call(name: 'stop' | 'start', card: Card, means: Means, claimed: ClaimedCall): Promise<void> {
    const { gateway } = this.deps;
    const hasEffect = async () => {
      const { pass, timeoutMs } = await means.gatherStatus();
      const { value } = await gateway.call('card_status', card, timeoutMs, pass);
      return gateway.isStoppedStatus(String(value)) === (name === 'stop');
    };
    if (claimed.isUnresolved && means.isLate) {
      means.pass.giveBack();
      if (await hasEffect()) return;
      const why = 'an earlier call had no effect';
      await claimed.abandon(why, false);
      throw new GatewayError('held', why);
    }
    const leftMs = means.deadline.remainingMs();
    try {
      if (leftMs <= 0) throw new GatewayError('held', 'the lease was over before the call');
      await gateway.call(name, card, leftMs, means.pass);
    } catch (error) {
      // Only a refusal proves that the call had no effect. After any other error the claim ends and the status is asked.
      if (error instanceof GatewayError && error.isRefusal)
        await claimed.abandon(error.message, error.isCardFault);
      throw error;
    }
    // Without an answer it is not known whether the call had an effect: as after a call that is lost, the claim ends by itself.
    if (await hasEffect()) return;
    await claimed.acknowledge();
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

/** The status that was asked is of a SIM that moved, or that the vendor knows by another id: the next poll reads the card again. */
export function otherIccid({ cardId, iccid }: NamedCard): CardpollError {
  return new CardpollError('busy', 'other_iccid', `card ${cardId} has another SIM than ${iccid} by now`);
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
