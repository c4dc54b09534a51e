// Stop claims (see StopClaim in the port): each method is one statement.
//
// The number of the attempt is the fence: a caller that was frozen past its lease must not give up, on waking, the claim
// of another caller.
import { UNCONFIRMED_STOPS_COUNTED } from '../../../domain/alerts/alert-rule.ts';
import { type AuditChange, type AuditEntry, DAEMON } from '../../../domain/audit.ts';
import type { CardMembership } from '../../../domain/cards/card.ts';
import type { CardStop, StopClaim, StopRecords, UnconfirmedStop } from '../../ports/records/stop-records.ts';
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
  readonly usedMb: number;
  readonly allowanceMb: number;
  readonly calls: number;
  readonly retryInMs: number;
}

export class SqlStops implements StopRecords {
  constructor(private readonly client: SqlClient) {}

  wanted(cardIds: readonly number[]): Promise<CardMembership[]> {
    return this.client.query<CardMembership>(SQL.wanted, [cardIds]);
  }

  async claim(cardId: number, month: string, leaseMs: number): Promise<StopClaim> {
    const [row] = await this.client.query<ClaimRow>(SQL.claim, [cardId, monthStart(month), leaseMs]);
    if (row === undefined) return { state: 'held' };
    const { state } = row;
    if (state === 'granted' || state === 'unresolved') {
      return { state, attempt: row.attempts, usedMb: row.usedMb, allowanceMb: row.allowanceMb };
    }
    return state === 'unconfirmed' ? { state, calls: row.calls, retryInMs: row.retryInMs } : { state };
  }

  async complete(cardId: number, month: string): Promise<AuditEntry | null> {
    const params = [cardId, monthStart(month), DAEMON.name, DAEMON.role];
    const [row] = await withPartitions(this.client, month, () =>
      this.client.query<AuditChange & Pick<AuditEntry, 'atMs'>>(SQL.complete, params),
    );
    return row === undefined ? null : { ...DAEMON, ...row };
  }

  async acknowledge(cardId: number, month: string, attempt: number): Promise<UnconfirmedStop | null> {
    const [unconfirmed = null] = await this.client.query<UnconfirmedStop>(SQL.acknowledge, [
      cardId,
      monthStart(month),
      attempt,
      FIRST_PAUSE_MS,
      LONGEST_PAUSE_MS,
    ]);
    return unconfirmed;
  }

  async abandon(cardId: number, month: string, attempt: number, error: string): Promise<void> {
    await this.client.query(SQL.abandon, [cardId, monthStart(month), attempt, error]);
  }

  ofCard(cardId: number, limit: number): Promise<CardStop[]> {
    return this.client.query<CardStop>(SQL.ofCard, [cardId, limit]);
  }

  async unconfirmed(): Promise<number> {
    const [row] = await this.client.query<{ count: number }>(SQL.unconfirmed, [UNCONFIRMED_STOPS_COUNTED]);
    return row?.count ?? 0;
  }
}
