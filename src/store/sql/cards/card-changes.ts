// The change feed of cards: every committed change since a mark, never missing a late commit. Used by cards.ts.
// change-window.ts explains marks and windows, migrations/0001_cards.sql how changes are recorded.
//
// Reads are two index scans that find nothing when nothing changed; called about once a second.
import type { CardMembership } from '../../../domain/cards/card.ts';
import { CardpollError } from '../../../platform/errors.ts';
import type { CardChanges } from '../../ports/records/card-records.ts';
import type { PreparedSql, SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './card-changes.sql';
import { type ChangeWindow, formatMark, newWindow, type Position, parseMark } from './change-window.ts';

const SQL = statements(file, 'snapshot', 'changed', 'removed');

interface PageRow {
  readonly changedXid: string;
  readonly cardId: number;
}

type ChangedRow = PageRow & CardMembership;

interface RemovedRow extends PageRow {
  readonly present: boolean;
}

export async function currentMark(client: SqlClient): Promise<string> {
  const [row] = await client.query<{ mark: string }>(SQL.snapshot);
  if (row === undefined)
    throw new CardpollError('internal', 'no_snapshot', 'the database returned no snapshot');
  return row.mark;
}

export async function cardChangesSince(client: SqlClient, mark: string, limit: number): Promise<CardChanges> {
  // An empty answer means "caught up": a page with nothing to tell is followed by the next one at once.
  for (let at = mark; ; ) {
    const { window, isNew } = await openWindow(client, at);
    const changed = await readPage<ChangedRow>(client, SQL.changed, window, window.changedAfter, limit);
    const removed = await readPage<RemovedRow>(client, SQL.removed, window, window.removedAfter, limit);
    const gone = removed.filter((row) => !row.present).map((row) => row.cardId);
    const rest = {
      ...window,
      changedAfter: nextAfter(changed, limit),
      removedAfter: nextAfter(removed, limit),
    };
    at = formatMark(rest);
    const isCaughtUp = isNew && at === window.upper;
    if (isCaughtUp || changed.length > 0 || gone.length > 0) {
      return { changed: changed.map(({ changedXid: _, ...card }) => card), removed: gone, mark: at };
    }
  }
}

/** The window a mark stands in, or a new one from the mark to this instant. */
async function openWindow(
  client: SqlClient,
  mark: string,
): Promise<{ window: ChangeWindow; isNew: boolean }> {
  const { lower, window } = parseMark(mark);
  if (window !== null) return { window, isNew: false };
  const upper = await currentMark(client);
  if (xmaxOf(lower) > xmaxOf(upper)) {
    throw new CardpollError('conflict', 'change_mark_ahead', 'the change mark is ahead of the database', {
      hint: 'The database was restored from a copy: the rings must be initialised again.',
    });
  }
  // No transaction has ended since the mark: there is nothing to look for.
  const fresh = newWindow(lower, upper);
  return {
    window: upper === lower ? { ...fresh, changedAfter: null, removedAfter: null } : fresh,
    isNew: true,
  };
}

async function readPage<Row extends PageRow>(
  client: SqlClient,
  sql: PreparedSql,
  { lower, upper }: ChangeWindow,
  after: Position | null,
  limit: number,
): Promise<Row[]> {
  if (after === null) return [];
  return client.query<Row>(sql, [lower, upper, after.xid, after.cardId, limit]);
}

function nextAfter(page: readonly PageRow[], limit: number): Position | null {
  const last = page.at(-1);
  return last === undefined || page.length < limit ? null : { xid: last.changedXid, cardId: last.cardId };
}

function xmaxOf(snapshot: string): bigint {
  return BigInt(snapshot.split(':')[1] as string);
}
