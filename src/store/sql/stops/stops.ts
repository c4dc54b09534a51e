// Stops as operators see them, and what they decide: they release and dismiss those that are held, and order the stop of a
// card, and what decides about all stops. How cards over their package are stopped is stop-claims.ts.
import { UNCONFIRMED_STOPS_COUNTED } from '../../../domain/alerts/alert-rule.ts';
import type { CardMembership } from '../../../domain/cards/card.ts';
import { STOP_STATES, STOPS_COUNTED } from '../../../domain/stops/stop.ts';
import type {
  CardStop,
  ListedStop,
  StopControl,
  StopControlRecords,
  StopDecision,
  StopRecords,
  UsageJump,
} from '../../ports/records/stop-records.ts';
import { monthStart } from '../cleanup/partitions.ts';
import { columnOf, countOf, firstOf, scalarOf, withTotal } from '../client/rows.ts';
import type { PreparedSql, SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import { DUE_AGAIN_MS, stopClaims } from './stop-claims.ts';
import file from './stops.sql';

const sql = statements(file);

/** Stops that one statement releases or dismisses: a short transaction. */
const DECIDED_AT_ONCE = 10_000;

export function sqlStops(client: SqlClient): StopRecords {
  function decide(
    statement: PreparedSql,
    cardIds: readonly number[] | null,
    { by, reason }: StopDecision,
  ): Promise<number[]> {
    return columnOf(client.query(statement, [cardIds, by, reason, DECIDED_AT_ONCE]));
  }

  return {
    ...stopClaims(client),

    list({ state, sinceMs, carrierId }, { offset, limit }) {
      const filter = [state === null ? STOP_STATES : [state], sinceMs, carrierId];
      return withTotal(
        client.query<ListedStop>(sql('page'), [...filter, offset, limit]),
        client.query(sql('countPage'), filter),
      );
    },

    ofCard: (cardId, limit) => client.query<CardStop>(sql('ofCard'), [cardId, limit]),

    unconfirmed: () => countOf(client.query(sql('unconfirmed'), [UNCONFIRMED_STOPS_COUNTED])),
    release: (cardIds, decision) => decide(sql('release'), cardIds, decision),
    dismiss: (cardIds, decision) => decide(sql('dismiss'), cardIds, decision),

    async order(cardId, month, { by, reason }) {
      // A statement of its own: the next one sees what a resume that ended just now has made of the card.
      const [cancelled] = await client.query<{ claimedUntil: string | null }>(sql('cancelResume'), [cardId]);
      const resume = [cancelled !== undefined, cancelled?.claimedUntil ?? null];
      const params = [cardId, monthStart(month), by, reason, ...resume];
      const answer = await scalarOf<'ordered' | 'already_stopped'>(client.query(sql('order'), params));
      return answer ?? 'unknown_card';
    },

    due: (limit) => client.query<CardMembership>(sql('due'), [limit, DUE_AGAIN_MS]),

    async dropUnwanted(afterCardId, limit) {
      const params = [afterCardId, limit];
      const [row] = await client.query<{ lastCardId: number | null; dropped: number }>(
        sql('dropUnwanted'),
        params,
      );
      return row ?? { lastCardId: null, dropped: 0 };
    },
  };
}

/** The mode of stops, their recent number and jumps of the readings: one row (migration 0014), and counts of stops. */
export function sqlStopControl(client: SqlClient): StopControlRecords {
  return {
    async read() {
      const [control] = await client.query<StopControl>(sql('readControl'), [STOPS_COUNTED]);
      if (control === undefined) throw new Error('stop_control has no row');
      return control;
    },

    async setMode(mode, by, reason) {
      await client.query(sql('setMode'), [mode, by, reason]);
    },

    jump: () => firstOf(client.query<UsageJump>(sql('readJump'))),

    async beginJump({ factor, baselineMbPerHour, recentMbPerHour }) {
      const params = [factor, baselineMbPerHour, recentMbPerHour];
      return (await client.query(sql('beginJump'), params)).length > 0;
    },

    endJump: async () => (await client.query(sql('endJump'))).length > 0,
  };
}
