// What operators decide about stops: they release and dismiss those that are held, and order the stop of a card. Part of the
// record store's stops.
import type { CardMembership } from '../../../domain/cards/card.ts';
import type { StopDecision, StopRecords } from '../../ports/records/stop-records.ts';
import { monthStart } from '../cleanup/partitions.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './stop-orders.sql';
import { DUE_AGAIN_MS } from './stop-pauses.ts';

const SQL = statements(file, 'release', 'dismiss', 'order', 'due', 'dropUnwanted');

/** Stops that one statement releases or dismisses: a short transaction. */
const DECIDED_AT_ONCE = 10_000;

export function stopOrders(
  client: SqlClient,
): Pick<StopRecords, 'release' | 'dismiss' | 'order' | 'due' | 'dropUnwanted'> {
  async function decide(
    sql: (typeof SQL)['release'],
    cardIds: readonly number[] | null,
    { by, reason }: StopDecision,
  ): Promise<number[]> {
    const rows = await client.query<{ cardId: number }>(sql, [cardIds, by, reason, DECIDED_AT_ONCE]);
    return rows.map(({ cardId }) => cardId);
  }

  return {
    release: (cardIds, decision) => decide(SQL.release, cardIds, decision),
    dismiss: (cardIds, decision) => decide(SQL.dismiss, cardIds, decision),

    async order(cardId, month, { by, reason }) {
      const params = [cardId, monthStart(month), by, reason];
      const [row] = await client.query<{ answer: Awaited<ReturnType<StopRecords['order']>> }>(
        SQL.order,
        params,
      );
      return row?.answer ?? 'unknown_card';
    },

    due: (limit) => client.query<CardMembership>(SQL.due, [limit, DUE_AGAIN_MS]),

    async dropUnwanted(afterCardId, limit) {
      const params = [afterCardId, limit];
      const [row] = await client.query<{ lastCardId: number | null; dropped: number }>(
        SQL.dropUnwanted,
        params,
      );
      return row ?? { lastCardId: null, dropped: 0 };
    },
  };
}
