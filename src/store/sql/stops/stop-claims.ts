// The stops of cards over their package, from decision to effect. Part of the record store's stops; the rules are in
// src/domain/orders.
//
// The number of the attempt is the fence: a caller that was frozen past its lease cannot end the claim of another caller.
import type { StopOrder } from '../../../domain/orders/card-orders.ts';
import { decideStop, runsOver, type StopVerdict } from '../../../domain/orders/decide.ts';
import {
  stopAbandoned,
  stopAcknowledged,
  stopDecided,
  stopShown,
} from '../../../domain/orders/stop-outcomes.ts';
import type { HoldReason } from '../../../domain/stops/stop.ts';
import type { StopClaim, StopRecords } from '../../ports/records/stop-records.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { cardOrders, factsOf } from '../orders/card-orders.ts';

type Claims = Pick<StopRecords, 'runsOver' | 'claim' | 'complete' | 'acknowledge' | 'abandon'>;

export function stopClaims(client: SqlClient): Claims {
  const orders = cardOrders(client);

  return {
    async runsOver(cardId, month) {
      const { cards, control } = await factsOf(client, [cardId], month);
      const [facts] = cards;
      const why = facts === undefined ? null : runsOver(facts, control.jump);
      const stop = facts?.stops.find((one) => one.month === month)?.state ?? null;
      return why === null ? null : { why, stop };
    },

    async claim(card, month, leaseMs, rules) {
      const changed = await orders.change<StopClaim>({
        ...{ cardId: card.cardId, month, rules, counts: true },
        decide(facts, control) {
          const decision = decideStop(facts, card, control);
          const changes = stopDecided(facts, card, decision, control, leaseMs);
          return [claimOf(decision, changes.stops ?? []), changes];
        },
      });
      return changed?.answer ?? { state: 'claimed' };
    },

    async complete(card, month) {
      const changed = await orders.change({
        ...{ cardId: card.cardId, month, counts: false },
        decide: (facts, control) => [null, stopShown(facts, card, control)],
      });
      return changed?.entry ?? null;
    },

    async acknowledge(cardId, month, attempt, pendingForMs = null) {
      const changed = await orders.change({
        ...{ cardId, month, counts: false },
        decide(facts) {
          const changes = stopAcknowledged(facts, month, attempt, pendingForMs);
          const [stop] = changes?.stops ?? [];
          return [stop === undefined ? null : unconfirmedOf(stop), changes];
        },
      });
      return changed?.answer ?? null;
    },

    async abandon(cardId, month, attempt, error, isRefused) {
      await orders.change({
        ...{ cardId, month, counts: true },
        decide: (facts, control) => [
          null,
          stopAbandoned(facts, control, { month, attempt, error, isRefused }),
        ],
      });
    },
  };
}

function claimOf(decision: StopVerdict, stops: readonly StopOrder[]): StopClaim {
  switch (decision.act) {
    case 'call': {
      const called = stops.find(({ month }) => month === decision.month) as StopOrder;
      const { month, attempts: attempt, unresolved, unconfirmed } = called;
      const overdue = unconfirmed > (decision.stop?.unconfirmed ?? 0) ? { overdueCalls: unconfirmed } : {};
      return { state: unresolved ? 'unresolved' : 'granted', month, attempt, ...overdue };
    }
    case 'wait':
      return { state: 'pending' };
    case 'hold': {
      const { heldBy, stop } = decision;
      return { state: 'held', heldBy, isNew: stop?.heldBy !== heldBy };
    }
    case 'observe':
      return { state: 'observed', isNew: decision.stop === null || decision.isNewStop };
    case 'none':
      if (decision.why !== 'held') return { state: decision.why };
      return { state: 'held', heldBy: decision.stop?.heldBy as HoldReason, isNew: false };
  }
}

function unconfirmedOf({ unconfirmed, claimedUntil, acknowledgedAt }: StopOrder) {
  return { calls: unconfirmed, retryInMs: Math.trunc((claimedUntil ?? 0) - (acknowledgedAt ?? 0)) };
}
