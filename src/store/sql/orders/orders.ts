// The queue of orders in SQL: stops are wanted, orders are taken, and the calls of a card are claimed, acknowledged and shown.
// src/domain/orders decides; card-orders.ts loads its facts and saves its decisions.
//
// The number of an attempt is the fence: a caller that was frozen past its lease cannot end the claim of another caller.
import type { Changes, StopOrder } from '../../../domain/orders/card-orders.ts';
import {
  decideResume,
  decideStop,
  type ResumeVerdict,
  runsOver,
  type StopVerdict,
} from '../../../domain/orders/decide.ts';
import {
  resumeAbandoned,
  resumeAcknowledged,
  resumeDecided,
  runningShown,
} from '../../../domain/orders/resume-outcomes.ts';
import {
  stopAbandoned,
  stopAcknowledged,
  stopDecided,
  stopShown,
  stopWanted,
} from '../../../domain/orders/stop-outcomes.ts';
import type { HoldReason } from '../../../domain/stops/stop.ts';
import type { Order, OrderRecords, OrderTurn, WantedStop } from '../../ports/records/order-records.ts';
import type { ResumeClaim, ResumeRecords } from '../../ports/records/resume-records.ts';
import type { StopClaim, StopRecords } from '../../ports/records/stop-records.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import { walkingIndexes } from '../client/transaction-bounds.ts';
import { cardOrders, factsOf } from './card-orders.ts';
import file from './orders.sql';

const sql = statements(file);

type Wanted = NonNullable<ReturnType<typeof stopWanted>>;

export function sqlOrders(client: SqlClient): OrderRecords {
  const orders = cardOrders(client);
  return {
    async want(cardIds, month, rules, isPolled) {
      const { cards, control } = await factsOf(client, cardIds, month, rules);
      const stops = new Map<number, readonly StopOrder[]>();
      const dropped = new Map<number, readonly StopOrder[]>();
      const wanted: WantedStop[] = [];
      for (const facts of cards.filter(isPolled)) {
        const found = stopWanted(facts, control);
        if (found === null) continue;
        const { cardId } = facts;
        const { changes } = found;
        const seen = wantedStopOf(cardId, found);
        if (seen !== null) wanted.push(seen);
        if (changes.dropped !== undefined) dropped.set(cardId, changes.dropped);
        if (changes.audit === undefined) {
          if (changes.stops !== undefined) stops.set(cardId, changes.stops);
          continue;
        }
        // The audit trail must get the entry in the same transaction.
        await orders.change({
          ...{ cardId, month, rules, counts: false },
          decide: (now, fleet) => [null, stopWanted(now, fleet)?.changes ?? null],
        });
      }
      const saved = stops.size === 0 ? new Set<number>() : await orders.saveStops(stops);
      if (dropped.size > 0) await orders.dropStops(dropped);
      // Another caller has just changed the others.
      return wanted.filter(({ cardId }) => !stops.has(cardId) || saved.has(cardId));
    },

    async due(turn) {
      return walkingIndexes(client, (tx) => sql.on(tx).count('due', ...limitsOf(turn)));
    },

    take: (turn, leaseMs) =>
      walkingIndexes(client, (tx) =>
        sql.on(tx).rows<Order>('take', ...limitsOf(turn), turn.resumesFirst, leaseMs),
      ),
  };
}

function limitsOf({ most, stops, resumes, mode }: Omit<OrderTurn, 'resumesFirst'>) {
  return [most, stops ? most : 0, resumes ? most : 0, mode] as const;
}

/** @returns null: its call is in flight, or has ended. */
function wantedStopOf(cardId: number, { decision }: Wanted): WantedStop | null {
  if (decision.act === 'none') return null;
  const about = { cardId, iccid: decision.card.iccid };
  const { stop, isNewStop } = decision;
  switch (decision.act) {
    case 'call':
    // Does not occur for a card without a status call.
    case 'wait':
      return { ...about, state: 'ordered' };
    case 'hold':
      return {
        ...about,
        state: 'held',
        heldBy: decision.heldBy,
        isNew: stop?.heldBy !== decision.heldBy,
      };
    case 'observe':
      return { ...about, state: 'observed', isNew: stop === null || isNewStop };
  }
}

/** The calls of stops, from decision to effect. */
export function stopClaims(
  client: SqlClient,
): Pick<StopRecords, 'runsOver' | 'claim' | 'complete' | 'acknowledge' | 'abandon'> {
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
          return [stopClaimOf(decision, changes.stops ?? []), changes];
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

function stopClaimOf(decision: StopVerdict, stops: readonly StopOrder[]): StopClaim {
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

/** The calls of resumes that wait in a run, from decision to effect. */
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
          return [resumeClaimOf(decision, changes), changes];
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

function resumeClaimOf(decision: ResumeVerdict, { resumes }: Changes): ResumeClaim {
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
