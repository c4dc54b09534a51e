-- Creates monthly partitions. {table} and {partition} are names, {storage} the storage options of the partitions, {from}
-- and {to} first days of months.

-- name: partitions.attached
-- Which of the partitions exist. $1 tables, $2 names of partitions.
SELECT child.relname::text AS name
FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
WHERE inhparent = ANY ($1::text[]::regclass[]) AND child.relname = ANY ($2::text[])

-- name: partitions.create
CREATE TABLE {partition} (LIKE {table} INCLUDING ALL) {storage}

-- name: partitions.attach
-- A separate table that is attached afterwards: unlike CREATE ... PARTITION OF it blocks no other session.
ALTER TABLE {table} ATTACH PARTITION {partition} FOR VALUES FROM ('{from}') TO ('{to}')
