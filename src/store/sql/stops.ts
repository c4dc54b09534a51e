// Stop claims (see StopClaim in the port): each method is one statement.
//
// The number of the attempt is the fence: a caller that was frozen past its lease must not give up, on waking, the
// claim that somebody else holds by then. The port does not carry it, so the store remembers the attempts it was
// granted until they end.
import { UNCONFIRMED_STOPS_COUNTED } from '../../domain/alert-rule.ts';
import { type AuditChange, type AuditEntry, DAEMON } from '../../domain/audit.ts';
import type { CardStop, StopClaim, StopRecords, UnconfirmedStop } from '../ports/stop-records.ts';
import { monthStart, withPartitions } from './partitions.ts';
import acknowledgeStop from './queries/acknowledge-stop.sql';
import claimStop from './queries/claim-stop.sql';
import completeStop from './queries/complete-stop.sql';
import unconfirmedStops from './queries/unconfirmed-stops.sql';
import type { PreparedSql, SqlClient } from './sql-client.ts';

const CLAIM: PreparedSql = { name: 'claim_stop', text: claimStop };
const COMPLETE: PreparedSql = { name: 'complete_stop', text: completeStop };
const ACKNOWLEDGE: PreparedSql = { name: 'acknowledge_stop', text: acknowledgeStop };
const UNCONFIRMED: PreparedSql = { name: 'unconfirmed_stops', text: unconfirmedStops };

/** Between calls that are acknowledged without effect: from half a minute, doubling, to an hour. */
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 3_600_000;

interface ClaimRow {
  readonly state: StopClaim['state'];
  readonly attempts: number;
  readonly used_mb: number;
  readonly allowance_mb: number;
  readonly calls: number;
  readonly retry_in_ms: number;
}

interface CompletedRow extends AuditChange {
  readonly at_ms: number;
}

interface StopRow {
  readonly month: string;
  readonly used_mb: number;
  readonly allowance_mb: number;
  readonly requested_at_ms: number;
  readonly completed_at_ms: number | null;
  readonly attempts: number;
  readonly unconfirmed: number;
  readonly last_error: string | null;
}

export class SqlStops implements StopRecords {
  readonly #attempts = new Map<string, number>();

  constructor(private readonly client: SqlClient) {}

  async claim(cardId: number, month: string, leaseMs: number): Promise<StopClaim> {
    const [row] = await this.client.query<ClaimRow>(CLAIM, [cardId, monthStart(month), leaseMs]);
    if (row === undefined) return { state: 'held' };
    const { state } = row;
    if (state === 'granted' || state === 'unresolved') {
      this.#attempts.set(keyOf(cardId, month), row.attempts);
      return { state, usedMb: row.used_mb, allowanceMb: row.allowance_mb };
    }
    return state === 'unconfirmed' ? { state, calls: row.calls, retryInMs: row.retry_in_ms } : { state };
  }

  async complete(cardId: number, month: string): Promise<AuditEntry | null> {
    const params = [cardId, monthStart(month), DAEMON.name, DAEMON.role];
    const [row] = await withPartitions(this.client, month, () =>
      this.client.query<CompletedRow>(COMPLETE, params),
    );
    this.#attempts.delete(keyOf(cardId, month));
    if (row === undefined) return null;
    const { at_ms: atMs, ...change } = row;
    return { ...DAEMON, ...change, atMs };
  }

  async acknowledge(cardId: number, month: string): Promise<UnconfirmedStop | null> {
    const key = keyOf(cardId, month);
    const [row] = await this.client.query<Pick<ClaimRow, 'calls' | 'retry_in_ms'>>(ACKNOWLEDGE, [
      cardId,
      monthStart(month),
      this.#attempts.get(key) ?? 0,
      FIRST_PAUSE_MS,
      LONGEST_PAUSE_MS,
    ]);
    this.#attempts.delete(key);
    return row === undefined ? null : { calls: row.calls, retryInMs: row.retry_in_ms };
  }

  async abandon(cardId: number, month: string, error: string): Promise<void> {
    const key = keyOf(cardId, month);
    await this.client.query(
      `UPDATE card_stops SET claimed_until = NULL, unresolved = false, last_error = $4
       WHERE card_id = $1::bigint AND month = $2::date AND state = 'requested' AND attempts = $3::integer`,
      [cardId, monthStart(month), this.#attempts.get(key) ?? 0, error],
    );
    this.#attempts.delete(key);
  }

  async ofCard(cardId: number, limit: number): Promise<CardStop[]> {
    const rows = await this.client.query<StopRow>(
      `SELECT to_char(month, 'YYYY-MM') AS month, used_mb, allowance_mb, attempts, unconfirmed, last_error,
         (extract(epoch FROM requested_at) * 1000)::bigint AS requested_at_ms,
         (extract(epoch FROM completed_at) * 1000)::bigint AS completed_at_ms
       FROM card_stops WHERE card_id = $1::bigint ORDER BY card_stops.month DESC LIMIT $2::integer`,
      [cardId, limit],
    );
    return rows.map((row) => ({
      month: row.month,
      usedMb: row.used_mb,
      allowanceMb: row.allowance_mb,
      requestedAtMs: row.requested_at_ms,
      completedAtMs: row.completed_at_ms,
      attempts: row.attempts,
      unconfirmed: row.unconfirmed,
      lastError: row.last_error,
    }));
  }

  async unconfirmed(): Promise<number> {
    const [row] = await this.client.query<{ count: number }>(UNCONFIRMED, [UNCONFIRMED_STOPS_COUNTED]);
    return row?.count ?? 0;
  }
}

function keyOf(cardId: number, month: string): string {
  return `${cardId}/${month}`;
}
