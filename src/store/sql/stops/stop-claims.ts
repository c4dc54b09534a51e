// Stop claims (see StopClaim in the port): each method is one statement. Part of the record store's stops.
//
// The number of the attempt is the fence: a caller that was frozen past its lease must not give up, on waking, the claim
// of another caller.
import { type AuditChange, type AuditEntry, DAEMON } from '../../../domain/audit.ts';
import type { CardMembership } from '../../../domain/cards/card.ts';
import type { HoldReason } from '../../../domain/stops/stop.ts';
import type { StopClaim, StopRecords, UnconfirmedStop } from '../../ports/records/stop-records.ts';
import { monthStart, withPartitions } from '../cleanup/partitions.ts';
import { firstOf } from '../client/rows.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './stop-claims.sql';

const sql = statements(file);

/** Between calls that are acknowledged without effect: from half a minute, doubling, to an hour. Those of resumes too. */
export const FIRST_PAUSE_MS = 30_000;
export const LONGEST_PAUSE_MS = 3_600_000;

/** A card with an order is given to the queue again after this time, should the queue have lost it. */
export const DUE_AGAIN_MS = 60_000;

interface ClaimRow {
  readonly state: StopClaim['state'];
  readonly month: string;
  readonly attempts: number;
  readonly usedMb: number;
  readonly allowanceMb: number | null;
  readonly calls: number;
  readonly retryInMs: number;
  readonly heldBy: HoldReason;
  readonly isNew: boolean;
}

export function stopClaims(
  client: SqlClient,
): Pick<StopRecords, 'wanted' | 'claim' | 'complete' | 'acknowledge' | 'abandon'> {
  return {
    wanted: (cardIds) => client.query<CardMembership>(sql('wanted'), [cardIds]),

    async claim(cardId, month, leaseMs, { mode, maxPerHour, maxPerDay }) {
      const params = [cardId, monthStart(month), leaseMs, mode, maxPerHour, maxPerDay];
      const [row] = await client.query<ClaimRow>(sql('claim'), params);
      return row === undefined ? { state: 'claimed' } : claimOf(row);
    },

    async complete(cardId, month) {
      const params = [cardId, monthStart(month), DAEMON.name, DAEMON.role];
      const [row] = await withPartitions(client, month, () =>
        client.query<AuditChange & Pick<AuditEntry, 'atMs'>>(sql('complete'), params),
      );
      return row === undefined ? null : { ...DAEMON, ...row };
    },

    acknowledge(cardId, month, attempt) {
      const params = [cardId, monthStart(month), attempt, FIRST_PAUSE_MS, LONGEST_PAUSE_MS];
      return firstOf(client.query<UnconfirmedStop>(sql('acknowledge'), params));
    },

    async abandon(cardId, month, attempt, error) {
      await client.query(sql('abandon'), [cardId, monthStart(month), attempt, error]);
    },
  };
}

function claimOf(row: ClaimRow): StopClaim {
  const { state, isNew, heldBy, calls, retryInMs } = row;
  switch (state) {
    case 'granted':
    case 'unresolved': {
      const { month, attempts: attempt, usedMb, allowanceMb } = row;
      return { state, month, attempt, usedMb, allowanceMb };
    }
    case 'unconfirmed':
      return { state, calls, retryInMs };
    case 'held':
      return { state, heldBy, isNew };
    case 'observed':
      return { state, isNew };
    default:
      return { state };
  }
}
