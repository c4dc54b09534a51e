// Stop claims (see StopClaim in the port): each method is one statement.
//
// The number of the attempt is the fence: a caller that was frozen past its lease must not give up, on waking, the
// claim that somebody else holds by then. The port does not carry it, so the store remembers the attempts it was
// granted until they end.
import { UNCONFIRMED_STOPS_COUNTED } from '../../../domain/alerts/alert-rule.ts';
import { type AuditChange, type AuditEntry, DAEMON } from '../../../domain/audit.ts';
import type { CardMembership } from '../../../domain/cards/card.ts';
import type { CardStop, StopClaim, StopRecords, UnconfirmedStop } from '../../ports/records/stop-records.ts';
import { type MembershipRow, toMembership } from '../cards/membership-row.ts';
import { monthStart, withPartitions } from '../cleanup/partitions.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './stops.sql';

const SQL = statements(
  file,
  'wanted',
  'claim',
  'complete',
  'acknowledge',
  'abandon',
  'ofCard',
  'unconfirmed',
);

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

  async wanted(cardIds: readonly number[]): Promise<CardMembership[]> {
    return (await this.client.query<MembershipRow>(SQL.wanted, [cardIds])).map(toMembership);
  }

  async claim(cardId: number, month: string, leaseMs: number): Promise<StopClaim> {
    const [row] = await this.client.query<ClaimRow>(SQL.claim, [cardId, monthStart(month), leaseMs]);
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
      this.client.query<CompletedRow>(SQL.complete, params),
    );
    this.#attempts.delete(keyOf(cardId, month));
    if (row === undefined) return null;
    const { at_ms: atMs, ...change } = row;
    return { ...DAEMON, ...change, atMs };
  }

  async acknowledge(cardId: number, month: string): Promise<UnconfirmedStop | null> {
    const key = keyOf(cardId, month);
    const [row] = await this.client.query<Pick<ClaimRow, 'calls' | 'retry_in_ms'>>(SQL.acknowledge, [
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
    await this.client.query(SQL.abandon, [cardId, monthStart(month), this.#attempts.get(key) ?? 0, error]);
    this.#attempts.delete(key);
  }

  async ofCard(cardId: number, limit: number): Promise<CardStop[]> {
    const rows = await this.client.query<StopRow>(SQL.ofCard, [cardId, limit]);
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
    const [row] = await this.client.query<{ count: number }>(SQL.unconfirmed, [UNCONFIRMED_STOPS_COUNTED]);
    return row?.count ?? 0;
  }
}

function keyOf(cardId: number, month: string): string {
  return `${cardId}/${month}`;
}
