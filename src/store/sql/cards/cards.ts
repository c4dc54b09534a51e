// Card records: reading them, and the doors to the change feed (card-changes.ts) and to imports
// (card-import-session.ts). What polls change is written by results.ts and stops.ts.
import type { Card, CardMembership } from '../../../domain/cards/card.ts';
import type { UsageMonth } from '../../../domain/cards/usage-month.ts';
import type { TaskType } from '../../../domain/task-type.ts';
import type {
  CardChanges,
  CardFilter,
  CardImportSession,
  CardRecord,
  CardRecords,
  CardStretch,
  ImportSessionOptions,
  MonthlyUsage,
} from '../../ports/records/card-records.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import { cardChangesSince, currentMark } from './card-changes.ts';
import { SqlCardImportSession } from './card-import-session.ts';
import { cardStretch } from './card-list.ts';
import file from './cards.sql';
import { type MembershipRow, toMembership } from './membership-row.ts';

const SQL = statements(
  file,
  'page',
  'byIds',
  'idOfIccid',
  'lastPolls',
  'monthlyUsage',
  'count',
  'size',
  'lastId',
);

/** A few milliseconds of counting: about 25,000 cards. */
const PAGES_COUNTED_EXACTLY = 350;
/** Of 8 kB, in a table never analysed, or last while its first rows were on their way (0 rows, yet pages). */
const CARDS_A_PAGE = 70;

interface EstimateRow {
  readonly rows: number;
  readonly known_pages: number;
  readonly pages: number;
}

interface CardRow extends MembershipRow {
  readonly iccid: string;
  readonly status: number;
  readonly stopped: boolean;
  readonly allowance_mb: number | null;
  readonly usage_month: string | null;
  readonly used_mb: number;
  readonly last_reading_mb: number;
  readonly suspected_mb: number | null;
  readonly read_at_ms: number;
}

interface PollRow {
  readonly task_type: TaskType;
  readonly at_ms: number;
}

export class SqlCards implements CardRecords {
  constructor(private readonly client: SqlClient) {}

  async page(afterId: number, limit: number): Promise<CardMembership[]> {
    const rows = await this.client.query<MembershipRow>(SQL.page, [afterId, limit]);
    return rows.map(toMembership);
  }

  async byIds(cardIds: readonly number[], answerTimeoutMs?: number): Promise<Card[]> {
    if (cardIds.length === 0) return [];
    const sql = answerTimeoutMs === undefined ? SQL.byIds : { ...SQL.byIds, answerTimeoutMs };
    const rows = await this.client.query<CardRow>(sql, [cardIds]);
    return rows.map(toCard);
  }

  async find(cardIdOrIccid: string): Promise<CardRecord | null> {
    const cardId = await this.#cardIdOf(cardIdOrIccid);
    if (cardId === null) return null;
    const [card] = await this.byIds([cardId]);
    return card === undefined ? null : { ...card, lastPolledAtMs: await this.#lastPolls(cardId) };
  }

  async monthlyUsage(cardId: number, limit: number): Promise<MonthlyUsage[]> {
    const rows = await this.client.query<{ month: string; used_mb: number }>(SQL.monthlyUsage, [
      cardId,
      limit,
    ]);
    return rows.map((row) => ({ month: row.month, usedMb: row.used_mb }));
  }

  async count(): Promise<number> {
    const [row] = await this.client.query<{ count: number }>(SQL.count);
    return row?.count ?? 0;
  }

  async estimate(): Promise<number> {
    const [row] = await this.client.query<EstimateRow>(SQL.size);
    if (row === undefined || row.pages <= PAGES_COUNTED_EXACTLY) return this.count();
    const perPage = row.rows > 0 && row.known_pages > 0 ? row.rows / row.known_pages : CARDS_A_PAGE;
    return Math.round(perPage * row.pages);
  }

  list(filter: CardFilter, afterId: number, limit: number): Promise<CardStretch> {
    return cardStretch(this.client, filter, afterId, limit);
  }

  async lastId(): Promise<number> {
    const [row] = await this.client.query<{ last: number | null }>(SQL.lastId);
    return row?.last ?? 0;
  }

  async openImport(options: ImportSessionOptions = { dryRun: false }): Promise<CardImportSession> {
    return new SqlCardImportSession(this.client, options);
  }

  changeMark(): Promise<string> {
    return currentMark(this.client);
  }

  changesSince(mark: string, limit: number): Promise<CardChanges> {
    return cardChangesSince(this.client, mark, limit);
  }

  async #cardIdOf(cardIdOrIccid: string): Promise<number | null> {
    if (!/^\d{1,22}$/.test(cardIdOrIccid)) return null;
    if (cardIdOrIccid.length < 18)
      return Number.isSafeInteger(Number(cardIdOrIccid)) ? Number(cardIdOrIccid) : null;
    const [row] = await this.client.query<{ card_id: number }>(SQL.idOfIccid, [cardIdOrIccid]);
    return row?.card_id ?? null;
  }

  async #lastPolls(cardId: number): Promise<Partial<Record<TaskType, number>>> {
    const rows = await this.client.query<PollRow>(SQL.lastPolls, [cardId]);
    return Object.fromEntries(rows.map((row) => [row.task_type, row.at_ms]));
  }
}

function toCard(row: CardRow): Card {
  return {
    ...toMembership(row),
    iccid: row.iccid,
    status: row.status,
    stopped: row.stopped,
    allowanceMb: row.allowance_mb,
    usage: toUsage(row),
  };
}

function toUsage(row: CardRow): UsageMonth | null {
  if (row.usage_month === null) return null;
  return {
    month: row.usage_month,
    usedMb: row.used_mb,
    lastReadingMb: row.last_reading_mb,
    suspectedMb: row.suspected_mb,
    readAtMs: row.read_at_ms,
  };
}
