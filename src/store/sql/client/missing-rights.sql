-- Finds the operations of cardpoll that PostgreSQL would refuse, before they are needed: docs/security.md, "The PostgreSQL user".

-- name: missing_rights.all
-- PostgreSQL's words of refusal, one row for each kind of right, and whether only the creation and removal of monthly partitions
-- needs it. The tables are the tables in the schema of `cards` that have its owner, without partitions, which are used through
-- their tables. No row before the tables exist: their creator owns them.
WITH schema AS (
  SELECT n.oid, nspname AS name, relowner AS owner
  FROM pg_class t JOIN pg_namespace n ON n.oid = relnamespace WHERE t.oid = to_regclass('cards')
), tables AS (
  SELECT t.oid, relname AS name, relkind = 'p' AS parted
  FROM pg_class t JOIN schema s ON s.oid = relnamespace AND s.owner = relowner
  WHERE relkind IN ('r', 'p') AND NOT relispartition
), refused AS (
  SELECT 1 AS place, false AS "monthly", 'permission denied for table ' || min(name) AS message FROM tables
  WHERE EXISTS (SELECT FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) kind WHERE NOT has_table_privilege(oid, kind))
  UNION ALL
  SELECT 2, false, 'permission denied for sequence ' || min(relname) FROM pg_sequence JOIN pg_class q ON q.oid = seqrelid JOIN schema s ON s.oid = relnamespace AND s.owner = relowner
  -- The sequences of identity columns need no right.
  WHERE NOT has_sequence_privilege(seqrelid, 'USAGE')
    AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = seqrelid AND deptype = 'i')
  UNION ALL
  SELECT 3, false, 'permission denied for function ' || min(proname) FROM pg_proc p
  WHERE (p.pronamespace IN (SELECT oid FROM schema) AND p.proowner IN (SELECT owner FROM schema)
    OR p.oid IN ('pg_advisory_xact_lock(bigint)'::regprocedure, 'pg_current_snapshot()'::regprocedure,
      'pg_visible_in_snapshot(xid8, pg_snapshot)'::regprocedure)) AND NOT has_function_privilege(p.oid, 'EXECUTE')
  UNION ALL
  SELECT 4, false, format('permission denied to create temporary tables in database "%s"', current_database())
  FROM schema WHERE NOT has_database_privilege(current_database(), 'TEMPORARY')
  UNION ALL
  SELECT 5, true, 'permission denied for schema ' || name FROM schema WHERE NOT has_schema_privilege(oid, 'CREATE')
  UNION ALL
  SELECT 6, true, 'must be owner of table ' || min(t.name) FROM tables t, schema s
  WHERE t.parted AND NOT pg_has_role(s.owner, 'USAGE')
)
SELECT current_user::text AS role, current_database()::text AS database, "monthly", message
FROM refused WHERE message IS NOT NULL ORDER BY place
