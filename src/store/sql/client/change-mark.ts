// The marks of the change feed of cards (cards/card-changes.ts). The cleanup keeps removals that come after one
// (cleanup/cleanup-targets.ts).
//
// A mark is the text of a PostgreSQL snapshot (`xmin:xmax:xip,xip`): "everything visible in it is known". While a window of
// changes is read page by page, its mark is `lower/upper/xid.card/xid.card`: changes not visible in `lower` but visible in
// `upper`, and the last change and the last removal already handed out (`-`: that list is finished). Commits after `upper` belong
// to the next window, so a page needs no state on the server and no open transaction, and a mark stays valid indefinitely.
import { CardpollError } from '../../../platform/errors.ts';

const SNAPSHOT = String.raw`\d+:\d+:[\d,]*`;
const POSITION = String.raw`\d+\.\d+|-`;
const MARK = new RegExp(`^(${SNAPSHOT})(?:/(${SNAPSHOT})/(${POSITION})/(${POSITION}))?$`);
/** Replaces a position: that list is finished. */
export const FINISHED = '-';

/** A mark in its parts. Without `upper` a new window starts at `lower`. */
interface ChangeMark {
  readonly lower: string;
  readonly upper: string | null;
  readonly changedAfter: string;
  readonly removedAfter: string;
}

export type ChangeWindow = ChangeMark & { readonly upper: string };

/** @throws CardpollError `invalid` */
export function parseMark(mark: string): ChangeMark {
  const [, lower, upper = null, changedAfter = FINISHED, removedAfter = FINISHED] = MARK.exec(mark) ?? [];
  if (lower === undefined)
    throw new CardpollError('invalid', 'bad_change_mark', `'${mark}' is not a change mark`);
  return { lower, upper, changedAfter, removedAfter };
}

export function formatMark({ lower, upper, changedAfter, removedAfter }: ChangeWindow): string {
  const isFinished = changedAfter === FINISHED && removedAfter === FINISHED;
  return isFinished ? upper : [lower, upper, changedAfter, removedAfter].join('/');
}
