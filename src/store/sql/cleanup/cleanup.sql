-- Cleanup configs and the recorded cleanup runs.

-- name: cleanup.configs
-- $1 the targets this version knows.
SELECT id, target, retention_days, enabled, last_run_at
FROM cleanup_configs
WHERE target = ANY ($1::text[])
ORDER BY id

-- name: cleanup.updateConfig
-- $1 id, $2 retention in days and $3 enabled (NULL keeps), $4 the targets this version knows. Returns the config.
UPDATE cleanup_configs SET
  retention_days = coalesce($2::integer, retention_days), enabled = coalesce($3::boolean, enabled)
WHERE id = $1::integer AND target = ANY ($4::text[])
RETURNING id, target, retention_days, enabled, last_run_at

-- name: cleanup.begin
-- $1 run id, $2 the scheduled instant (epoch ms) or NULL, $3 change mark or NULL, $4 its targets in order, as JSON. No row when a
-- run is in progress, or was begun for that instant.
WITH begun AS (
  INSERT INTO cleanup_runs (run_id, scheduled_for) VALUES ($1, to_timestamp($2::float8 / 1000))
  ON CONFLICT DO NOTHING
  RETURNING run_id
), items AS (
  INSERT INTO cleanup_run_items (run_id, position, target, cutoff, first_kept_month, change_mark, total)
  SELECT run_id, position, target, to_timestamp(cutoff_ms / 1000.0), (first_kept_month || '-01')::date, $3::text, rows
  FROM begun, ROWS FROM (
    jsonb_to_recordset($4::jsonb) AS (target text, cutoff_ms bigint, rows bigint, first_kept_month text)
  ) WITH ORDINALITY AS item (target, cutoff_ms, rows, first_kept_month, position)
)
SELECT run_id FROM begun

-- name: cleanup.next
-- The run in progress with its first unfinished target; without a target when all are finished.
SELECT r.run_id, i.position, i.target, i.cutoff, to_char(i.first_kept_month, 'YYYY-MM') AS first_kept_month,
  i.change_mark, i.dropping, i.walked_to::text AS walked_to
FROM cleanup_runs r LEFT JOIN LATERAL (
  SELECT * FROM cleanup_run_items WHERE run_id = r.run_id AND NOT finished ORDER BY position LIMIT 1
) i ON true
WHERE r.status = 'running'

-- name: cleanup.skipTarget
-- $1 why the current target of the run cannot be cleaned.
UPDATE cleanup_run_items SET finished = true, error = $1
WHERE (run_id, position) = (
  SELECT i.run_id, i.position
  FROM cleanup_run_items i JOIN cleanup_runs r USING (run_id)
  WHERE r.status = 'running' AND NOT i.finished
  ORDER BY i.position
  LIMIT 1)

-- name: cleanup.cancel
-- $1 reason. Returns a row when a run is in progress. A concurrent step holds the lock of its target's row, so the rows that it
-- removes are counted before the item is closed.
WITH running AS (
  SELECT run_id FROM cleanup_runs WHERE status = 'running'
), closed AS (
  UPDATE cleanup_run_items i SET finished = true, error = $1 FROM running r
  WHERE i.run_id = r.run_id AND NOT i.finished
)
SELECT 1 FROM running

-- name: cleanup.finish
-- $1 run id. No row when another instance has finished it.
UPDATE cleanup_runs SET finished_at = clock_timestamp(), status = CASE
  WHEN EXISTS (SELECT FROM cleanup_run_items WHERE run_id = $1 AND error IS NOT NULL) THEN 'failed'
  ELSE 'completed' END
WHERE run_id = $1 AND status = 'running'
RETURNING 1

-- name: cleanup.run
-- One run, in one statement, so that batches and rows are of the same moment. $1 run id; NULL: the run begun last.
SELECT r.run_id, r.status,
  (SELECT coalesce(json_agg(json_build_object('target', i.target, 'total', i.total, 'deleted', i.deleted,
      'error', i.error) ORDER BY i.position), '[]')
    FROM cleanup_run_items i WHERE i.run_id = r.run_id) AS items,
  r.batches, r.started_at, r.finished_at
FROM cleanup_runs r
WHERE r.run_id = coalesce($1::text, (SELECT run_id FROM cleanup_runs ORDER BY started_at DESC LIMIT 1))
