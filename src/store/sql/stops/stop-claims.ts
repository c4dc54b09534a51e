// The stops of cards over their package, from their decision to their effect. Part of the record store's stops; the rules are
// src/domain/orders.
//
// The number of the attempt is the fence: a caller that was frozen past its lease must not give up, on waking, the claim
// of another caller.
import type { NamedCard } from '../../../domain/cards/card.ts';
import type { StopOrder } from '../../../domain/orders/card-orders.ts';
import { decideStop, isWanted, runsOver, type StopVerdict } from '../../../domain/orders/decide.ts';
import {
  stopAbandoned,
  stopAcknowledged,
  stopDecided,
  stopShown,
} from '../../../domain/orders/stop-outcomes.ts';
import type { HoldReason, StopRules } from '../../../domain/stops/stop.ts';
import type { StopClaim, StopLook, StopRecords } from '../../ports/records/stop-records.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { cardOrders, factsOf } from '../orders/card-orders.ts';

type Claims = Pick<
  StopRecords,
  'wanted' | 'runsOver' | 'look' | 'claim' | 'complete' | 'acknowledge' | 'abandon'
>;

export function stopClaims(client: SqlClient): Claims {
  const orders = cardOrders(client);

  /** A look at one card that the audit trail has to know of. */
  async function decided(card: NamedCard, month: string, rules: StopRules): Promise<StopLook> {
    const changed = await orders.change<StopLook>({
      ...{ cardId: card.cardId, month, rules, counts: false },
      decide(facts, control) {
        const decision = decideStop(facts, card, control);
        return [
          lookOf(decision),
          decision.act === 'call' ? null : stopDecided(facts, card, decision, control, 0),
        ];
      },
    });
    return changed?.answer ?? { state: 'claimed' };
  }

  return {
    async wanted(cardIds) {
      const { cards, control } = await factsOf(client, cardIds, null);
      return cards
        .filter((card) => isWanted(card, control.jump))
        .map(({ cardId, carrierId, realNameVerified }) => ({ cardId, carrierId, realNameVerified }));
    },

    async runsOver(cardId, month) {
      const { cards, control } = await factsOf(client, [cardId], month);
      const [facts] = cards;
      const why = facts === undefined ? null : runsOver(facts, control.jump);
      const stop = facts?.stops.find((one) => one.month === month)?.state ?? null;
      return why === null ? null : { why, stop };
    },

    async look(asked, month, rules) {
      const sims = new Map(asked.map((card) => [card.cardId, card]));
      const { cards, control } = await factsOf(client, [...sims.keys()], month, rules);
      const answers = new Map<number, StopLook>();
      const [stops, dropped] = [
        new Map<number, readonly StopOrder[]>(),
        new Map<number, readonly StopOrder[]>(),
      ];
      for (const facts of cards) {
        const { cardId } = facts;
        const shown = sims.get(cardId) as NamedCard;
        const decision = decideStop(facts, shown, control);
        answers.set(cardId, lookOf(decision));
        if (decision.act === 'call') continue;
        const changes = stopDecided(facts, shown, decision, control, 0);
        if (changes.audit !== undefined) answers.set(cardId, await decided(shown, month, rules));
        else if (changes.stops !== undefined) stops.set(cardId, changes.stops);
        if (changes.dropped !== undefined) dropped.set(cardId, changes.dropped);
      }
      const saved = stops.size > 0 ? await orders.saveStops(stops) : new Set<number>();
      // Another caller has just changed the others.
      for (const cardId of stops.keys()) if (!saved.has(cardId)) answers.set(cardId, { state: 'claimed' });
      if (dropped.size > 0) await orders.dropStops(dropped);
      return answers;
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

    async acknowledge(cardId, month, attempt) {
      const changed = await orders.change({
        ...{ cardId, month, counts: false },
        decide(facts) {
          const changes = stopAcknowledged(facts, month, attempt);
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

function lookOf(decision: StopVerdict): StopLook {
  switch (decision.act) {
    case 'call':
      return { state: 'open' };
    case 'hold': {
      const { heldBy, stop } = decision;
      return { state: 'held', heldBy, isNew: stop?.heldBy !== heldBy };
    }
    case 'observe':
      return { state: 'observed', isNew: decision.stop === null || decision.isAnew };
    case 'none':
      if (decision.why !== 'held') return { state: decision.why };
      return { state: 'held', heldBy: decision.stop?.heldBy as HoldReason, isNew: false };
  }
}

function claimOf(decision: StopVerdict, stops: readonly StopOrder[]): StopClaim {
  const look = lookOf(decision);
  if (look.state !== 'open' || decision.act !== 'call') return look as StopClaim;
  const called = stops.find(({ month }) => month === decision.month) as StopOrder;
  const { month, attempts: attempt, unresolved } = called;
  return { state: unresolved ? 'unresolved' : 'granted', month, attempt };
}

function unconfirmedOf({ unconfirmed, claimedUntil, acknowledgedAt }: StopOrder) {
  return { calls: unconfirmed, retryInMs: Math.trunc((claimedUntil ?? 0) - (acknowledgedAt ?? 0)) };
}
