// The change feed of cards: every committed change since a mark, never missing a late commit. Used by cards.ts.
// migrations/0001_cards.sql explains how changes are recorded.
//
// A mark is the text of a PostgreSQL snapshot (`xmin:xmax:xip,xip`): "everything visible in it is known". While a
// window of changes is read page by page, its mark is `lower/upper/xid.card/xid.card`: changes not visible in `lower`
// but visible in `upper`, and the last change and the last removal already handed out (`-`: that list is finished).
// What commits after `upper` belongs to the next window, so a page needs no state on the server and no open
// transaction, and a mark may be kept for as long as one likes.
//
// Reads are two index scans that find nothing when nothing changed; called about once a second.
import type { CardMembership } from '../../../domain/cards/card.ts';
import { CardpollError } from '../../../platform/errors.ts';
import type { CardChanges } from '../../ports/records/card-records.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './card-changes.sql';

const sql = statements(file);

interface Position {
  /** Transaction id as decimal text: it may exceed 2^53. */
  readonly xid: string;
  readonly cardId: number;
}

interface ChangeWindow {
  readonly lower: string;
  readonly upper: string;
  /** null: that list is finished. */
  readonly changedAfter: Position | null;
  readonly removedAfter: Position | null;
}

const SNAPSHOT = /^\d+:\d+:[\d,]*$/;
const POSITION = /^(\d+)\.(\d+)$/;

interface PageRow {
  readonly changedXid: string;
  readonly cardId: number;
}

type ChangedRow = PageRow & CardMembership;

interface RemovedRow extends PageRow {
  readonly present: boolean;
}

export async function currentMark(client: SqlClient): Promise<string> {
  return String(await sql.on(client).scalar('snapshot'));
}

export async function cardChangesSince(client: SqlClient, mark: string, limit: number): Promise<CardChanges> {
  // An empty answer means "caught up": a page with nothing to tell is followed by the next one at once.
  for (let at = mark; ; ) {
    const { window, isNew } = await openWindow(client, at);
    const changed = await readPage<ChangedRow>(client, 'changed', window, window.changedAfter, limit);
    const removed = await readPage<RemovedRow>(client, 'removed', window, window.removedAfter, limit);
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
  name: string,
  { lower, upper }: ChangeWindow,
  after: Position | null,
  limit: number,
): Promise<Row[]> {
  if (after === null) return [];
  return sql.on(client).rows(name, lower, upper, after.xid, after.cardId, limit);
}

function nextAfter(page: readonly PageRow[], limit: number): Position | null {
  const last = page.at(-1);
  return last === undefined || page.length < limit ? null : { xid: last.changedXid, cardId: last.cardId };
}

function xmaxOf(snapshot: string): bigint {
  return BigInt(snapshot.split(':')[1] as string);
}

/** The window of everything between two snapshots, from its start. */
export function newWindow(lower: string, upper: string): ChangeWindow {
  // Whatever is missing from a snapshot is not older than its xmin.
  const start = { xid: lower.split(':')[0] as string, cardId: 0 };
  return { lower, upper, changedAfter: start, removedAfter: start };
}

/** @returns the window to go on with, or the snapshot from which a new window starts. Throws `invalid`. */
export function parseMark(mark: string): { lower: string; window: ChangeWindow | null } {
  const [lower = '', upper, changed = '', removed = '', ...rest] = mark.split('/');
  if (SNAPSHOT.test(lower) && upper === undefined) return { lower, window: null };
  if (rest.length > 0 || !SNAPSHOT.test(lower) || upper === undefined || !SNAPSHOT.test(upper))
    throw badMark(mark);
  const changedAfter = parsePosition(changed, mark);
  const removedAfter = parsePosition(removed, mark);
  return { lower, window: { lower, upper, changedAfter, removedAfter } };
}

export function formatMark(window: ChangeWindow): string {
  const { lower, upper, changedAfter, removedAfter } = window;
  if (changedAfter === null && removedAfter === null) return upper;
  return [lower, upper, formatPosition(changedAfter), formatPosition(removedAfter)].join('/');
}

function parsePosition(text: string, mark: string): Position | null {
  if (text === '-') return null;
  const match = POSITION.exec(text);
  if (match === null) throw badMark(mark);
  return { xid: match[1] as string, cardId: Number(match[2]) };
}

function formatPosition(position: Position | null): string {
  return position === null ? '-' : `${position.xid}.${position.cardId}`;
}

function badMark(mark: string): CardpollError {
  return new CardpollError('invalid', 'bad_change_mark', `'${mark}' is not a change mark`);
}
