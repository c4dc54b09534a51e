-- What the database says of itself. Of its server: as far as any user who can log in may see it.

-- name: sql_record_store.ping
SELECT 1

-- name: sql_record_store.now
SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now_ms

-- name: sql_record_store.fleet
-- Which fleet the database is.
SELECT fleet_id::text AS id, name FROM fleet

-- name: sql_record_store.identity
-- Its system identifier; its timeline, which changes when a standby is promoted; and the numbers of the database and of its
-- table of cards, which change when a dump is restored on the same server.
SELECT concat_ws('/', system_identifier, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), d.oid,
  coalesce(to_regclass('cards')::oid, 0)) AS identity
FROM pg_control_system(), pg_database d
WHERE d.datname = current_database()

-- name: sql_record_store.server
-- $1 application name under which daemons are connected.
-- oldest_writer: what has been writing for the longest: a session, or a transaction that is prepared. Only a member of
-- pg_read_all_stats sees the sessions of other users.
-- usage_months: months for which both usage tables have a partition. None before the tables exist.
SELECT current_setting('server_version_num')::integer / 10000 AS major_version,
  current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
    - coalesce(current_setting('reserved_connections', true)::integer, 0) AS max_connections,
  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::integer AS connections,
  (SELECT count(*) FROM pg_stat_activity WHERE application_name = $1::text)::integer AS own_connections,
  CASE WHEN pg_is_in_recovery() THEN 'standby'
    WHEN current_setting('default_transaction_read_only')::boolean THEN 'setting' END AS read_only_by,
  current_setting('synchronous_standby_names') <> '' AS waits_for_standby,
  (SELECT count(*) FROM pg_stat_replication)::integer AS standbys,
  writer.open_ms AS "oldest_writer.open_ms", writer.remedy AS "oldest_writer.remedy",
  ARRAY(
    SELECT replace(right(child.relname::text, 7), '_', '-') AS month
    FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
    WHERE inhparent IN (to_regclass('card_usage'), to_regclass('usage_records'))
      AND child.relname ~ '_[0-9]{4}_[0-9]{2}$'
    GROUP BY month
    HAVING count(*) = 2
    ORDER BY month
  ) AS usage_months
FROM (VALUES (1)) AS one LEFT JOIN (
  SELECT (extract(epoch FROM clock_timestamp() - xact_start) * 1000)::float8 AS open_ms,
    format('SELECT pg_terminate_backend(%s)', pid) AS remedy
  FROM pg_stat_activity WHERE datname = current_database() AND backend_xid IS NOT NULL AND xact_start IS NOT NULL
  UNION ALL
  SELECT (extract(epoch FROM clock_timestamp() - prepared) * 1000)::float8, format('ROLLBACK PREPARED %L', gid)
  FROM pg_prepared_xacts WHERE database = current_database()
  ORDER BY open_ms DESC
  LIMIT 1
) AS writer ON true
