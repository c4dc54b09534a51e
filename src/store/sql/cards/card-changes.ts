// The change feed of cards: every committed change since a mark, including late commits. Used by cards.ts.
// migrations/0.2/0001_cards.sql explains how changes are recorded, client/change-mark.ts what a mark is.
//
// Reads are two index scans that return no rows without changes; called about once a second.
import type { CardMembership } from '../../../domain/cards/card.ts';
import { CardpollError } from '../../../platform/errors.ts';
import type { CardChanges } from '../../ports/records/card-records.ts';
import { type ChangeWindow, FINISHED, formatMark, parseMark } from '../client/change-mark.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { fill, statements } from '../client/statements.ts';
import file from './card-changes.sql';

const between = (table: string) => fill(statements(file).text('between'), { table });
const sql = statements(fill(file, { cards: between('cards'), removals: between('card_removals') }));

interface PageRow {
  readonly position: string;
}

interface RemovedRow extends PageRow {
  readonly cardId: number;
  readonly present: boolean;
}

export async function currentMark(client: SqlClient): Promise<string> {
  return String(await sql.on(client).scalar('snapshot'));
}

export async function cardChangesSince(client: SqlClient, mark: string, limit: number): Promise<CardChanges> {
  const { upper, ...begun } = parseMark(mark);
  const window = upper === null ? await newWindow(client, begun.lower) : { ...begun, upper };
  const read = <Row extends PageRow>(name: string, after: string) =>
    readPage<Row>(client, name, window, after, limit);
  const changed = await read<PageRow & CardMembership>('changed', window.changedAfter);
  const removed = await read<RemovedRow>('removed', window.removedAfter);
  const next = formatMark({
    ...window,
    changedAfter: nextAfter(changed, limit),
    removedAfter: nextAfter(removed, limit),
  });
  return {
    changed: changed.map(({ position: _, ...card }) => card),
    removed: removed.filter((row) => !row.present).map((row) => row.cardId),
    mark: next,
    // The window of an earlier call does not reach to the present.
    caughtUp: upper === null && next === window.upper,
  };
}

/** The window of everything from a snapshot to this instant. */
async function newWindow(client: SqlClient, lower: string): Promise<ChangeWindow> {
  const upper = await currentMark(client);
  if (xmaxOf(lower) > xmaxOf(upper)) {
    throw new CardpollError('conflict', 'change_mark_ahead', 'the change mark is ahead of the database', {
      hint: 'The database was restored from a copy: the rings must be initialised again.',
    });
  }
  // A change missing from a snapshot is not older than its xmin. If no transaction has ended since, nothing is missing.
  const start = upper === lower ? FINISHED : `${lower.split(':')[0]}.0`;
  return { lower, upper, changedAfter: start, removedAfter: start };
}

async function readPage<Row extends PageRow>(
  client: SqlClient,
  name: string,
  { lower, upper }: ChangeWindow,
  after: string,
  limit: number,
): Promise<Row[]> {
  if (after === FINISHED) return [];
  const [xid = '', cardId] = after.split('.');
  return sql.on(client).rows(name, lower, upper, xid, Number(cardId), limit);
}

function nextAfter(page: readonly PageRow[], limit: number): string {
  return page.length < limit ? FINISHED : (page.at(-1)?.position ?? FINISHED);
}

function xmaxOf(snapshot: string): bigint {
  return BigInt(snapshot.split(':')[1] as string);
}
