-- Polling configs, and the concurrency limits and pauses of operators: small tables, read as a whole.

-- part: fields
name, task_type, card_condition, carrier_id, interval_seconds, priority, status

-- name: configs.list
SELECT id, {fields} FROM polling_configs ORDER BY id

-- name: configs.create
-- $1 the config as JSON. Returns it.
INSERT INTO polling_configs ({fields})
SELECT {fields} FROM jsonb_populate_record(NULL::polling_configs, $1::jsonb)
RETURNING id, {fields}

-- name: configs.passUsedIds
-- If rows with chosen ids were inserted by plain SQL, new ids are given out after them.
SELECT setval(pg_get_serial_sequence('polling_configs', 'id'), (SELECT max(id) FROM polling_configs))

-- name: configs.update
-- $1 id, $2 the fields that change, as JSON. Returns the config.
UPDATE polling_configs c SET ({fields}) = (SELECT {fields} FROM jsonb_populate_record(c, $2::jsonb))
WHERE id = $1::integer
RETURNING id, {fields}

-- name: configs.remove
-- $1 id. Returns the config.
DELETE FROM polling_configs
WHERE id = $1::integer
RETURNING id, {fields}

-- name: configs.setConcurrency
-- $1 task type, $2 limit.
INSERT INTO concurrency_configs (task_type, max_concurrency) VALUES ($1, $2::integer)
ON CONFLICT (task_type) DO UPDATE SET max_concurrency = excluded.max_concurrency

-- name: configs.recordedLimits
-- Limit and pause of each task type; id and the rest are NULL where operators have paused nothing. The microseconds of its begin
-- name a pause. A maintenance window of the whole fleet is a pause; the one that ends last counts.
SELECT task_types.task_type, max_concurrency, held.id,
  extract(epoch FROM held.until - held.since)::double precision * 1000 AS lasts_ms,
  extract(epoch FROM held.until - clock_timestamp())::double precision * 1000 AS left_ms, held.reason, held.by,
  last.since AS "last_pause.since", last.until AS "last_pause.until"
FROM task_types
LEFT JOIN concurrency_configs c ON c.task_type = task_types.task_type
LEFT JOIN LATERAL (
  SELECT (extract(epoch FROM p.since) * 1000000)::bigint::text AS id, p.since, p.until, p.reason, p.paused_by AS by
  FROM pauses p WHERE p.task_type = task_types.task_type AND p.until > clock_timestamp()
  UNION ALL
  SELECT 'maintenance ' || w.id, w.starts_at, w.ends_at, w.reason, w.planned_by FROM maintenance_windows w
  WHERE w.over_at IS NULL AND w.carrier_id IS NULL AND coalesce(w.task_type, task_types.task_type) = task_types.task_type
    AND w.starts_at <= clock_timestamp() AND w.ends_at > clock_timestamp()
  ORDER BY until DESC, id LIMIT 1
) AS held ON true
-- The one that ended last, or is in force: what is late within an hour of its end may follow from it.
LEFT JOIN LATERAL (
  SELECT paused.since, paused.until FROM (
    SELECT p.since, p.until FROM pauses p WHERE p.task_type = task_types.task_type
    UNION ALL
    SELECT w.starts_at, coalesce(w.over_at, w.ends_at) FROM maintenance_windows w
    WHERE w.carrier_id IS NULL AND coalesce(w.task_type, task_types.task_type) = task_types.task_type
      AND w.starts_at <= clock_timestamp() AND coalesce(w.over_at, w.ends_at) > w.starts_at
  ) AS paused
  WHERE paused.until > clock_timestamp() - interval '1 hour' ORDER BY paused.until DESC LIMIT 1
) AS last ON true

-- name: configs.pause
-- $1 task types, $2 seconds, $3 reason, $4 the operator. Each pause of a type begins after the one before it, whatever the clock says.
INSERT INTO pauses AS p (task_type, since, until, reason, paused_by)
SELECT task_type, now_at, now_at + $2::integer * interval '1 second', $3, $4
FROM unnest($1::text[]) AS task_type, clock_timestamp() AS now_at
ON CONFLICT (task_type) DO UPDATE SET
  since = greatest(excluded.since, p.since + interval '1 microsecond'),
  until = excluded.until, reason = excluded.reason, paused_by = excluded.paused_by

-- name: configs.endPauses
-- $1 task types.
UPDATE pauses SET until = clock_timestamp() WHERE task_type = ANY ($1::text[]) AND until > clock_timestamp()

-- name: configs.ringMarks
SELECT config_id, task_type, (extract(epoch FROM handed_out_at) * 1000)::double precision AS handed_out_ms FROM ring_marks

-- name: configs.saveRingMarks
-- $1 marks as JSON. A config that was removed meanwhile has none.
INSERT INTO ring_marks (config_id, task_type, handed_out_at)
SELECT mark.config_id, mark.task_type, to_timestamp(mark.handed_out_ms / 1000)
FROM jsonb_to_recordset($1::jsonb) AS mark (config_id integer, task_type text, handed_out_ms double precision)
JOIN polling_configs c ON c.id = mark.config_id
ON CONFLICT (config_id, task_type) DO UPDATE SET handed_out_at = excluded.handed_out_at
