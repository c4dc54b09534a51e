-- The applied migrations.

-- name: migrations.createTable
CREATE TABLE IF NOT EXISTS cardpoll_migrations (
  id text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
)

-- name: migrations.tablePresent
SELECT to_regclass('cardpoll_migrations') IS NOT NULL AS present

-- name: migrations.applied
SELECT id, checksum, applied_at FROM cardpoll_migrations

-- name: migrations.record
-- $1 id, $2 checksum of the file.
INSERT INTO cardpoll_migrations (id, checksum) VALUES ($1, $2)
