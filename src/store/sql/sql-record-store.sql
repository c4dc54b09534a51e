-- Facts about the database and, as far as any user who can log in may see them, about its server.

-- name: sql_record_store.ping
SELECT 1

-- name: sql_record_store.now
SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now_ms

-- name: sql_record_store.fleet
-- The fleet that the database belongs to.
SELECT fleet_id::text AS id, name FROM fleet

-- name: sql_record_store.identity
-- Its system identifier; its timeline, which changes when a standby is promoted; and the numbers of the database and of its table
-- of cards, which change when a dump is restored on the same server.
SELECT concat_ws('/', system_identifier, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), d.oid,
  coalesce(to_regclass('cards')::oid, 0)) AS identity
FROM pg_control_system(), pg_database d
WHERE d.datname = current_database()

-- name: sql_record_store.lockHolders
-- The sessions that keep daemons from reading or writing rows of the tables of polls and orders, $1 their application name; a change
-- of a table by cardpoll itself may wait. Of each table: those that hold a lock which excludes rows; without one those that wait for
-- such a lock ahead of the daemons, behind a session that would let them pass; else the end of the chain. pg_blocking_pids has 0 for
-- a prepared transaction. Only members of pg_read_all_stats see the statement and the start of a session of another user.
WITH RECURSIVE locks AS (
  SELECT coalesce(l.pid, 0) AS pid, l.granted, l.waitstart, coalesce(i.indrelid, l.relation) AS relation,
    l.mode NOT IN ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock') AS is_exclusive
  FROM pg_locks l LEFT JOIN pg_index i ON i.indexrelid = l.relation
  WHERE l.locktype = 'relation' AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
), waiting AS (
  SELECT l.* FROM locks l JOIN pg_stat_activity a USING (pid) JOIN pg_class t ON t.oid = l.relation
  WHERE NOT l.granted AND NOT l.is_exclusive AND a.application_name = $1::text
    AND t.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('cards'))
    AND t.relname ~ '^(cards$|card_|usage_records|polling_configs$|ring_marks$|stop_control$)'
), chain AS (
  SELECT relation, unnest(pg_blocking_pids(pid)) AS pid FROM waiting
  UNION
  SELECT relation, unnest(pg_blocking_pids(pid)) FROM chain WHERE pid <> 0
), ranked AS (
  SELECT relation, pid, CASE
      WHEN EXISTS (SELECT FROM locks WHERE locks.pid = chain.pid AND locks.relation = chain.relation AND is_exclusive AND granted) THEN 0
      WHEN EXISTS (SELECT FROM locks WHERE locks.pid = chain.pid AND locks.relation = chain.relation AND is_exclusive) THEN 1
      WHEN cardinality(pg_blocking_pids(pid)) = 0 THEN 2
    END AS rank
  FROM chain
), blocking AS (
  SELECT relation, pid, rank, min(rank) OVER (PARTITION BY relation) AS least FROM ranked
)
SELECT relation::regclass::text AS "table", pid,
  coalesce(nullif(concat_ws(' ', usename, nullif(application_name, '')), ''), backend_type, '') AS name,
  extract(epoch FROM clock_timestamp() - xact_start)::double precision * 1000 AS open_ms, nullif(query, '<insufficient privilege>') AS query,
  CASE WHEN pid <> 0 THEN format(CASE rank WHEN 1 THEN 'SELECT pg_cancel_backend(%s)' ELSE 'SELECT pg_terminate_backend(%s)' END, pid) END
    AS remedy,
  rank = 1 AS is_waiting, coalesce(application_name = $1::text, false) AND rank < 2 AS is_own,
  (SELECT extract(epoch FROM clock_timestamp() - min(w.waitstart))::double precision * 1000 FROM waiting w
    WHERE w.relation = blocking.relation) AS waited_ms,
  relation = ANY (ARRAY[to_regclass('cards'), to_regclass('card_removals'), to_regclass('card_stops'), to_regclass('polling_configs'),
    to_regclass('ring_marks')]::oid[]) AS of_schedule
FROM blocking LEFT JOIN pg_stat_activity USING (pid)
WHERE rank = least
ORDER BY is_own, open_ms DESC NULLS LAST, pid
LIMIT 3

