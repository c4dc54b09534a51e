-- The database as a whole.

-- name: sql_record_store.ping
SELECT 1

-- name: sql_record_store.now
SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now_ms
