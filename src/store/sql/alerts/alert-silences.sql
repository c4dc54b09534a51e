-- Silences of alerts that are in force.

-- name: alert_silences.list
SELECT id, rule_id, rule_type, task_type, reason, created_by AS by, created_at AS since, ends_at AS until
FROM alert_silences
WHERE ends_at > now()
ORDER BY id

-- name: alert_silences.forgetEnded
DELETE FROM alert_silences WHERE ends_at <= now()

-- name: alert_silences.create
-- $1 rule id or NULL, $2 rule type or NULL, $3 task type or NULL, $4 reason, $5 by whom, and its end, one of the two:
-- $6 epoch ms, $7 seconds from now. Returns the silence.
-- Its transaction may have waited for its turn, which is no part of its time.
INSERT INTO alert_silences (rule_id, rule_type, task_type, reason, created_by, created_at, ends_at)
VALUES ($1::integer, $2, $3, $4, $5, statement_timestamp(),
  coalesce(to_timestamp($6::float8 / 1000), statement_timestamp() + $7::float8 * interval '1 second'))
RETURNING id, rule_id, rule_type, task_type, reason, created_by AS by, created_at AS since, ends_at AS until

-- name: alert_silences.remove
-- $1 silence id. Returns the silence that was in force.
DELETE FROM alert_silences
WHERE id = $1::integer AND ends_at > now()
RETURNING id, rule_id, rule_type, task_type, reason, created_by AS by, created_at AS since, ends_at AS until
