// Card records: reading them, and the doors to the change feed (card-changes.ts) and to imports
// (card-import-session.ts). What polls change is written by results.ts and stops.ts.
import type { Card, CardMembership } from '../../domain/card.ts';
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import type { UsageMonth } from '../../domain/usage-month.ts';
import type {
  CardChanges,
  CardFilter,
  CardImportSession,
  CardRecord,
  CardRecords,
  CardStretch,
  ImportSessionOptions,
  MonthlyUsage,
} from '../ports/card-records.ts';
import { cardChangesSince, currentMark } from './card-changes.ts';
import { SqlCardImportSession } from './card-import-session.ts';
import { cardStretch } from './card-list.ts';
import { type MembershipRow, toMembership } from './membership-row.ts';
import cardsByIds from './queries/cards-by-ids.sql';
import type { PreparedSql, SqlClient } from './sql-client.ts';

const BY_IDS: PreparedSql = { name: 'cards_by_ids', text: cardsByIds };
const PAGE: PreparedSql = {
  name: 'cards_page',
  text: `SELECT card_id, carrier_id, real_name_verified FROM cards
    WHERE card_id > $1::bigint ORDER BY card_id LIMIT $2::integer`,
};

/** As the planner does: rows a page when last analysed (-1: never), and the pages of now. */
const ESTIMATE = `SELECT reltuples::bigint AS rows, relpages AS known_pages,
    pg_relation_size(oid) / current_setting('block_size')::integer AS pages
  FROM pg_class WHERE oid = 'cards'::regclass`;
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

type PollsRow = Partial<Record<TaskType, number | null>>;

export class SqlCards implements CardRecords {
  constructor(private readonly client: SqlClient) {}

  async page(afterId: number, limit: number): Promise<CardMembership[]> {
    const rows = await this.client.query<MembershipRow>(PAGE, [afterId, limit]);
    return rows.map(toMembership);
  }

  async byIds(cardIds: readonly number[]): Promise<Card[]> {
    if (cardIds.length === 0) return [];
    const rows = await this.client.query<CardRow>(BY_IDS, [cardIds]);
    return rows.map(toCard);
  }

  async find(cardIdOrIccid: string): Promise<CardRecord | null> {
    const cardId = await this.#cardIdOf(cardIdOrIccid);
    if (cardId === null) return null;
    const [card] = await this.byIds([cardId]);
    return card === undefined ? null : { ...card, lastPolledAtMs: await this.#lastPolls(cardId) };
  }

  async monthlyUsage(cardId: number, limit: number): Promise<MonthlyUsage[]> {
    const rows = await this.client.query<{ month: string; used_mb: number }>(
      `SELECT to_char(month, 'YYYY-MM') AS month, used_mb FROM card_usage
       WHERE card_id = $1::bigint ORDER BY card_usage.month DESC LIMIT $2::integer`,
      [cardId, limit],
    );
    return rows.map((row) => ({ month: row.month, usedMb: row.used_mb }));
  }

  async count(): Promise<number> {
    const [row] = await this.client.query<{ count: number }>('SELECT count(*) AS count FROM cards');
    return row?.count ?? 0;
  }

  async estimate(): Promise<number> {
    const [row] = await this.client.query<EstimateRow>(ESTIMATE);
    if (row === undefined || row.pages <= PAGES_COUNTED_EXACTLY) return this.count();
    const perPage = row.rows > 0 && row.known_pages > 0 ? row.rows / row.known_pages : CARDS_A_PAGE;
    return Math.round(perPage * row.pages);
  }

  list(filter: CardFilter, afterId: number, limit: number): Promise<CardStretch> {
    return cardStretch(this.client, filter, afterId, limit);
  }

  async lastId(): Promise<number> {
    const [row] = await this.client.query<{ last: number | null }>('SELECT max(card_id) AS last FROM cards');
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
    const [row] = await this.client.query<{ card_id: number }>('SELECT card_id FROM cards WHERE iccid = $1', [
      cardIdOrIccid,
    ]);
    return row?.card_id ?? null;
  }

  async #lastPolls(cardId: number): Promise<Partial<Record<TaskType, number>>> {
    const columns = TASK_TYPES.map((type) => `(extract(epoch FROM ${type}_at) * 1000)::bigint AS ${type}`);
    const [row] = await this.client.query<PollsRow>(
      `SELECT ${columns.join(', ')} FROM card_polls WHERE card_id = $1::bigint`,
      [cardId],
    );
    return Object.fromEntries(Object.entries(row ?? {}).filter(([, atMs]) => atMs !== null));
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
