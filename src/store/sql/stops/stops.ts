// Stop claims (see StopClaim in the port): each method is one statement.
//
// The number of the attempt is the fence: a caller that was frozen past its lease must not give up, on waking, the claim
// of another caller.
import { UNCONFIRMED_STOPS_COUNTED } from '../../../domain/alerts/alert-rule.ts';
import { type AuditChange, type AuditEntry, DAEMON } from '../../../domain/audit.ts';
import type { CardMembership } from '../../../domain/cards/card.ts';
import { type HoldReason, STOP_STATES, type StopRules } from '../../../domain/stops/stop.ts';
import type {
  CardStop,
  ListedStop,
  StopClaim,
  StopDecision,
  StopFilter,
  StopRecords,
  UnconfirmedStop,
} from '../../ports/records/stop-records.ts';
import { monthStart, withPartitions } from '../cleanup/partitions.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import { DUE_AGAIN_MS, FIRST_PAUSE_MS, LONGEST_PAUSE_MS } from './stop-pauses.ts';
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
  'page',
  'countPage',
  'release',
  'dismiss',
  'order',
  'due',
  'dropUnwanted',
);

/** Stops that one statement releases or dismisses: a short transaction. */
const DECIDED_AT_ONCE = 10_000;

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

export class SqlStops implements StopRecords {
  constructor(private readonly client: SqlClient) {}

  wanted(cardIds: readonly number[]): Promise<CardMembership[]> {
    return this.client.query<CardMembership>(SQL.wanted, [cardIds]);
  }

  async claim(cardId: number, month: string, leaseMs: number, rules: StopRules): Promise<StopClaim> {
    const { mode, maxPerHour, maxPerDay } = rules;
    const params = [cardId, monthStart(month), leaseMs, mode, maxPerHour, maxPerDay];
    const [row] = await this.client.query<ClaimRow>(SQL.claim, params);
    if (row === undefined) return { state: 'claimed' };
    const { state, isNew, heldBy, calls, retryInMs } = row;
    switch (state) {
      case 'granted':
      case 'unresolved':
        return {
          state,
          month: row.month,
          attempt: row.attempts,
          usedMb: row.usedMb,
          allowanceMb: row.allowanceMb,
        };
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

  async list(
    { state, sinceMs, carrierId }: StopFilter,
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): Promise<{ items: ListedStop[]; total: number }> {
    const filter = [state === null ? STOP_STATES : [state], sinceMs, carrierId];
    const [items, [count]] = await Promise.all([
      this.client.query<ListedStop>(SQL.page, [...filter, offset, limit]),
      this.client.query<{ total: number }>(SQL.countPage, filter),
    ]);
    return { items, total: Number(count?.total) };
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

  release(cardIds: readonly number[] | null, decision: StopDecision): Promise<number[]> {
    return this.#decide(SQL.release, cardIds, decision);
  }

  dismiss(cardIds: readonly number[] | null, decision: StopDecision): Promise<number[]> {
    return this.#decide(SQL.dismiss, cardIds, decision);
  }

  async order(cardId: number, month: string, { by, reason }: StopDecision): ReturnType<StopRecords['order']> {
    const params = [cardId, monthStart(month), by, reason];
    const [row] = await this.client.query<{ answer: Awaited<ReturnType<StopRecords['order']>> }>(
      SQL.order,
      params,
    );
    return row?.answer ?? 'unknown_card';
  }

  due(limit: number): Promise<CardMembership[]> {
    return this.client.query<CardMembership>(SQL.due, [limit, DUE_AGAIN_MS]);
  }

  async dropUnwanted(
    afterCardId: number,
    limit: number,
  ): Promise<{ lastCardId: number | null; dropped: number }> {
    const [row] = await this.client.query<{ lastCardId: number | null; dropped: number }>(SQL.dropUnwanted, [
      afterCardId,
      limit,
    ]);
    return row ?? { lastCardId: null, dropped: 0 };
  }

  async #decide(
    sql: (typeof SQL)['release'],
    cardIds: readonly number[] | null,
    { by, reason }: StopDecision,
  ): Promise<number[]> {
    const rows = await this.client.query<{ cardId: number }>(sql, [cardIds, by, reason, DECIDED_AT_ONCE]);
    return rows.map(({ cardId }) => cardId);
  }
}
