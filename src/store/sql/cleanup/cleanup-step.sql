-- One step of a cleanup run on one target; a run's item is its progress with a target. {table} and {partition} are names,
-- {expired} a condition of cleanup-targets.sql.

-- name: cleanup_step.expiredPartition
-- The oldest partition that ends before the first kept month, or one that a failed run left detached. $1 target,
-- $2 first kept month (its first day). Its name is quoted where it needs to be.
SELECT child.oid::regclass::text AS name
FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
WHERE inhparent = $1::text::regclass
  AND (regexp_match(pg_get_expr(child.relpartbound, child.oid), 'TO \(''([0-9-]+)''\)'))[1]::date <= $2::date
UNION
SELECT dropping FROM cleanup_run_items
WHERE target = $1 AND to_regclass(dropping) IS NOT NULL
  -- Attached partitions are expired or not by the retention of this run.
  AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass(dropping) AND NOT inhdetachpending)
ORDER BY name
LIMIT 1

-- name: cleanup_step.partitionRows
-- The rows of a partition, for bounded-count.ts.
SELECT FROM {partition}

-- name: cleanup_step.noteDropping
-- $1 run, $2 position of the item, $3 partition that is about to be dropped, $4 its rows.
UPDATE cleanup_run_items SET dropping = $3, dropping_rows = $4::bigint
WHERE run_id = $1 AND position = $2::integer AND dropping IS NULL AND NOT finished

-- name: cleanup_step.noteDropped
-- $1 run, $2 position of the item, $3 partition. Returns the rows counted; no row when another instance was first.
WITH dropped AS (
  UPDATE cleanup_run_items SET deleted = deleted + dropping_rows, dropping = NULL
  WHERE run_id = $1 AND position = $2::integer AND dropping = $3
  RETURNING dropping_rows AS rows
), failed AS (
  -- Left by a failed run.
  UPDATE cleanup_run_items SET dropping = NULL WHERE dropping = $3 AND (run_id, position) <> ($1, $2::integer)
), batch AS (
  UPDATE cleanup_runs SET batches = batches + 1 WHERE run_id = $1 AND EXISTS (SELECT FROM dropped)
)
SELECT rows FROM dropped

-- name: cleanup_step.drop
DROP TABLE IF EXISTS {partition}

-- name: cleanup_step.lockItem
-- $1 run, $2 position of the item. Returns its progress; no row when it is finished.
SELECT walked_to::text AS walked_to
FROM cleanup_run_items
WHERE run_id = $1 AND position = $2::integer AND NOT finished
FOR UPDATE

-- name: cleanup_step.pages
-- $1 table, $2 whether it must be a partition. Returns its pages; no row if there is no such table.
SELECT pg_relation_size(oid) / current_setting('block_size')::integer AS pages
FROM pg_class
WHERE oid = to_regclass($1) AND relispartition = $2::boolean

-- name: cleanup_step.removeWindow
-- Removes the expired rows of a table between two places, in physical order. $1 place after which it begins, $2 place before
-- which it ends, $3 rows at most.
-- Returns how many were removed and, when there were more than $3, the place of the last of them. Scans the range of places
-- without an index.
WITH edge AS MATERIALIZED (
  SELECT ctid AS at FROM {table}
  WHERE ctid > $1::tid AND ctid < $2::tid AND ({expired})
  ORDER BY ctid
  OFFSET $3::integer - 1
  LIMIT 1
), gone AS (
  DELETE FROM {table}
  WHERE ctid > $1::tid AND ctid <= coalesce((SELECT at FROM edge), $2::tid) AND ({expired})
  RETURNING 1
)
SELECT (SELECT count(*) FROM gone) AS deleted, (SELECT at::text FROM edge) AS last

-- name: cleanup_step.noteWalk
-- $1 run, $2 position of the item, $3 rows removed, $4 place up to which rows were scanned, $5 whether the walk is complete. The
-- count at the end is the exact number of expired rows; the count at the start may be an estimate.
WITH walked AS (
  UPDATE cleanup_run_items SET
    deleted = deleted + $3::bigint, walked_to = $4::tid, finished = $5::boolean,
    total = CASE WHEN $5::boolean THEN deleted + $3::bigint ELSE total END
  WHERE run_id = $1 AND position = $2::integer
  RETURNING target
), last_run AS (
  UPDATE cleanup_configs SET last_run_at = clock_timestamp() WHERE $5::boolean AND target = (SELECT target FROM walked)
)
UPDATE cleanup_runs SET batches = batches + 1 WHERE run_id = $1 AND $3::bigint > 0
