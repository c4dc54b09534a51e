-- Detaches the partition of a month from its table and drops it. {table} and {partition} are names, quoted where they need
-- to be.

-- name: cleanup_partition.expired
-- The oldest partition that ends before the first kept month, or one that a failed run left detached. $1 table, $2 first
-- kept month (its first day), $3 target. Its name is quoted where it needs to be.
SELECT child.oid::regclass::text AS name
FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
WHERE inhparent = $1::regclass
  AND (regexp_match(pg_get_expr(child.relpartbound, child.oid), 'TO \(''([0-9-]+)''\)'))[1]::date <= $2::date
UNION
SELECT dropping FROM cleanup_run_items WHERE target = $3 AND to_regclass(dropping) IS NOT NULL
ORDER BY name
LIMIT 1

-- name: cleanup_partition.state
-- $1 partition. Returns whether its detaching was interrupted; no row for a detached partition.
SELECT inhdetachpending AS pending FROM pg_inherits WHERE inhrelid = to_regclass($1)

-- name: cleanup_partition.detach
ALTER TABLE {table} DETACH PARTITION {partition} CONCURRENTLY

-- name: cleanup_partition.finishDetaching
ALTER TABLE {table} DETACH PARTITION {partition} FINALIZE

-- name: cleanup_partition.drop
DROP TABLE IF EXISTS {partition}
