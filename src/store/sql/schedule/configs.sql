-- Polling configs and durable concurrency limits: small tables, read as a whole.

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

-- name: configs.concurrency
SELECT task_type, max_concurrency FROM concurrency_configs

-- name: configs.setConcurrency
-- $1 task type, $2 limit.
INSERT INTO concurrency_configs (task_type, max_concurrency) VALUES ($1, $2::integer)
ON CONFLICT (task_type) DO UPDATE SET max_concurrency = excluded.max_concurrency

-- name: configs.ringMarks
SELECT config_id, task_type, (extract(epoch FROM handed_out_at) * 1000)::double precision AS handed_out_ms FROM ring_marks

-- name: configs.saveRingMarks
-- $1 marks as JSON. A config that was removed meanwhile has none.
INSERT INTO ring_marks (config_id, task_type, handed_out_at)
SELECT mark.config_id, mark.task_type, to_timestamp(mark.handed_out_ms / 1000)
FROM jsonb_to_recordset($1::jsonb) AS mark (config_id integer, task_type text, handed_out_ms double precision)
JOIN polling_configs c ON c.id = mark.config_id
ON CONFLICT (config_id, task_type) DO UPDATE SET handed_out_at = excluded.handed_out_at
