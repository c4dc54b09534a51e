-- Polling configs and durable concurrency limits: small tables, read as a whole.

-- name: configs.list
SELECT id, name, task_type, card_condition, carrier_id, interval_seconds, priority, status
FROM polling_configs
ORDER BY id

-- name: configs.create
-- $1 name, $2 task type, $3 card condition, $4 carrier or NULL, $5 interval in seconds, $6 priority, $7 status. Returns it.
INSERT INTO polling_configs (name, task_type, card_condition, carrier_id, interval_seconds, priority, status)
VALUES ($1, $2, $3, $4::integer, $5::integer, $6::integer, $7::smallint)
RETURNING id, name, task_type, card_condition, carrier_id, interval_seconds, priority, status

-- name: configs.passUsedIds
-- If rows with chosen ids were inserted by plain SQL, new ids are given out after them.
SELECT setval(pg_get_serial_sequence('polling_configs', 'id'), (SELECT max(id) FROM polling_configs))

-- name: configs.update
-- $1 id; NULL keeps: $2 name, $3 task type, $4 card condition, $7 interval in seconds, $8 priority, $9 status; $5 whether the
-- carrier is set, to $6 (NULL: every carrier). Returns the config.
UPDATE polling_configs SET
  name = coalesce($2, name), task_type = coalesce($3, task_type), card_condition = coalesce($4, card_condition),
  carrier_id = CASE WHEN $5 THEN $6::integer ELSE carrier_id END,
  interval_seconds = coalesce($7::integer, interval_seconds),
  priority = coalesce($8::integer, priority), status = coalesce($9::smallint, status)
WHERE id = $1::integer
RETURNING id, name, task_type, card_condition, carrier_id, interval_seconds, priority, status

-- name: configs.remove
-- $1 id. Returns the config.
DELETE FROM polling_configs
WHERE id = $1::integer
RETURNING id, name, task_type, card_condition, carrier_id, interval_seconds, priority, status

-- name: configs.concurrency
SELECT task_type, max_concurrency FROM concurrency_configs

-- name: configs.setConcurrency
-- $1 task type, $2 limit.
INSERT INTO concurrency_configs (task_type, max_concurrency) VALUES ($1, $2::integer)
ON CONFLICT (task_type) DO UPDATE SET max_concurrency = excluded.max_concurrency
