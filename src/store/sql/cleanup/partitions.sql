-- Creates and detaches monthly partitions. {table} and {partition} are names, quoted where necessary, {storage} the storage
-- options of the partitions, {from} and {to} first days of months.

-- name: partitions.missing
-- The partitions of a month and the following ones that are not attached. $1 tables, $2 first day of the month, $3 number of
-- months after it.
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
-- Creates a separate table first and attaches it: unlike CREATE ... PARTITION OF this blocks no other session.
ALTER TABLE {table} ATTACH PARTITION {partition} FOR VALUES FROM ('{from}') TO ('{to}')

-- name: partitions.state
-- $1 partition. Returns whether its detaching was interrupted; no row for a detached partition.
SELECT inhdetachpending AS pending FROM pg_inherits WHERE inhrelid = to_regclass($1)

-- name: partitions.detach
ALTER TABLE {table} DETACH PARTITION {partition} CONCURRENTLY

-- name: partitions.finishDetaching
ALTER TABLE {table} DETACH PARTITION {partition} FINALIZE
