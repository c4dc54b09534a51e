-- The undelivered notifications; the number of the attempt is the fence.

-- name: webhook_outbox.claim
-- Claims due notifications for one attempt each. $1 most messages now, $2 most under claim for one URL, $3 lease in ms. Grouped
-- ones that are due at the same moment are one message: they are claimed, and retried, together. The moment identifies the group:
-- no column names it, and its members are fixed before the first attempt. Alerts that another one explains are not suppressed,
-- because a wrong guess would hide an alert. Two senders that choose the same row meet on its lock; the second finds it claimed
-- and skips it. A notification that a receiver has answered in an unexpected form ends when the alert is over: a person may have
-- seen it, and must see its end.
WITH over AS MATERIALIZED (
  SELECT o.id
  FROM webhook_outbox o
  WHERE o.status = 'pending' AND o.answered AND o.event <> 'alert.resolved'
    AND (o.claimed_until IS NULL OR o.claimed_until <= now())
    AND EXISTS (SELECT FROM webhook_outbox r WHERE r.alert_id = o.alert_id AND r.event = 'alert.resolved')
), ended AS (
  UPDATE webhook_outbox o SET status = 'failed', claimed_until = NULL, settled_at = clock_timestamp()
  FROM over
  WHERE o.id = over.id
), busy AS MATERIALIZED (
  SELECT url, count(*) AS claims
  FROM webhook_outbox
  WHERE status = 'pending' AND claimed_until > now()
  GROUP BY url
), due AS (
  SELECT o.id, o.url, o.next_attempt_at, r.id IS NOT NULL AS is_grouped,
    CASE WHEN r.id IS NULL THEN o.id ELSE hashtextextended(
      concat_ws(' ', o.url, o.event, o.attempts, o.next_attempt_at, r.webhook_secrets, r.webhook_format), 0) END AS message
  FROM webhook_outbox o
    LEFT JOIN alert_history h ON h.id = o.alert_id
    LEFT JOIN alert_rules r ON r.id = h.rule_id AND r.webhook_grouped
  -- A first attempt waits for a group, for seconds. One that is later is from before the clock was set back.
  WHERE o.status = 'pending' AND o.id NOT IN (SELECT id FROM over)
    AND (o.next_attempt_at <= now() OR o.attempts = 0 AND o.next_attempt_at > now() + interval '1 minute')
    AND (o.claimed_until IS NULL OR o.claimed_until <= now())
    AND NOT EXISTS (
      SELECT FROM webhook_outbox e WHERE e.alert_id = o.alert_id AND e.id < o.id AND e.status = 'pending'
        AND e.id NOT IN (SELECT id FROM over)
        -- The alert without a rule has several receivers, which do not wait for each other.
        AND (h.rule_id <> 0 OR (e.url, e.format, e.secrets) IS NOT DISTINCT FROM (o.url, o.format, o.secrets)))
    -- The firing and the changed cause of a silenced alert wait for the end of the silence; a notification already attempted
    -- continues.
    AND NOT (o.event <> 'alert.resolved' AND o.attempts = 0 AND EXISTS (
      SELECT FROM alert_history h
      WHERE h.id = o.alert_id AND alert_is_silenced(h.rule_id, h.rule_type, h.task_type)))
), allowed AS (
  SELECT due.*,
    coalesce(busy.claims, 0) + dense_rank() OVER (PARTITION BY url ORDER BY due.next_attempt_at, due.message) AS url_place
  FROM due LEFT JOIN busy USING (url)
), chosen AS MATERIALIZED (
  SELECT id, CASE WHEN is_grouped THEN message::text END AS group_key
  FROM (
    SELECT *, dense_rank() OVER (ORDER BY next_attempt_at, message) AS place
    FROM allowed
    WHERE url_place <= $2::integer
  ) AS placed
  WHERE place <= $1::integer
), claimed AS (
  UPDATE webhook_outbox o SET
    attempts = o.attempts + 1, claimed_until = clock_timestamp() + $3::float8 * interval '1 millisecond'
  FROM chosen
  WHERE o.id = chosen.id AND o.status = 'pending'
    AND (o.claimed_until IS NULL OR o.claimed_until <= now())
  RETURNING o.id, o.alert_id, o.event, o.message_id, o.url, o.secrets, o.format, o.attempts, chosen.group_key
)
SELECT c.id, c.attempts AS attempt, c.event, c.message_id::text AS message_id, c.url, c.group_key,
  CASE WHEN r.id IS NULL THEN c.secrets ELSE r.webhook_secrets END AS secrets,
  CASE WHEN r.id IS NULL THEN c.format ELSE r.webhook_format END AS format,
  h.id AS "alert.id", h.rule_id AS "alert.rule_id", h.rule_name AS "alert.rule_name", h.rule_type AS "alert.rule_type",
  h.task_type AS "alert.task_type", h.comparison AS "alert.comparison", h.threshold AS "alert.threshold",
  h.value AS "alert.value", h.cause AS "alert.cause", h.cause_since AS "alert.cause_since",
  h.earlier_causes AS "alert.earlier_causes", h.fired_at AS "alert.fired_at", h.resolved_at AS "alert.resolved_at",
  h.resolution AS "alert.resolution", h.resolved_value AS "alert.resolved_value"
FROM claimed c JOIN alert_history h ON h.id = c.alert_id LEFT JOIN alert_rules r ON r.id = h.rule_id
ORDER BY c.id

-- name: webhook_outbox.settle
-- $1 deliveries of one message, $2 their attempts, $3 status, $4 error or NULL, $5 ms until the next attempt or NULL, $6 whether it was answered
-- with 2xx.
-- Returns those that another sender has not taken over. All are due again at the same moment.
UPDATE webhook_outbox o SET
  status = $3, claimed_until = NULL, answered = $6, last_error = coalesce($4, o.last_error),
  next_attempt_at = statement_timestamp() + coalesce($5::float8, 0) * interval '1 millisecond',
  settled_at = CASE WHEN $3 <> 'pending' THEN clock_timestamp() END
FROM unnest($1::bigint[], $2::integer[]) AS d (id, attempt)
WHERE o.id = d.id AND o.attempts = d.attempt AND o.status = 'pending'
RETURNING o.id

-- name: webhook_outbox.redeliver
-- Makes failed notifications due again. $1 alert id. Returns one row per notification.
UPDATE webhook_outbox SET status = 'pending', next_attempt_at = clock_timestamp(), settled_at = NULL,
  answered = false, url = coalesce((
    SELECT r.webhook_url FROM alert_history h JOIN alert_rules r ON r.id = h.rule_id WHERE h.id = $1::bigint
  ), url)
WHERE alert_id = $1::bigint AND status = 'failed'
RETURNING id

-- name: webhook_outbox.pending
SELECT count(*) AS count FROM webhook_outbox WHERE status = 'pending'
