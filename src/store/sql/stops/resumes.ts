// Runs that resume cards. What concerns many cards is done in steps, each a statement of its own.
import { type AuditEntry, DAEMON } from '../../../domain/audit.ts';
import type { CardMembership } from '../../../domain/cards/card.ts';
import type {
  FailedResume,
  MonthSelection,
  ResumeClaim,
  ResumeRecords,
  ResumeRequest,
  ResumeRun,
  ResumeSelection,
} from '../../ports/records/resume-records.ts';
import { monthStart, withPartitions } from '../cleanup/partitions.ts';
import type { PreparedSql, SqlClient, SqlValue } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import { walkIndexes } from '../client/transaction-bounds.ts';
import file from './resumes.sql';
import { DUE_AGAIN_MS, FIRST_PAUSE_MS, LONGEST_PAUSE_MS } from './stop-claims.ts';

const SQL = statements(
  file,
  'count',
  'forget',
  'create',
  'ofMonth',
  'fill',
  'markCancelled',
  'withStepsLeft',
  'runs',
  'cancel',
  'claim',
  'complete',
  'acknowledge',
  'abandon',
  'due',
);

/** Stops, or cards of a list, that one step looks at: a short transaction. */
const STEP = 10_000;
/** A card ends as failed after so many calls that were acknowledged without effect, or refused. */
const UNCONFIRMED_AT_MOST = 5;
const REFUSED_AT_MOST = 3;
const MONTH_REASON = 'a new month began (stops.resume_at_month_start)';
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

interface CountRow {
  readonly chosen: number;
  readonly looked: number;
  /** As text, because a number of milliseconds is not exact. */
  readonly walkedAt: string | null;
  readonly walkedTo: number;
}

interface ClaimRow {
  readonly state: 'granted' | 'unresolved' | 'claimed' | 'unconfirmed';
  readonly runId: string;
  readonly attempts: number;
  readonly retryInMs: number;
}

export class SqlResumes implements ResumeRecords {
  constructor(private readonly client: SqlClient) {}

  async preview(selection: ResumeSelection | MonthSelection): Promise<{ total: number; skipped: number }> {
    if (!('cardIds' in selection)) {
      return { total: await this.#count(sourceOf(selection)), skipped: 0 };
    }
    const cardIds = [...new Set(selection.cardIds)];
    let total = 0;
    for (let from = 0; from < cardIds.length; from += STEP) {
      total += await this.#count(sourceOf({ cardIds: cardIds.slice(from, from + STEP) }));
    }
    return { total, skipped: cardIds.length - total };
  }

  async create({ selection, expected, by, reason, stopAgain }: ResumeRequest): Promise<ResumeRun> {
    const source = sourceOf(selection);
    const id = await this.#create([...source, 0, expected, reason, by.name, by.role, stopAgain]);
    return (await this.find(String(id))) as ResumeRun;
  }

  async createForMonth(
    { beginning }: MonthSelection,
    expected: number,
    spreadMs: number,
  ): Promise<ResumeRun | null> {
    const { name, role } = DAEMON;
    const params = [...sourceOf({ beginning }), spreadMs, expected, MONTH_REASON, name, role, false];
    const id = await this.#create(params);
    return id === null ? null : this.find(id);
  }

  async hasRunFor({ beginning }: MonthSelection): Promise<boolean> {
    return (await this.client.query(SQL.ofMonth, [monthStart(beginning)])).length > 0;
  }

  async advance(id: string): Promise<boolean> {
    for (const step of [SQL.fill, SQL.markCancelled]) {
      const [made] = await this.#walk<{ stepsLeft: boolean }>(step, [id, STEP]);
      if (made !== undefined) return made.stepsLeft;
    }
    return false;
  }

  async withStepsLeft(): Promise<string[]> {
    const rows = await this.client.query<{ id: string }>(SQL.withStepsLeft);
    return rows.map(({ id }) => id);
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
    return this.#walk<CardMembership>(SQL.due, [limit, DUE_AGAIN_MS]);
  }

  async #create(params: readonly SqlValue[]): Promise<string | null> {
    await this.client.query(SQL.forget);
    const [row] = await this.client.query<{ id: string }>(SQL.create, params);
    return row?.id ?? null;
  }

  /** Counts in steps, because one statement over millions of stops would take too long. */
  async #count(source: readonly SqlValue[]): Promise<number> {
    let [total, at, place] = [0, null as string | null, 0];
    for (;;) {
      const [step] = await this.#walk<CountRow>(SQL.count, [...source, at, place, STEP]);
      if (step === undefined) return total;
      total += step.chosen;
      if (step.looked < STEP) return total;
      [at, place] = [step.walkedAt, step.walkedTo];
    }
  }

  #walk<Row>(sql: PreparedSql, params: readonly SqlValue[]): Promise<Row[]> {
    return this.client.transaction(async (tx) => {
      await walkIndexes(tx);
      return tx.query<Row>(sql, params);
    });
  }

  async #fail(sql: PreparedSql, params: readonly SqlValue[]): Promise<FailedResume | null> {
    const [failed = null] = await this.client.query<FailedResume>(sql, params);
    return failed;
  }
}

/** What the cards of a run are chosen from: card ids, since, carrier, month that begins. */
function sourceOf(selection: ResumeSelection | MonthSelection): SqlValue[] {
  if ('beginning' in selection) return [null, null, null, monthStart(selection.beginning)];
  return 'cardIds' in selection
    ? [[...new Set(selection.cardIds)], null, null, null]
    : [null, selection.sinceMs, selection.carrierId, null];
}
