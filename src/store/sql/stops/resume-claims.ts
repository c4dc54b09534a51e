// Claims to resume a card (see ResumeClaim in the port): each method is one statement. Part of the record store's resumes.
import type { ResumeClaim, ResumeRecords } from '../../ports/records/resume-records.ts';
import { monthStart, withPartitions } from '../cleanup/partitions.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './resume-claims.sql';
import { FIRST_PAUSE_MS, LONGEST_PAUSE_MS } from './stop-claims.ts';

const sql = statements(file);

/** A card ends as failed after so many calls that were acknowledged without effect, or refused. */
const UNCONFIRMED_AT_MOST = 5;
const REFUSED_AT_MOST = 3;
/** After so long, a card that runs is taken to have been spared by the call that stops it. Twice what gateways need. */
const SETTLED_AFTER_MS = 2 * FIRST_PAUSE_MS;
const SETTLING_AGAIN_MS = 15_000;
/** A card found stopped later after its resume was stopped by somebody else. */
const LATE_AT_MOST_MS = 86_400_000;

export function resumeClaims(
  client: SqlClient,
): Pick<ResumeRecords, 'claim' | 'complete' | 'reopen' | 'acknowledge' | 'abandon'> {
  const db = sql.on(client);
  return {
    async claim({ cardId, iccid, vendorId }, isStopped, leaseMs) {
      const params = [cardId, iccid, isStopped, leaseMs, SETTLED_AFTER_MS, SETTLING_AGAIN_MS, vendorId];
      return (await db.scalar<ResumeClaim>('claim', ...params)) ?? { state: 'none' };
    },

    complete: ({ cardId, iccid, vendorId }, runId, month) =>
      withPartitions(client, month, () =>
        db.first('complete', cardId, iccid, runId, monthStart(month), vendorId),
      ),

    reopen: ({ cardId, iccid, vendorId }) => db.hasRow('reopen', cardId, iccid, LATE_AT_MOST_MS, vendorId),

    async acknowledge(cardId, runId, attempt) {
      const pauses = [FIRST_PAUSE_MS, LONGEST_PAUSE_MS, UNCONFIRMED_AT_MOST];
      return (await db.scalar<boolean>('acknowledge', cardId, runId, attempt, ...pauses)) ?? false;
    },

    abandon: async (cardId, runId, attempt, error, refused) =>
      (await db.scalar<boolean>('abandon', cardId, runId, attempt, error, refused, REFUSED_AT_MOST)) ?? false,
  };
}
