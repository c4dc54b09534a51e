// The change feed of cards: every committed change since a mark, never missing a late commit. Used by cards.ts.
// change-window.ts explains marks and windows, migrations/0001_cards.sql how changes are recorded.
//
// Reads are two index scans that find nothing when nothing changed; called about once a second.
import { CardpollError } from '../../platform/errors.ts';
import type { CardChanges } from '../record-store.ts';
import { type ChangeWindow, formatMark, newWindow, type Position, parseMark } from './change-window.ts';
import changedCards from './queries/changed-cards.sql';
import removedCards from './queries/removed-cards.sql';
import type { SqlClient } from './sql-client.ts';

interface PageRow {
  readonly changed_xid: string;
  readonly card_id: number;
}

interface ChangedRow extends PageRow {
  readonly carrier_id: number;
  readonly real_name_verified: boolean;
}

interface RemovedRow extends PageRow {
  readonly present: boolean;
}

export async function currentMark(client: SqlClient): Promise<string> {
  const [row] = await client.query<{ mark: string }>('SELECT pg_current_snapshot()::text AS mark');
  if (row === undefined)
    throw new CardpollError('internal', 'no_snapshot', 'the database returned no snapshot');
  return row.mark;
}

export async function cardChangesSince(client: SqlClient, mark: string, limit: number): Promise<CardChanges> {
  const window = await openWindow(client, mark);
  if (window === null) return { changed: [], removed: [], mark };
  const changed = await readPage<ChangedRow>(client, changedCards, window, window.changedAfter, limit);
  const removed = await readPage<RemovedRow>(client, removedCards, window, window.removedAfter, limit);
  return {
    changed: changed.map((row) => ({
      cardId: row.card_id,
      carrierId: row.carrier_id,
      realNameVerified: row.real_name_verified,
    })),
    removed: removed.filter((row) => !row.present).map((row) => row.card_id),
    mark: formatMark({
      ...window,
      changedAfter: nextAfter(changed, limit),
      removedAfter: nextAfter(removed, limit),
    }),
  };
}

/** @returns null when no transaction has ended since the mark. */
async function openWindow(client: SqlClient, mark: string): Promise<ChangeWindow | null> {
  const { lower, window } = parseMark(mark);
  if (window !== null) return window;
  const upper = await currentMark(client);
  if (upper === lower) return null;
  if (xmaxOf(lower) > xmaxOf(upper)) {
    throw new CardpollError('conflict', 'change_mark_ahead', 'the change mark is ahead of the database', {
      hint: 'The database was restored from a copy: the rings must be initialised again.',
    });
  }
  return newWindow(lower, upper);
}

async function readPage<Row extends PageRow>(
  client: SqlClient,
  sql: string,
  { lower, upper }: ChangeWindow,
  after: Position | null,
  limit: number,
): Promise<Row[]> {
  if (after === null) return [];
  return client.query<Row>(sql, [lower, upper, after.xid, after.cardId, limit]);
}

function nextAfter(page: readonly PageRow[], limit: number): Position | null {
  const last = page.at(-1);
  return last === undefined || page.length < limit ? null : { xid: last.changed_xid, cardId: last.card_id };
}

function xmaxOf(snapshot: string): bigint {
  return BigInt(snapshot.split(':')[1] as string);
}
