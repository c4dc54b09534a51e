// Runs that resume cards: each method is one statement.
import { type AuditEntry, DAEMON } from '../../../domain/audit.ts';
import type { CardMembership } from '../../../domain/cards/card.ts';
import type {
  FailedResume,
  ResumeClaim,
  ResumeRecords,
  ResumeRequest,
  ResumeRun,
  ResumeSelection,
} from '../../ports/records/resume-records.ts';
import { monthStart, withPartitions } from '../cleanup/partitions.ts';
import type { SqlClient, SqlValue } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './resumes.sql';
import { DUE_AGAIN_MS, FIRST_PAUSE_MS, LONGEST_PAUSE_MS } from './stop-pauses.ts';

const SQL = statements(
  file,
  'preview',
  'create',
  'createForMonth',
  'runs',
  'cancel',
  'claim',
  'complete',
  'acknowledge',
  'abandon',
  'due',
);

/** A card ends as failed after so many calls that were acknowledged without effect, or refused. */
const UNCONFIRMED_AT_MOST = 5;
const REFUSED_AT_MOST = 3;
const MONTH_REASON = 'a new month began (stops.resume_at_month_start)';
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

interface ClaimRow {
  readonly state: 'granted' | 'unresolved' | 'claimed' | 'unconfirmed';
  readonly runId: string;
  readonly attempts: number;
  readonly retryInMs: number;
}

export class SqlResumes implements ResumeRecords {
  constructor(private readonly client: SqlClient) {}

  async preview(selection: ResumeSelection): Promise<{ total: number; skipped: number }> {
    const [row] = await this.client.query<{ total: number }>(SQL.preview, selectionParams(selection));
    const total = Number(row?.total);
    return { total, skipped: 'cardIds' in selection ? new Set(selection.cardIds).size - total : 0 };
  }

  async create({ selection, by, reason }: ResumeRequest): Promise<ResumeRun> {
    const listed = 'cardIds' in selection ? new Set(selection.cardIds).size : null;
    const params = [...selectionParams(selection), reason, by.name, by.role, listed];
    const [row] = await this.client.query<{ id: string }>(SQL.create, params);
    return (await this.find(String(row?.id))) as ResumeRun;
  }

  async createForMonth(month: string, spreadMs: number): Promise<ResumeRun | null> {
    const params = [monthStart(month), spreadMs, DAEMON.name, DAEMON.role, MONTH_REASON];
    const [row] = await this.client.query<{ id: string }>(SQL.createForMonth, params);
    return row === undefined ? null : this.find(row.id);
  }

  async find(id: string): Promise<ResumeRun | null> {
    if (!UUID.test(id)) return null;
    const [run = null] = await this.client.query<ResumeRun>(SQL.runs, [id, 1]);
    return run;
  }

  latest(limit: number): Promise<ResumeRun[]> {
    return this.client.query<ResumeRun>(SQL.runs, [null, limit]);
  }

  async cancel(id: string): Promise<ResumeRun | null> {
    if (UUID.test(id)) await this.client.query(SQL.cancel, [id]);
    return this.find(id);
  }

  async claim(cardId: number, leaseMs: number): Promise<ResumeClaim> {
    const [row] = await this.client.query<ClaimRow>(SQL.claim, [cardId, leaseMs]);
    if (row === undefined) return { state: 'none' };
    const { state, runId, attempts, retryInMs } = row;
    if (state === 'unconfirmed') return { state, runId, retryInMs };
    return state === 'claimed' ? { state, runId } : { state, runId, attempt: attempts };
  }

  async complete(cardId: number, runId: string, month: string, called: boolean): Promise<AuditEntry | null> {
    const params = [cardId, runId, monthStart(month), called];
    const [row] = await withPartitions(this.client, month, () =>
      this.client.query<Omit<AuditEntry, 'address' | 'requestId'>>(SQL.complete, params),
    );
    return row === undefined ? null : { address: null, requestId: null, ...row };
  }

  acknowledge(cardId: number, runId: string, attempt: number): Promise<FailedResume | null> {
    const pauses = [FIRST_PAUSE_MS, LONGEST_PAUSE_MS, UNCONFIRMED_AT_MOST];
    return this.#fail(SQL.acknowledge, [cardId, runId, attempt, ...pauses]);
  }

  abandon(
    cardId: number,
    runId: string,
    attempt: number,
    error: string,
    refused: boolean,
  ): Promise<FailedResume | null> {
    return this.#fail(SQL.abandon, [cardId, runId, attempt, error, refused, REFUSED_AT_MOST]);
  }

  due(limit: number): Promise<CardMembership[]> {
    return this.client.query<CardMembership>(SQL.due, [limit, DUE_AGAIN_MS]);
  }

  async #fail(sql: (typeof SQL)['abandon'], params: readonly SqlValue[]): Promise<FailedResume | null> {
    const [failed = null] = await this.client.query<FailedResume>(sql, params);
    return failed;
  }
}

function selectionParams(selection: ResumeSelection): SqlValue[] {
  return 'cardIds' in selection
    ? [selection.cardIds, null, null]
    : [null, selection.sinceMs, selection.carrierId];
}
