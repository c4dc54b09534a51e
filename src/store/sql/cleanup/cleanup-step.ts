// One step of a cleanup run on one target: a batch of rows, or a partition. Used by cleanup.ts. Every step records its progress
// in the transaction that removes; two instances that step at once take turns by the lock of the item's row.
import { CLEANUP_BATCH_ROWS } from '../../../domain/cleanup.ts';
import { countWithin } from '../client/bounded-count.ts';
import type { SqlClient, SqlRunner } from '../client/sql-client.ts';
import { fill, statements } from '../client/statements.ts';
import { limitLockWaits } from '../client/transaction-bounds.ts';
import file from './cleanup-step.sql';
import { type ExpiredOf, type WalkedTable, walkedTable } from './cleanup-targets.ts';
import { detachPartition, monthStart } from './partitions.ts';

const sql = statements(file);

export interface RunItem extends ExpiredOf {
  readonly runId: string;
  readonly position: number;
  readonly dropping: string | null;
  /** Place of the last scanned row, `(page,row)`. */
  readonly walkedTo: string;
}

const NOT_WALKED = '(0,0)';

/** Pages scanned by one statement, and statements in one transaction while they find little. */
const WINDOW_PAGES = 128;
const WINDOWS_A_STEP = 64;

/** None of our statements uses a detached table; only a vacuum or another client may still hold it. */
const DROP_LOCK_TIMEOUT_MS = 1_000;

/** @returns rows removed. */
export async function cleanupStep(client: SqlClient, item: RunItem): Promise<number> {
  if (item.dropping !== null) return dropPartition(client, item, item.dropping);
  const walked = walkedTable(item);
  if (walked.monthly && item.walkedTo === NOT_WALKED) {
    const until = monthStart(item.firstKeptMonth);
    const partition = await sql.on(client).scalar<string>('expiredPartition', item.target, until);
    if (partition !== null) return notePartition(client, item, partition);
  }
  return client.transaction((tx) => walk(tx, item, walked));
}

/** Records the partition before the drop: from here on the run drops it, whichever instance continues the run. */
async function notePartition(client: SqlClient, item: RunItem, partition: string): Promise<number> {
  const { rows } = await countWithin(client, fill(sql.text('partitionRows'), { partition }), []);
  await sql.on(client).run('noteDropping', item.runId, item.position, partition, rows);
  return 0;
}

async function dropPartition(
  client: SqlClient,
  { runId, position, target }: RunItem,
  partition: string,
): Promise<number> {
  await detachPartition(client, target, partition);
  return client.transaction(async (tx) => {
    await limitLockWaits(tx, DROP_LOCK_TIMEOUT_MS);
    const rows = await sql.on(tx).count('noteDropped', runId, position, partition);
    await tx.query(fill(sql.text('drop'), { partition }));
    return rows;
  });
}

/** Continues through the table from the end of the last step, until a batch is full or enough pages are scanned. */
async function walk(tx: SqlRunner, { runId, position }: RunItem, walked: WalkedTable): Promise<number> {
  const db = sql.on(tx);
  let walkedTo = await db.scalar<string>('lockItem', runId, position);
  if (walkedTo === null) return 0;
  // 0 if the table does not exist, or none of its rows is removed individually.
  const pages = walked.expired === null ? 0 : await db.count('pages', walked.table, walked.monthly);
  const room = Math.floor(CLEANUP_BATCH_ROWS / walked.rowsEach);
  let deleted = 0;
  for (let window = 0; window < WINDOWS_A_STEP && pageOf(walkedTo) < pages && deleted < room; window += 1) {
    const batch = await removeWindow(tx, walked, walkedTo, room - deleted);
    deleted += batch.deleted;
    walkedTo = batch.walkedTo;
  }
  await db.run('noteWalk', runId, position, deleted, walkedTo, pageOf(walkedTo) >= pages);
  return deleted;
}

/** Removes the expired rows of a window, in physical order; only the first `limit` of them. */
async function removeWindow(
  tx: SqlRunner,
  { table, expired }: WalkedTable,
  from: string,
  limit: number,
): Promise<{ deleted: number; walkedTo: string }> {
  const to = `(${pageOf(from) + WINDOW_PAGES},0)`;
  const statement = fill(sql.text('removeWindow'), { table, expired: expired ?? 'false' });
  const [row] = await tx.query<{ deleted: number; last: string | null }>(statement, [from, to, limit]);
  return { deleted: row?.deleted ?? 0, walkedTo: row?.last ?? to };
}

/** The page of a row's place, `(page,row)`. */
function pageOf(place: string): number {
  return Number(place.slice(1, place.indexOf(',')));
}
