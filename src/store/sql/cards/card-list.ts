// One stretch of the cards in id order, filtered. Used by cards.ts. Looks at a bounded number of cards a call, however
// few of them match.
import type { CardFilter, CardStretch, ListedCard } from '../../ports/records/card-records.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import { withColumns } from './card-columns.ts';
import file from './card-list.sql';

const SQL = statements(withColumns(file), 'stretch');

const LOOKED_AT = 20_000;

/** Without a card: the one row of a stretch in which none matches. */
type StretchRow = ListedCard & {
  readonly cardId: number | null;
  readonly lastId: number | null;
  readonly lookedAt: number;
};

export async function cardStretch(
  client: SqlClient,
  filter: CardFilter,
  afterId: number,
  limit: number,
): Promise<CardStretch> {
  const window = isOpen(filter) ? limit : Math.max(limit, LOOKED_AT);
  const rows = await client.query<StretchRow>(SQL.stretch, [
    afterId,
    window,
    limit,
    filter.carrierId,
    filter.status,
    filter.stopped,
  ]);
  const cards = rows.flatMap(({ lastId: _, lookedAt: __, ...card }) => (card.cardId === null ? [] : [card]));
  return { cards, nextAfterId: nextAfter(rows[0], cards, window, limit) };
}

function isOpen({ carrierId, status, stopped }: CardFilter): boolean {
  return carrierId === null && status === null && stopped === null;
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
