// Card records: reads and lists them, and offers the change feed (card-changes.ts) and imports (card-import.ts). results.ts and
// stops.ts write the columns that polls change.
import type { Card } from '../../../domain/cards/card.ts';
import { FILTER_FIELDS } from '../../../domain/cards/card-filter.ts';
import type { CardRecord, CardRecords, ListedCard } from '../../ports/records/card-records.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import { cardChangesSince, currentMark } from './card-changes.ts';
import { withColumns } from './card-columns.ts';
import { importChunk } from './card-import.ts';
import file from './cards.sql';

const sql = statements(withColumns(file));

/** A few milliseconds of counting: about 25,000 cards. */
const PAGES_COUNTED_EXACTLY = 350;
/** Cards per page of 8 kB, for a table that was never analysed, or last analysed during its first insert (0 rows, yet pages). */
const CARDS_A_PAGE = 70;
/** Cards that one call of `list` scans, however few of them match. */
const LOOKED_AT = 20_000;

type StoredUsage = { ofFormerIccid?: true | null };

/** A row without a card: the only row of a range in which no card matches. */
type StretchRow = ListedCard & { readonly cardId: number | null; readonly nextAfterId: number | null };

export function sqlCards(client: SqlClient): CardRecords {
  const db = sql.on(client);

  async function byIds(cardIds: readonly number[], answerTimeoutMs?: number): Promise<Card[]> {
    if (cardIds.length === 0) return [];
    const cards = await sql
      .on(client, answerTimeoutMs)
      .rows<Card & { usage: StoredUsage | null }>('byIds', cardIds);
    // The usual case has no field, as in the cache.
    for (const { usage } of cards) if (usage?.ofFormerIccid === null) delete usage.ofFormerIccid;
    return cards as Card[];
  }

  return {
    page: (afterId, limit) => db.rows('page', afterId, limit),
    byIds,

    async find(cardIdOrIccid) {
      if (!/^\d{1,22}$/.test(cardIdOrIccid)) return null;
      const cardId = await db.scalar<number>('idOf', cardIdOrIccid);
      const [card] = await byIds(cardId === null ? [] : [cardId]);
      if (card === undefined) return null;
      const polls = await db.scalar<CardRecord['lastPolledAtMs']>('lastPolls', card.cardId);
      return { ...card, lastPolledAtMs: polls ?? {} };
    },

    async lastPolls(taskType, cardIds) {
      const rows = await db.rows<{ cardId: number; atMs: number }>('lastPollsOf', taskType, cardIds);
      return new Map(rows.map(({ cardId, atMs }) => [cardId, atMs]));
    },

    monthlyUsage: (cardId, limit) => db.rows('monthlyUsage', cardId, limit),
    allowanceChangedAt: (cardId) => db.scalar<number>('allowanceChangedAt', cardId),
    count: () => db.count('count'),
    estimate: () => db.count('estimate', PAGES_COUNTED_EXACTLY, CARDS_A_PAGE, false),
    counted: () => db.count('estimate', PAGES_COUNTED_EXACTLY, CARDS_A_PAGE, true),

    async list(filter, afterId, limit) {
      const values = FILTER_FIELDS.map(([field]) => filter[field] ?? null);
      const isOpen = values.every((value) => value === null);
      const window = isOpen ? limit : Math.max(limit, LOOKED_AT);
      const rows = await db.rows<StretchRow>('stretch', afterId, window, limit, ...values);
      const found = rows.filter(({ cardId }) => cardId !== null);
      return {
        cards: found.map(({ nextAfterId: _, ...card }) => card),
        nextAfterId: rows[0]?.nextAfterId ?? null,
      };
    },

    lastId: () => db.count('lastId'),
    importChunk: (rows, options) => importChunk(client, rows, options),
    changeMark: () => currentMark(client),
    changesSince: (mark, limit) => cardChangesSince(client, mark, limit),
  };
}
