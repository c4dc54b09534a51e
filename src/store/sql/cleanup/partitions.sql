-- Creates, detaches and drops monthly partitions. {table} and {partition} are names, quoted where they need to be, {storage}
-- the storage options of the partitions, {from} and {to} first days of months.

-- name: partitions.missing
-- Partitions of a month and so many after it that are not attached. $1 tables, $2 first day of the month, $3 months after it.
SELECT parent AS table, partition, month::date::text AS from, (month + interval '1 month')::date::text AS to
FROM unnest($1::text[]) AS parent,
  generate_series($2::timestamp, $2::timestamp + $3::integer * interval '1 month', '1 month') AS month,
  concat_ws('_', parent, to_char(month, 'YYYY_MM')) AS partition
WHERE NOT EXISTS (
  SELECT FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
  WHERE inhparent = parent::regclass AND child.relname = partition)
ORDER BY month, parent

-- name: partitions.create
CREATE TABLE {partition} (LIKE {table} INCLUDING ALL) {storage}

-- name: partitions.attach
-- A separate table that is attached afterwards: unlike CREATE ... PARTITION OF it blocks no other session.
ALTER TABLE {table} ATTACH PARTITION {partition} FOR VALUES FROM ('{from}') TO ('{to}')

-- name: partitions.expired
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

-- name: partitions.state
-- $1 partition. Returns whether its detaching was interrupted; no row for a detached partition.
SELECT inhdetachpending AS pending FROM pg_inherits WHERE inhrelid = to_regclass($1)

-- name: partitions.detach
ALTER TABLE {table} DETACH PARTITION {partition} CONCURRENTLY

-- name: partitions.finishDetaching
ALTER TABLE {table} DETACH PARTITION {partition} FINALIZE

-- name: partitions.drop
DROP TABLE IF EXISTS {partition}
