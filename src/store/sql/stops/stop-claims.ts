// Stop claims (see StopClaim in the port): each method is one statement, and a look is the claim that takes nothing. Part of the
// record store's stops.
//
// The number of the attempt is the fence: a caller that was frozen past its lease must not give up, on waking, the claim
// of another caller.
import { DAEMON } from '../../../domain/audit.ts';
import type { NamedCard } from '../../../domain/cards/card.ts';
import type { StopRules } from '../../../domain/stops/stop.ts';
import type { StopClaim, StopLook, StopRecords } from '../../ports/records/stop-records.ts';
import { monthStart, withPartitions } from '../cleanup/partitions.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './stop-claims.sql';

const sql = statements(file);

/** Between calls that are acknowledged without effect: from half a minute, doubling, to an hour. Those of resumes too. */
export const FIRST_PAUSE_MS = 30_000;
export const LONGEST_PAUSE_MS = 3_600_000;

/** A card with an order is given to the queue again after this time, should the queue have lost it. */
export const DUE_AGAIN_MS = 60_000;

export function stopClaims(
  client: SqlClient,
): Pick<StopRecords, 'wanted' | 'runsOver' | 'look' | 'claim' | 'complete' | 'acknowledge' | 'abandon'> {
  const db = sql.on(client);
  function judge<Answer>(
    cards: readonly NamedCard[],
    month: string,
    { mode, maxPerHour, maxPerDay }: StopRules,
    leaseMs: number,
    takes: boolean,
  ): Promise<Array<{ cardId: number; claim: Answer }>> {
    const ids = cards.map(({ cardId }) => cardId);
    const iccids = cards.map(({ iccid }) => iccid);
    const vendorIds = cards.map(({ vendorId }) => vendorId);
    const { name, role } = DAEMON;
    const rules = [mode, maxPerHour, maxPerDay];
    const params = [ids, monthStart(month), leaseMs, ...rules, name, role, iccids, takes, vendorIds];
    return withPartitions(client, month, () => db.rows('claim', ...params));
  }
  return {
    wanted: (cardIds) => db.rows('wanted', cardIds),

    runsOver: (cardId, month) => db.first('runsOver', cardId, monthStart(month)),

    async look(cards, month, rules) {
      const rows = await judge<StopLook>(cards, month, rules, 0, false);
      return new Map(rows.map(({ cardId, claim }) => [cardId, claim]));
    },

    async claim(card, month, leaseMs, rules) {
      const [row] = await judge<StopClaim>([card], month, rules, leaseMs, true);
      // A racing caller has just claimed it where there is no row.
      return row?.claim ?? { state: 'claimed' };
    },

    complete({ cardId, iccid, vendorId }, month) {
      const { name, role } = DAEMON;
      const params = [cardId, monthStart(month), name, role, iccid, vendorId];
      return withPartitions(client, month, () => db.first('complete', ...params));
    },

    acknowledge: (cardId, month, attempt) =>
      db.first('acknowledge', cardId, monthStart(month), attempt, FIRST_PAUSE_MS, LONGEST_PAUSE_MS),

    abandon: (cardId, month, attempt, error, isCardFault) =>
      db.run('abandon', cardId, monthStart(month), attempt, error, isCardFault),
  };
}
