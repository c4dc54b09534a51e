// Stops as operators see them, and what they decide: they release and dismiss those that are held, and order the stop of a
// card, and what decides about all stops. How cards over their package are stopped is stop-claims.ts.
import {
  OVER_RUNNING_COUNTED,
  OVER_RUNNING_GRACE_MS,
  OVER_RUNNING_SHOWN,
  SPARING_STATES,
  STOP_STATES,
  STOPS_COUNTED,
  UNCONFIRMED_STOPS_COUNTED,
} from '../../../domain/stops/stop.ts';
import type { StopControlRecords, StopDecision, StopRecords } from '../../ports/records/stop-records.ts';
import { monthStart } from '../cleanup/partitions.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import { walkingIndexes } from '../client/transaction-bounds.ts';
import { DUE_AGAIN_MS, stopClaims } from './stop-claims.ts';
import file from './stops.sql';

const sql = statements(file);

/** Stops that one statement releases or dismisses: a short transaction. */
const DECIDED_AT_ONCE = 10_000;

interface CancelledResume {
  readonly claimedUntil: string | null;
}

export function sqlStops(client: SqlClient): StopRecords {
  const db = sql.on(client);

  /** @returns the card ids. */
  const decide = (name: string, cardIds: readonly number[] | null, { by, reason }: StopDecision) =>
    walkingIndexes(client, (tx) => sql.on(tx).column<number>(name, cardIds, by, reason, DECIDED_AT_ONCE));

  return {
    ...stopClaims(client),

    list({ state, sinceMs, carrierId }, slice) {
      const isSpared = state === 'spared';
      const states = state === null ? STOP_STATES : isSpared ? SPARING_STATES : [state];
      return db.slice('page', 'countPage', [states, sinceMs, carrierId, isSpared], slice);
    },

    ofCard: (cardId, limit) => db.rows('ofCard', cardId, limit),
    unconfirmed: () => db.count('unconfirmed', UNCONFIRMED_STOPS_COUNTED),
    sweepOverRunning: (afterCardId, throughCardId, month, ends) =>
      walkingIndexes(client, (tx) =>
        sql.on(tx).run('sweepOverRunning', afterCardId, throughCardId, monthStart(month), ends),
      ),
    overRunning: () =>
      db.first('overRunning', OVER_RUNNING_GRACE_MS, OVER_RUNNING_COUNTED, OVER_RUNNING_SHOWN),
    release: (cardIds, decision) => decide('release', cardIds, decision),
    dismiss: (cardIds, decision) => decide('dismiss', cardIds, decision),

    async order(cardId, month, { by, reason }) {
      await db.run('lockHandOut');
      // Statements of their own: the last one sees what a resume that ended just now has made of the card.
      const cancelled = await db.first<CancelledResume>('cancelResume', cardId);
      const resume = [cancelled !== null, cancelled?.claimedUntil ?? null];
      return (await db.scalar('order', cardId, monthStart(month), by, reason, ...resume)) ?? 'unknown_card';
    },

    due: (limit) => walkingIndexes(client, (tx) => sql.on(tx).rows('due', limit, DUE_AGAIN_MS)),
    dropUnwanted: (afterCardId, limit) => db.one('dropUnwanted', afterCardId, limit),
  };
}

/** The mode of stops, their recent number and jumps of the readings: one row (migration 0014), and counts of stops. */
export function sqlStopControl(client: SqlClient): StopControlRecords {
  const db = sql.on(client);
  return {
    read: () => db.one('readControl', STOPS_COUNTED),
    setMode: (mode, by, reason) => db.run('setMode', mode, by, reason),
    jump: () => db.first('readJump'),
    beginJump: ({ factor, baselineMbPerHour, recentMbPerHour }) =>
      db.hasRow('beginJump', factor, baselineMbPerHour, recentMbPerHour),
    endJump: (ends) => db.hasRow('endJump', ends === 'back'),
  };
}
