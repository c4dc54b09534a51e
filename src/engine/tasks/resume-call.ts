// Resumes a card that waits in a run of resumes: the call, and what the gateway shows of it. Used by package.ts, which has
// asked for the card's status before.
//
// It works as stop-call.ts does: a claim before the call, the status after it. A worker that dies in between leaves a claim
// that ends by itself, and the next poll sees whether the lost call took effect. If the card runs already, nothing is called.
import type { Card } from '../../domain/cards/card.ts';
import { CARD_RESUMED } from '../../domain/log-phrases.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import type { AuditTrail } from '../../store/ports/records/audit-trail.ts';
import type { FailedResume, ResumeRecords } from '../../store/ports/records/resume-records.ts';
import { type Deadline, followUpCall, makeClaimedCall } from '../work/task.ts';
import { stopInProgress } from './stop-call.ts';

export interface ResumeCallDeps {
  readonly gateway: Gateway;
  readonly resumes: Pick<ResumeRecords, 'claim' | 'complete' | 'acknowledge' | 'abandon'>;
  readonly audit: Pick<AuditTrail, 'log'>;
  readonly leaseMs: number;
  readonly log: Logger;
}

/** A resume that this worker may make now. */
interface ClaimedResume {
  readonly card: Card;
  readonly runId: string;
  readonly attempt: number;
}

export class ResumeCall {
  constructor(private readonly deps: ResumeCallDeps) {}

  /**
   * Has the card run if it waits in a run.
   * @param month YYYY-MM, of the audit entry. @param isStopped as the gateway shows the card.
   * @returns false when the card waits in no run.
   * @throws CardpollError `resume_in_progress`, `resume_unconfirmed`, `stop_in_progress`, `lease_over`; GatewayError.
   */
  async make(card: Card, month: string, isStopped: boolean, deadline: Deadline): Promise<boolean> {
    const claim = await this.deps.resumes.claim(card.cardId, this.deps.leaseMs);
    if (claim.state === 'none') return false;
    const { state, runId } = claim;
    if (state === 'stopping') throw stopInProgress(card);
    if (!isStopped) {
      // Without this claim, the call of another one may have done it: late, or with an answer that was lost.
      await this.#record(card, runId, month, state === 'claimed' || state === 'unconfirmed');
      return true;
    }
    if (state === 'claimed') {
      throw new CardpollError('busy', 'resume_in_progress', `another worker is resuming card ${card.cardId}`);
    }
    if (state === 'unconfirmed') throw unconfirmedResume(card);
    const resume = { card, runId, attempt: claim.attempt };
    await this.#requireTime(resume, deadline);
    const { gateway, resumes } = this.deps;
    const call = [card.cardId, runId, claim.attempt] as const;
    await makeClaimedCall(gateway, card, deadline, {
      send: () => followUpCall(gateway, 'start', card, deadline),
      stopsCard: false,
      abandon: async ({ message, isCardFault }) =>
        this.#noteFailed(resume, await resumes.abandon(...call, message, isCardFault)),
      acknowledge: async () => this.#noteFailed(resume, await resumes.acknowledge(...call)),
      unconfirmed: unconfirmedResume,
    });
    await this.#record(card, runId, month, true);
    return true;
  }

  async #record(card: Card, runId: string, month: string, called: boolean): Promise<void> {
    const entry = await this.deps.resumes.complete(card.cardId, runId, month, called);
    // Another poll has recorded it.
    if (entry === null) return;
    this.deps.audit.log(entry);
    const { outcome } = entry.after as { outcome: string };
    // A card that was not known as stopped, and runs without a call, was not resumed now.
    if (card.stopped || outcome === 'resumed') {
      this.deps.log.info({ card_id: card.cardId, iccid: card.iccid, run_id: runId }, CARD_RESUMED);
    }
  }

  /** After a pause of this process the claim may have ended, and another worker may hold it. */
  async #requireTime({ card, runId, attempt }: ClaimedResume, deadline: Deadline): Promise<void> {
    if (deadline.remainingMs() > 0) return;
    const why = 'the lease was over before the call';
    await this.deps.resumes.abandon(card.cardId, runId, attempt, why, false);
    throw new CardpollError('busy', 'lease_over', `card ${card.cardId} was not resumed: ${why}`);
  }

  #noteFailed({ card, runId }: ClaimedResume, failed: FailedResume | null): void {
    if (failed?.gaveUp !== true) return;
    this.deps.log.warn({ card_id: card.cardId, iccid: card.iccid, run_id: runId }, 'resume given up');
  }
}

function unconfirmedResume(card: Pick<Card, 'cardId'>): CardpollError {
  return new CardpollError(
    'busy',
    'resume_unconfirmed',
    `the gateway acknowledged the resume of card ${card.cardId} and shows it stopped`,
    { hint: 'The call is repeated with growing pauses, five times at most; ask the owner of the gateway.' },
  );
}
