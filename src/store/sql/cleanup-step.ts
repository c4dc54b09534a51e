// One step of a cleanup run on one target: a batch of rows, or a partition. Used by cleanup.ts. Every step notes its
// progress in the transaction that removes; two instances that step at once take turns by the lock of the item's row.
import { CLEANUP_BATCH_ROWS, type CleanupBounds, type CleanupTarget } from '../../domain/cleanup.ts';
import { countWithin } from './bounded-count.ts';
import { detachPartition, dropDetached, expiredPartition } from './cleanup-partition.ts';
import { bindCondition, TARGET_TABLES, type TargetTable, walkedTable } from './cleanup-targets.ts';
import { monthStart } from './partitions.ts';
import type { SqlClient, SqlRunner } from './sql-client.ts';

export interface RunItem extends CleanupBounds {
  readonly runId: string;
  readonly position: number;
  readonly target: CleanupTarget;
  readonly changeMark: string | null;
  readonly dropping: string | null;
  /** Place of the last row that was looked at, `(page,row)`. */
  readonly walkedTo: string;
}

const NOT_WALKED = '(0,0)';

/** Pages looked at by one statement, and statements in one transaction while they find little. */
const WINDOW_PAGES = 128;
const WINDOWS_A_STEP = 64;
const PARTITION_COUNT_WITHIN_MS = 5_000;

/** @returns rows removed. */
export async function cleanupStep(client: SqlClient, item: RunItem): Promise<number> {
  const target = TARGET_TABLES[item.target];
  if (item.dropping !== null) return dropPartition(client, item, target, item.dropping);
  if (target.monthly && item.walkedTo === NOT_WALKED) {
    const partition = await expiredPartition(client, target.table, monthStart(item.firstKeptMonth));
    if (partition !== null) return notePartition(client, item, partition);
  }
  return client.transaction((tx) => walk(tx, item, target));
}

/** Writes down what is about to be dropped: from here on it goes, whoever does it. */
async function notePartition(client: SqlClient, item: RunItem, partition: string): Promise<number> {
  const everything = { sql: 'true', params: [] };
  const { rows } = await countWithin(client, partition, everything, PARTITION_COUNT_WITHIN_MS);
  await client.query(
    `UPDATE cleanup_run_items SET dropping = $3, dropping_rows = $4::bigint
     WHERE run_id = $1 AND position = $2::integer AND dropping IS NULL AND NOT finished`,
    [item.runId, item.position, partition, rows],
  );
  return 0;
}

async function dropPartition(
  client: SqlClient,
  { runId, position }: RunItem,
  { table }: TargetTable,
  partition: string,
): Promise<number> {
  await detachPartition(client, table, partition);
  let dropped = 0;
  await dropDetached(client, partition, async (tx) => {
    const rows = await tx.query<{ rows: number }>(
      `UPDATE cleanup_run_items SET deleted = deleted + dropping_rows, dropping = NULL
       WHERE run_id = $1 AND position = $2::integer AND dropping = $3 RETURNING dropping_rows AS rows`,
      [runId, position, partition],
    );
    dropped = rows[0]?.rows ?? 0;
    if (rows.length > 0) await countBatch(tx, runId);
    // Also what a failed run had left of it.
    await tx.query('UPDATE cleanup_run_items SET dropping = NULL WHERE dropping = $1', [partition]);
  });
  return dropped;
}

