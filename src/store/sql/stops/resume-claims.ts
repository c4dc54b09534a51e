// The resumes of cards that wait in a run, from decision to effect. Part of the record store's resumes; the rules are in
// src/domain/orders. The number of the attempt is the fence.
import type { Changes } from '../../../domain/orders/card-orders.ts';
import { decideResume, type ResumeVerdict } from '../../../domain/orders/decide.ts';
import {
  resumeAbandoned,
  resumeAcknowledged,
  resumeDecided,
  runningShown,
} from '../../../domain/orders/resume-outcomes.ts';
import type { ResumeClaim, ResumeRecords } from '../../ports/records/resume-records.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { cardOrders } from '../orders/card-orders.ts';

export function resumeClaims(
  client: SqlClient,
): Pick<ResumeRecords, 'claim' | 'complete' | 'acknowledge' | 'abandon'> {
  const orders = cardOrders(client);
  return {
    async claim(card, isStopped, leaseMs) {
      const changed = await orders.change<ResumeClaim>({
        ...{ cardId: card.cardId, month: null, counts: false },
        decide(facts) {
          const decision = decideResume(facts, card, isStopped);
          const changes = resumeDecided(facts, decision, leaseMs);
          return [claimOf(decision, changes), changes];
        },
      });
      return changed?.answer ?? { state: 'none' };
    },

    async complete(card, runId, month) {
      const changed = await orders.change({
        ...{ cardId: card.cardId, month, counts: false },
        decide: (facts) => [null, runningShown(facts, card, runId)],
      });
      return changed?.entry ?? null;
    },

    async acknowledge(cardId, runId, attempt, pendingForMs = null) {
      const changed = await orders.change({
        ...{ cardId, month: null, counts: false },
        decide(facts) {
          const changes = resumeAcknowledged(facts, runId, attempt, pendingForMs);
          return [hasFailed(changes), changes];
        },
      });
      return changed?.answer ?? false;
    },

    async abandon(cardId, runId, attempt, error, isRefused) {
      const changed = await orders.change({
        ...{ cardId, month: null, counts: false },
        decide(facts) {
          const changes = resumeAbandoned(facts, { runId, attempt, error, isRefused });
          return [hasFailed(changes), changes];
        },
      });
      return changed?.answer ?? false;
    },
  };
}

function claimOf(decision: ResumeVerdict, { resumes }: Changes): ResumeClaim {
  if (decision.act === 'nothing') return { state: 'none' };
  const { runId } = decision.resume;
  if (decision.act === 'none') return { state: decision.why, runId };
  if (decision.act === 'wait') return { state: 'pending', runId };
  if (decision.act === 'give_up') return { state: 'failed', runId };
  const { unresolved = false, attempts: attempt = 0 } = resumes?.[0] ?? {};
  return { state: unresolved ? 'unresolved' : 'granted', runId, attempt };
}

function hasFailed(changes: Changes | null): boolean {
  return changes?.resumes?.[0]?.state === 'failed';
}
