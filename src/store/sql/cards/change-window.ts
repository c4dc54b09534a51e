// Marks of the change feed, and the window of changes they stand for. Used by card-changes.ts.
//
// A mark is the text of a PostgreSQL snapshot (`xmin:xmax:xip,xip`): "everything visible in it is known". While a
// window of changes is read page by page, its mark is `lower/upper/xid.card/xid.card`: changes not visible in `lower`
// but visible in `upper`, and the last change and the last removal already handed out (`-`: that list is finished).
// What commits after `upper` belongs to the next window, so a page needs no state on the server and no open
// transaction, and a mark may be kept for as long as one likes.
import { CardpollError } from '../../../platform/errors.ts';

export interface Position {
  /** Transaction id as decimal text: it may exceed 2^53. */
  readonly xid: string;
  readonly cardId: number;
}

export interface ChangeWindow {
  readonly lower: string;
  readonly upper: string;
  /** null: that list is finished. */
  readonly changedAfter: Position | null;
  readonly removedAfter: Position | null;
}

const SNAPSHOT = /^\d+:\d+:[\d,]*$/;
const POSITION = /^(\d+)\.(\d+)$/;

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
