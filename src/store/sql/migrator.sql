-- The applied migrations.

-- name: migrator.createTable
CREATE TABLE IF NOT EXISTS cardpoll_migrations (
  id text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
)

-- name: migrator.tablePresent
SELECT to_regclass('cardpoll_migrations') IS NOT NULL AS present

-- name: migrator.applied
SELECT id, checksum, applied_at FROM cardpoll_migrations

-- name: migrator.record
-- $1 id, $2 checksum of the file.
INSERT INTO cardpoll_migrations (id, checksum) VALUES ($1, $2)
