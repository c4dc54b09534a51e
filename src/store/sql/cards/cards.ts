// Card records: reading and listing them, and the doors to the change feed (card-changes.ts) and to imports
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
  ListedCard,
  MonthlyUsage,
} from '../../ports/records/card-records.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import { cardChangesSince, currentMark } from './card-changes.ts';
import { withColumns } from './card-columns.ts';
import { SqlCardImportSession } from './card-import-session.ts';
import file from './cards.sql';

const SQL = statements(
  withColumns(file),
  'page',
  'byIds',
  'idOfIccid',
  'lastPolls',
  'lastPollsOf',
  'monthlyUsage',
  'count',
  'size',
  'lastId',
  'stretch',
);

/** A few milliseconds of counting: about 25,000 cards. */
const PAGES_COUNTED_EXACTLY = 350;
/** Of 8 kB, in a table never analysed, or last while its first rows were on their way (0 rows, yet pages). */
const CARDS_A_PAGE = 70;
/** Cards that one call of `list` looks at, however few of them match. */
const LOOKED_AT = 20_000;

interface EstimateRow {
  readonly rows: number;
  readonly knownPages: number;
  readonly pages: number;
}

/** A card with the newest month of its usage; `month` is null before the first reading. */
type CardRow = Omit<Card, 'usage'> &
  Omit<UsageMonth, 'month' | 'jump'> &
  JumpRow & { readonly month: string | null };

/** Nulls when there is none. */
interface JumpRow {
  readonly jumpFromMb: number | null;
  readonly jumpFromUsedMb: number | null;
  readonly jumpAtMs: number | null;
}

/** Without a card: the one row of a stretch in which none matches. */
type StretchRow = ListedCard & {
  readonly cardId: number | null;
  readonly lastId: number | null;
  readonly lookedAt: number;
};

export class SqlCards implements CardRecords {
  constructor(private readonly client: SqlClient) {}

  page(afterId: number, limit: number): Promise<CardMembership[]> {
    return this.client.query<CardMembership>(SQL.page, [afterId, limit]);
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
    return card === undefined ? null : { ...card, lastPolledAtMs: await this.#lastPollsOfCard(cardId) };
  }

  async lastPolls(taskType: TaskType, cardIds: readonly number[]): Promise<Map<number, number>> {
    const rows = await this.client.query<{ cardId: number; atMs: number }>(SQL.lastPollsOf, [
      taskType,
      cardIds,
    ]);
    return new Map(rows.map(({ cardId, atMs }) => [cardId, atMs]));
  }

  monthlyUsage(cardId: number, limit: number): Promise<MonthlyUsage[]> {
    return this.client.query<MonthlyUsage>(SQL.monthlyUsage, [cardId, limit]);
  }

  async count(): Promise<number> {
    const [row] = await this.client.query<{ count: number }>(SQL.count);
    return row?.count ?? 0;
  }

  async estimate(): Promise<number> {
    const [row] = await this.client.query<EstimateRow>(SQL.size);
    if (row === undefined || row.pages <= PAGES_COUNTED_EXACTLY) return this.count();
    const perPage = row.rows > 0 && row.knownPages > 0 ? row.rows / row.knownPages : CARDS_A_PAGE;
    return Math.round(perPage * row.pages);
  }

  async list(
    { carrierId, status, stopped }: CardFilter,
    afterId: number,
    limit: number,
  ): Promise<CardStretch> {
    const isOpen = carrierId === null && status === null && stopped === null;
    const window = isOpen ? limit : Math.max(limit, LOOKED_AT);
    const params = [afterId, window, limit, carrierId, status, stopped];
    const rows = await this.client.query<StretchRow>(SQL.stretch, params);
    const cards = rows.flatMap(({ lastId: _, lookedAt: __, ...card }) =>
      card.cardId === null ? [] : [card],
    );
    return { cards, nextAfterId: nextAfter(rows[0], cards, window, limit) };
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
    const [row] = await this.client.query<{ cardId: number }>(SQL.idOfIccid, [cardIdOrIccid]);
    return row?.cardId ?? null;
  }

  async #lastPollsOfCard(cardId: number): Promise<Partial<Record<TaskType, number>>> {
    const rows = await this.client.query<{ taskType: TaskType; atMs: number }>(SQL.lastPolls, [cardId]);
    return Object.fromEntries(rows.map((row) => [row.taskType, row.atMs]));
  }
}

function toCard(row: CardRow): Card {
  const { month, usedMb, lastReadingMb, suspectedMb, readAtMs, ...others } = row;
  const { jumpFromMb: fromMb, jumpFromUsedMb: fromUsedMb, jumpAtMs: atMs, ...card } = others;
  const jump = fromMb === null || atMs === null ? null : { fromMb, fromUsedMb, atMs };
  const usage = month === null ? null : { month, usedMb, lastReadingMb, suspectedMb, jump, readAtMs };
  return { ...card, usage };
}

/** A full stretch may have left matching cards behind its last one; else everything up to the last id was looked at. */
function nextAfter(
  row: StretchRow | undefined,
  cards: readonly ListedCard[],
  window: number,
  limit: number,
): number | null {
  if (cards.length === limit) return cards.at(-1)?.cardId ?? null;
  return row === undefined || row.lookedAt < window ? null : row.lastId;
}
