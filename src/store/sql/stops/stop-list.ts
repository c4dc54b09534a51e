// Stops as they are shown and counted. Part of the record store's stops.
import { UNCONFIRMED_STOPS_COUNTED } from '../../../domain/alerts/alert-rule.ts';
import { STOP_STATES } from '../../../domain/stops/stop.ts';
import type { CardStop, ListedStop, StopRecords } from '../../ports/records/stop-records.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './stop-list.sql';

const SQL = statements(file, 'ofCard', 'unconfirmed', 'page', 'countPage');

export function stopList(client: SqlClient): Pick<StopRecords, 'list' | 'ofCard' | 'unconfirmed'> {
  return {
    async list({ state, sinceMs, carrierId }, { offset, limit }) {
      const filter = [state === null ? STOP_STATES : [state], sinceMs, carrierId];
      const [items, [count]] = await Promise.all([
        client.query<ListedStop>(SQL.page, [...filter, offset, limit]),
        client.query<{ total: number }>(SQL.countPage, filter),
      ]);
      return { items, total: Number(count?.total) };
    },

    ofCard: (cardId, limit) => client.query<CardStop>(SQL.ofCard, [cardId, limit]),

    async unconfirmed() {
      const [row] = await client.query<{ count: number }>(SQL.unconfirmed, [UNCONFIRMED_STOPS_COUNTED]);
      return row?.count ?? 0;
    },
  };
}