-- name: sql_record_store.server
-- $1 application name under which daemons are connected. snapshots: what keeps vacuum from removing rows of this database, the
-- oldest first: sessions that write or read by an old snapshot, prepared transactions, replication slots, and standbys that send
-- feedback without a slot. transactions: how many have begun since. open_ms is NULL for a slot or a standby, which have no start
-- time, and for a session of another user unless this user is a member of pg_read_all_stats. Such a session has no backend_type
-- either. software: the beginning of `PostgreSQL 17.12 (Debian 17.12-0+deb13u1) on x86_64-pc-linux-gnu, compiled by ...`.
-- usage_months: months for which both usage tables have a partition. None before the tables exist.
SELECT current_setting('server_version_num')::integer / 10000 AS major_version,
  split_part(split_part(version(), ' (', 1), ' on ', 1) AS software,
  current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
    - coalesce(current_setting('reserved_connections', true)::integer, 0) AS max_connections,
  (SELECT count(*) FROM pg_stat_activity
    WHERE usesysid IS NOT NULL AND coalesce(backend_type, 'client backend') = 'client backend')::integer AS connections,
  (SELECT count(*) FROM pg_stat_activity WHERE application_name = $1::text)::integer AS own_connections,
  CASE WHEN pg_is_in_recovery() THEN 'standby'
    WHEN current_setting('default_transaction_read_only')::boolean THEN 'setting' END AS read_only_by,
  current_setting('synchronous_standby_names') <> '' AS waits_for_standby,
  (SELECT count(*) FROM pg_stat_replication)::integer AS standbys,
  (SELECT coalesce(json_agg(json_build_object('kind', kind, 'name', name, 'openMs', open_ms, 'transactions', transactions,
      'remedy', remedy) ORDER BY transactions DESC), '[]')
    FROM (
      SELECT CASE WHEN datid IS NULL THEN 'standby' ELSE 'session' END AS kind,
        concat_ws(' ', usename, nullif(application_name, '')) AS name,
        CASE WHEN datid IS NOT NULL THEN extract(epoch FROM clock_timestamp() - xact_start) * 1000 END AS open_ms,
        greatest(age(backend_xid), age(backend_xmin)) AS transactions,
        CASE WHEN datid IS NOT NULL THEN format('SELECT pg_terminate_backend(%s)', pid) END AS remedy
      FROM pg_stat_activity
      WHERE (datname = current_database() OR datid IS NULL) AND num_nonnulls(backend_xid, backend_xmin) > 0
        -- VACUUM ignores the snapshots of other VACUUMs.
        AND pid <> pg_backend_pid() AND NOT EXISTS (SELECT FROM pg_stat_progress_vacuum v WHERE v.pid = pg_stat_activity.pid)
      UNION ALL
      SELECT 'prepared', gid, extract(epoch FROM clock_timestamp() - prepared) * 1000, age(transaction),
        format('ROLLBACK PREPARED %L', gid)
      FROM pg_prepared_xacts WHERE database = current_database()
      UNION ALL
      SELECT 'slot', slot_name, NULL, age(xmin),
        CASE WHEN NOT active THEN format('SELECT pg_drop_replication_slot(%L)', slot_name) END
      FROM pg_replication_slots WHERE xmin IS NOT NULL
      ORDER BY transactions DESC
      LIMIT 10
    ) AS holder) AS snapshots,
  ARRAY(
    SELECT replace(right(child.relname::text, 7), '_', '-') AS month
    FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
    WHERE inhparent IN (to_regclass('card_usage'), to_regclass('usage_records'))
      AND child.relname ~ '_[0-9]{4}_[0-9]{2}$'
    GROUP BY month
    HAVING count(*) = 2
    ORDER BY month
  ) AS usage_months,
  pg_database_size(current_database())::double precision AS database_bytes,
  (SELECT coalesce(json_agg(json_build_object('month', month, 'bytes', bytes) ORDER BY month), '[]')
    FROM (
      SELECT replace(right(child.relname::text, 7), '_', '-') AS month, pg_total_relation_size(child.oid) AS bytes
      FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
      WHERE inhparent = to_regclass('usage_records') AND child.relname ~ '_[0-9]{4}_[0-9]{2}$' AND pg_relation_size(child.oid) > 0
    ) AS partition) AS usage_records
