-- Maintenance windows: a handful of rows.

-- part: fields
id, task_type, carrier_id, starts_at, ends_at, reason, planned_by AS by, begun_at

-- name: maintenance.open
-- The windows that are not over, the first to start first.
SELECT {fields} FROM maintenance_windows WHERE over_at IS NULL ORDER BY starts_at, id

-- name: maintenance.plan
-- $1 the window as JSON, without an id; $2 its start and $3 its end in epoch milliseconds.
INSERT INTO maintenance_windows (task_type, carrier_id, starts_at, ends_at, reason, planned_by)
SELECT task_type, carrier_id, to_timestamp($2::float8 / 1000), to_timestamp($3::float8 / 1000), reason, planned_by
FROM jsonb_populate_record(NULL::maintenance_windows, $1::jsonb)
RETURNING {fields}

-- name: maintenance.cancel
-- $1 id. Returns the window that is over now; none where it was over, or never planned.
UPDATE maintenance_windows SET over_at = clock_timestamp() WHERE id = $1::integer AND over_at IS NULL
RETURNING {fields}

-- name: maintenance.begin
-- Returns the windows whose start has come since the last look.
UPDATE maintenance_windows SET begun_at = clock_timestamp()
WHERE over_at IS NULL AND begun_at IS NULL AND starts_at <= clock_timestamp()
RETURNING {fields}

-- name: maintenance.end
-- Returns the windows whose end has come since the last look.
UPDATE maintenance_windows SET over_at = ends_at WHERE over_at IS NULL AND ends_at <= clock_timestamp()
RETURNING {fields}

-- name: maintenance.forget
-- Windows that have been over for a week: the audit trail has them.
DELETE FROM maintenance_windows WHERE over_at < clock_timestamp() - interval '7 days'
