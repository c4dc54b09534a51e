// The queue of orders in SQL. src/domain/orders decides which stops are wanted.
import type { StopOrder } from '../../../domain/orders/card-orders.ts';
import { stopWanted } from '../../../domain/orders/stop-outcomes.ts';
import type { Order, OrderRecords, OrderTurn, WantedStop } from '../../ports/records/order-records.ts';
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
