-- Outages of the stores in the alert history.

-- name: outages.open
-- Records that stores were not reached: an alert without a rule. Only one of the instances that see the outage opens it (index
-- alert_history_outage). $1 cause as JSON, $2 ms since it began, $3 notices that an instance sent or tried to send while the
-- database was down, as JSON; NULL: none, so the instance that opens it queues one for each receiver. Returns the alert, and
-- whether this call opened it; no row: another instance opens it at this moment.
WITH opened AS (
  INSERT INTO alert_history (rule_id, rule_name, rule_type, task_type, comparison, threshold, value, fired_at, cause)
  VALUES (0, 'Stores', 'health', 'package', '>', 1, 2, clock_timestamp() - $2::float8 * interval '1 millisecond', $1::jsonb)
  ON CONFLICT (task_type) WHERE rule_id = 0 AND resolved_at IS NULL DO NOTHING
  RETURNING id
), alert AS (
  SELECT id, true AS is_new FROM opened
  UNION ALL
  SELECT id, false FROM alert_history WHERE rule_id = 0 AND resolved_at IS NULL AND NOT EXISTS (SELECT FROM opened)
), receivers AS (
  -- Teams may share the URL of PagerDuty and have separate secrets.
  SELECT DISTINCT ON (webhook_url, webhook_format, webhook_secrets) webhook_url AS url, webhook_secrets AS secrets, webhook_format AS format
  FROM alert_rules
  WHERE is_enabled AND deleted_at IS NULL AND 'webhook' = ANY (notify_channels)
    AND NOT alert_is_silenced(id, rule_type, task_type)
  ORDER BY webhook_url, webhook_format, webhook_secrets, id
), notices AS (
  INSERT INTO webhook_outbox (alert_id, event, url, secrets, format, message_id, status, attempts, last_error, answered, settled_at)
  SELECT a.id, 'alert.fired', n.url, n.secrets, n.format, n.message_id, n.status, n.attempts, n.last_error, n.answered,
    CASE WHEN n.status <> 'pending' THEN clock_timestamp() END
  FROM alert a, jsonb_to_recordset(coalesce($3::jsonb, '[]')) AS n (url text, secrets text[], format text, message_id uuid,
    status text, attempts integer, last_error text, answered boolean)
  UNION ALL
  SELECT a.id, 'alert.fired', r.url, r.secrets, r.format, gen_random_uuid(), 'pending', 0, NULL, false, NULL
  FROM alert a, receivers r
  WHERE $3::jsonb IS NULL AND a.is_new
)
SELECT id, is_new FROM alert

-- name: outages.close
-- Ends the alert of `open`, if it is at least that old, and notifies every receiver that was, or was to be, notified of its
-- beginning. $1 ms since which both stores answer, $2 least age in ms. Returns a row if it was open.
WITH closed AS (
  UPDATE alert_history SET resolution = 'recovered', resolved_value = 0,
    resolved_at = greatest(fired_at, clock_timestamp() - $1::float8 * interval '1 millisecond')
  WHERE rule_id = 0 AND resolved_at IS NULL AND fired_at <= clock_timestamp() - $2::float8 * interval '1 millisecond'
  RETURNING id
), notices AS (
  INSERT INTO webhook_outbox (alert_id, event, url, secrets, format)
  SELECT DISTINCT ON (o.url, o.format, o.secrets) o.alert_id, 'alert.resolved', o.url, o.secrets, o.format
  FROM webhook_outbox o JOIN closed c ON c.id = o.alert_id
  WHERE o.event = 'alert.fired'
  ORDER BY o.url, o.format, o.secrets, o.id
)
SELECT id FROM closed
