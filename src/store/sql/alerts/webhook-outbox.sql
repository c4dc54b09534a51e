-- Notifications that wait for delivery. The number of the attempt is the fence.

-- name: webhook_outbox.claim
-- Claims due notifications for one attempt each. $1 most now, $2 most under claim for one URL, $3 lease in ms.
-- Two senders that choose the same row meet on its lock; the second finds it claimed and leaves it.
WITH busy AS MATERIALIZED (
  SELECT url, count(*) AS claims
  FROM webhook_outbox
  WHERE status = 'pending' AND claimed_until > now()
  GROUP BY url
), due AS (
  SELECT o.id, o.url, o.next_attempt_at,
    row_number() OVER (PARTITION BY o.url ORDER BY o.next_attempt_at, o.id) AS place
  FROM webhook_outbox o
  WHERE o.status = 'pending' AND o.next_attempt_at <= now()
    AND (o.claimed_until IS NULL OR o.claimed_until <= now())
    AND NOT EXISTS (
      SELECT FROM webhook_outbox e WHERE e.alert_id = o.alert_id AND e.id < o.id AND e.status = 'pending')
    -- The firing of a silenced alert waits for the end of the silence; a notification already attempted continues.
    AND NOT (o.event = 'alert.fired' AND o.attempts = 0 AND EXISTS (
      SELECT FROM alert_history h
      WHERE h.id = o.alert_id AND alert_is_silenced(h.rule_id, h.rule_type, h.task_type)))
), chosen AS MATERIALIZED (
  SELECT due.id
  FROM due LEFT JOIN busy USING (url)
  WHERE due.place + coalesce(busy.claims, 0) <= $2::integer
  ORDER BY due.next_attempt_at, due.id
  LIMIT $1::integer
), claimed AS (
  UPDATE webhook_outbox o SET
    attempts = o.attempts + 1, claimed_until = clock_timestamp() + $3::float8 * interval '1 millisecond'
  FROM chosen
  WHERE o.id = chosen.id AND o.status = 'pending'
    AND (o.claimed_until IS NULL OR o.claimed_until <= now())
  RETURNING o.id, o.alert_id, o.event, o.message_id, o.url, o.secrets, o.attempts
)
SELECT c.id AS delivery_id, c.attempts AS attempt, c.event, c.message_id::text AS message_id, c.url,
  CASE WHEN r.id IS NULL THEN c.secrets ELSE r.webhook_secrets END AS secrets,
  h.id, h.rule_id, h.rule_name, h.rule_type, h.task_type, h.comparison, h.threshold, h.value,
  h.fired_at, h.resolved_at, h.resolution, h.resolved_value
FROM claimed c JOIN alert_history h ON h.id = c.alert_id LEFT JOIN alert_rules r ON r.id = h.rule_id
ORDER BY c.id

-- name: webhook_outbox.settle
-- $1 delivery, $2 its attempt, $3 status, $4 error or NULL, $5 ms until the next attempt or NULL. No row when the attempt is
-- taken over by another sender.
UPDATE webhook_outbox SET
  status = $3, claimed_until = NULL, last_error = coalesce($4, last_error),
  next_attempt_at = clock_timestamp() + coalesce($5::float8, 0) * interval '1 millisecond',
  settled_at = CASE WHEN $3 <> 'pending' THEN clock_timestamp() END
WHERE id = $1::bigint AND attempts = $2::integer AND status = 'pending'
RETURNING id

-- name: webhook_outbox.redeliver
-- Makes failed notifications due again. $1 alert id. Returns one row per notification.
UPDATE webhook_outbox SET status = 'pending', next_attempt_at = clock_timestamp(), settled_at = NULL
WHERE alert_id = $1::bigint AND status = 'failed'
RETURNING id

-- name: webhook_outbox.pending
SELECT count(*) AS count FROM webhook_outbox WHERE status = 'pending'
