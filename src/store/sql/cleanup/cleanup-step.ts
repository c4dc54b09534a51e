// One step of a cleanup run on one target: a batch of rows, or a partition. Used by cleanup.ts. Every step notes its
// progress in the transaction that removes; two instances that step at once take turns by the lock of the item's row.
import { CLEANUP_BATCH_ROWS } from '../../../domain/cleanup.ts';
import { countWithin } from '../client/bounded-count.ts';
import { countOf } from '../client/rows.ts';
import type { SqlClient, SqlRunner } from '../client/sql-client.ts';
import { fill, statements } from '../client/statements.ts';
import file from './cleanup-step.sql';
import { type ExpiredOf, type WalkedTable, walkedTable } from './cleanup-targets.ts';
import { detachPartition, dropDetached, expiredPartition, monthStart } from './partitions.ts';

const sql = statements(file);

export interface RunItem extends ExpiredOf {
  readonly runId: string;
  readonly position: number;
  readonly dropping: string | null;
  /** Place of the last row that was looked at, `(page,row)`. */
  readonly walkedTo: string;
}

const NOT_WALKED = '(0,0)';

/** Pages looked at by one statement, and statements in one transaction while they find little. */
const WINDOW_PAGES = 128;
const WINDOWS_A_STEP = 64;

/** @returns rows removed. */
export async function cleanupStep(client: SqlClient, item: RunItem): Promise<number> {
  if (item.dropping !== null) return dropPartition(client, item, item.dropping);
  const walked = walkedTable(item);
  if (walked.monthly && item.walkedTo === NOT_WALKED) {
    const partition = await expiredPartition(client, item.target, monthStart(item.firstKeptMonth));
    if (partition !== null) return notePartition(client, item, partition);
  }
  return client.transaction((tx) => walk(tx, item, walked));
}

/** Notes the partition before it is dropped: from here on the run drops it, whichever instance continues the run. */
async function notePartition(client: SqlClient, item: RunItem, partition: string): Promise<number> {
  const { rows } = await countWithin(client, fill(sql('partitionRows'), { partition }), []);
  await client.query(sql('noteDropping'), [item.runId, item.position, partition, rows]);
  return 0;
}

async function dropPartition(
  client: SqlClient,
  { runId, position, target }: RunItem,
  partition: string,
): Promise<number> {
  await detachPartition(client, target, partition);
  let dropped = 0;
  await dropDetached(client, partition, async (tx) => {
    const rows = await tx.query<{ rows: number }>(sql('countDropped'), [runId, position, partition]);
    dropped = rows[0]?.rows ?? 0;
    if (rows.length > 0) await countBatch(tx, runId);
    await tx.query(sql('forgetDropping'), [partition]);
  });
  return dropped;
}

/** Goes on through the table from where the last step ended, until a batch is full or enough has been looked at. */
async function walk(tx: SqlRunner, item: RunItem, walked: WalkedTable): Promise<number> {
  const [mark] = await tx.query<{ walkedTo: string }>(sql('lockItem'), [item.runId, item.position]);
  if (mark === undefined) return 0;
  const pages = await pagesOf(tx, walked);
  const room = Math.floor(CLEANUP_BATCH_ROWS / walked.rowsEach);
  let walkedTo = mark.walkedTo;
  let deleted = 0;
  for (let window = 0; window < WINDOWS_A_STEP && pageOf(walkedTo) < pages && deleted < room; window += 1) {
    const batch = await removeWindow(tx, walked, walkedTo, room - deleted);
    deleted += batch.deleted;
    walkedTo = batch.walkedTo;
  }
  await noteWalk(tx, item, { deleted, walkedTo, finished: pageOf(walkedTo) >= pages });
  if (deleted > 0) await countBatch(tx, item.runId);
  return deleted;
}

/** Pages of the table whose rows go one by one; 0 when there is no such table (any more, or yet). */
async function pagesOf(tx: SqlRunner, { table, monthly, expired }: WalkedTable): Promise<number> {
  if (expired === null) return 0;
  return countOf(tx.query(sql('pages'), [table, monthly]));
}

/** Removes the expired rows of a window, in the order they lie in; of more than `limit` the first ones. */
async function removeWindow(
  tx: SqlRunner,
  { table, expired }: WalkedTable,
  from: string,
  limit: number,
): Promise<{ deleted: number; walkedTo: string }> {
  const to = `(${pageOf(from) + WINDOW_PAGES},0)`;
  const statement = fill(sql('removeWindow'), { table, expired: expired ?? 'false' });
  const [row] = await tx.query<{ deleted: number; last: string | null }>(statement, [from, to, limit]);
  return { deleted: row?.deleted ?? 0, walkedTo: row?.last ?? to };
}

async function noteWalk(
  tx: SqlRunner,
  { runId, position, target }: RunItem,
  { deleted, walkedTo, finished }: { deleted: number; walkedTo: string; finished: boolean },
): Promise<void> {
  await tx.query(sql('noteWalk'), [runId, position, deleted, walkedTo, finished]);
  if (finished) {
    await tx.query(sql('noteLastRun'), [target]);
  }
}

async function countBatch(tx: SqlRunner, runId: string): Promise<void> {
  await tx.query(sql('countBatch'), [runId]);
}

/** The page of a row's place, `(page,row)`. */
function pageOf(place: string): number {
  return Number(place.slice(1, place.indexOf(',')));
}