/** Goes on through the table from where the last step ended, until a batch is full or enough has been looked at. */
async function walk(tx: SqlRunner, item: RunItem, target: TargetTable): Promise<number> {
  const [mark] = await tx.query<{ walked_to: string }>(
    `SELECT walked_to::text AS walked_to FROM cleanup_run_items
     WHERE run_id = $1 AND position = $2::integer AND NOT finished FOR UPDATE`,
    [item.runId, item.position],
  );
  if (mark === undefined) return 0;
  const pages = await walkedPages(tx, item, target);
  const room = Math.floor(CLEANUP_BATCH_ROWS / target.rowsEach);
  let walkedTo = mark.walked_to;
  let deleted = 0;
  for (let window = 0; window < WINDOWS_A_STEP && pageOf(walkedTo) < pages && deleted < room; window += 1) {
    const batch = await removeWindow(tx, item, target, walkedTo, room - deleted);
    deleted += batch.deleted;
    walkedTo = batch.walkedTo;
  }
  await noteWalk(tx, item, { deleted, walkedTo, finished: pageOf(walkedTo) >= pages });
  if (deleted > 0) await countBatch(tx, item.runId);
  return deleted;
}

/** Pages of the table whose rows go one by one; 0 when there is no such table (any more, or yet). */
async function walkedPages(tx: SqlRunner, item: RunItem, target: TargetTable): Promise<number> {
  if (target.walked === null) return 0;
  const [row] = await tx.query<{ pages: number }>(
    `SELECT pg_relation_size(oid) / current_setting('block_size')::integer AS pages
     FROM pg_class WHERE oid = to_regclass($1) AND relispartition = $2::boolean`,
    [walkedTable(target, item.firstKeptMonth), target.monthly],
  );
  return row?.pages ?? 0;
}

/** Removes the expired rows of a window, in the order they lie in; of more than `limit` the first ones. */
async function removeWindow(
  tx: SqlRunner,
  item: RunItem,
  target: TargetTable,
  from: string,
  limit: number,
): Promise<{ deleted: number; walkedTo: string }> {
  const table = walkedTable(target, item.firstKeptMonth);
  const { sql, params } = bindCondition(target.walked ?? 'false', item, item.changeMark);
  const to = `(${pageOf(from) + WINDOW_PAGES},0)`;
  const [p1, p2, p3] = [1, 2, 3].map((n) => `$${params.length + n}`);
  const [row] = await tx.query<{ deleted: number; last: string | null }>(
    `WITH edge AS MATERIALIZED (
       SELECT ctid AS at FROM ${table} WHERE ctid > ${p1}::tid AND ctid < ${p2}::tid AND (${sql})
       ORDER BY ctid OFFSET ${p3}::integer - 1 LIMIT 1
     ), gone AS (
       DELETE FROM ${table}
       WHERE ctid > ${p1}::tid AND ctid <= coalesce((SELECT at FROM edge), ${p2}::tid) AND (${sql}) RETURNING 1
     )
     SELECT (SELECT count(*) FROM gone) AS deleted, (SELECT at::text FROM edge) AS last`,
    [...params, from, to, limit],
  );
  return { deleted: row?.deleted ?? 0, walkedTo: row?.last ?? to };
}

async function noteWalk(
  tx: SqlRunner,
  { runId, position, target }: RunItem,
  { deleted, walkedTo, finished }: { deleted: number; walkedTo: string; finished: boolean },
): Promise<void> {
  // What is counted at the end is the truth about what had expired; the count at the start may have been an estimate.
  await tx.query(
    `UPDATE cleanup_run_items SET deleted = deleted + $3::bigint, walked_to = $4::tid, finished = $5::boolean,
       total = CASE WHEN $5::boolean THEN deleted + $3::bigint ELSE total END
     WHERE run_id = $1 AND position = $2::integer`,
    [runId, position, deleted, walkedTo, finished],
  );
  if (finished) {
    await tx.query('UPDATE cleanup_configs SET last_run_at = clock_timestamp() WHERE target = $1', [target]);
  }
}

async function countBatch(tx: SqlRunner, runId: string): Promise<void> {
  await tx.query('UPDATE cleanup_runs SET batches = batches + 1 WHERE run_id = $1', [runId]);
}

/** The page of a row's place, `(page,row)`. */
function pageOf(place: string): number {
  return Number(place.slice(1, place.indexOf(',')));
}
