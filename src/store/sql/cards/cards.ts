// Card records: reading and listing them, and the doors to the change feed (card-changes.ts) and to imports
// (card-import.ts). What polls change is written by results.ts and stops.ts.
import type { Card } from '../../../domain/cards/card.ts';
import type { TaskType } from '../../../domain/task-type.ts';
import type { CardRecords, ListedCard } from '../../ports/records/card-records.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import { cardChangesSince, currentMark } from './card-changes.ts';
import { withColumns } from './card-columns.ts';
import { importChunk } from './card-import.ts';
import file from './cards.sql';

const sql = statements(withColumns(file));

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

/** Without a card: the one row of a stretch in which none matches. */
type StretchRow = ListedCard & {
  readonly cardId: number | null;
  readonly lastId: number | null;
  readonly lookedAt: number;
};

export function sqlCards(client: SqlClient): CardRecords {
  const db = sql.on(client);

  async function byIds(cardIds: readonly number[], answerTimeoutMs?: number): Promise<Card[]> {
    return cardIds.length === 0 ? [] : sql.on(client, answerTimeoutMs).rows('byIds', cardIds);
  }

  async function cardIdOf(cardIdOrIccid: string): Promise<number | null> {
    if (!/^\d{1,22}$/.test(cardIdOrIccid)) return null;
    if (cardIdOrIccid.length < 18)
      return Number.isSafeInteger(Number(cardIdOrIccid)) ? Number(cardIdOrIccid) : null;
    return db.scalar('idOfIccid', cardIdOrIccid);
  }

  const count = () => db.count('count');

  return {
    page: (afterId, limit) => db.rows('page', afterId, limit),
    byIds,

    async find(cardIdOrIccid) {
      const cardId = await cardIdOf(cardIdOrIccid);
      if (cardId === null) return null;
      const [card] = await byIds([cardId]);
      if (card === undefined) return null;
      const rows = await db.rows<{ taskType: TaskType; atMs: number }>('lastPolls', cardId);
      return { ...card, lastPolledAtMs: Object.fromEntries(rows.map((row) => [row.taskType, row.atMs])) };
    },

    async lastPolls(taskType, cardIds) {
      const rows = await db.rows<{ cardId: number; atMs: number }>('lastPollsOf', taskType, cardIds);
      return new Map(rows.map(({ cardId, atMs }) => [cardId, atMs]));
    },

    monthlyUsage: (cardId, limit) => db.rows('monthlyUsage', cardId, limit),
    count,

    async estimate() {
      const { rows, knownPages, pages } = await db.one<EstimateRow>('size');
      if (pages <= PAGES_COUNTED_EXACTLY) return count();
      return Math.round((rows > 0 && knownPages > 0 ? rows / knownPages : CARDS_A_PAGE) * pages);
    },

    async list({ carrierId, status, stopped }, afterId, limit) {
      const isOpen = carrierId === null && status === null && stopped === null;
      const window = isOpen ? limit : Math.max(limit, LOOKED_AT);
      const rows = await db.rows<StretchRow>('stretch', afterId, window, limit, carrierId, status, stopped);
      const found = rows.filter(({ cardId }) => cardId !== null);
      const cards = found.map(({ lastId: _, lookedAt: __, ...card }) => card);
      return { cards, nextAfterId: nextAfter(rows[0], cards, window, limit) };
    },

    lastId: () => db.count('lastId'),
    importChunk: (rows, options) => importChunk(client, rows, options),
    changeMark: () => currentMark(client),
    changesSince: (mark, limit) => cardChangesSince(client, mark, limit),
  };
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
