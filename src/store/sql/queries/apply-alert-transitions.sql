-- Makes transitions of alert rules durable in one statement: state of the rule, history, notifications.
-- $1 rule ids (distinct, ascending), $2 revisions they were evaluated in, $3 kind (fired | resolved), $4 metric (NULL:
-- no sample), $5 resolution (NULL for fired).
-- Returns the transitions applied, each with its alert. A rule in another revision is left out: somebody else was first.
WITH given AS MATERIALIZED (
  SELECT g.*
  FROM unnest($1::integer[], $2::integer[], $3::text[], $4::float8[], $5::text[])
    AS g (rule_id, revision, kind, value, resolution)
), fired AS (
  UPDATE alert_rules r SET
    open_alert_id = nextval('alert_history_id_seq'), last_fired_at = clock_timestamp(), revision = r.revision + 1
  FROM given g
  WHERE g.kind = 'fired' AND r.id = g.rule_id AND r.revision = g.revision AND r.open_alert_id IS NULL
  RETURNING r.*, g.value
), opened AS (
  INSERT INTO alert_history
    (id, rule_id, rule_name, rule_type, task_type, comparison, threshold, value, fired_at)
  SELECT f.open_alert_id, f.id, f.name, f.rule_type, f.task_type, f.comparison, f.threshold, f.value, f.last_fired_at
  FROM fired f
  RETURNING *
), ended AS (
  UPDATE alert_rules r SET open_alert_id = NULL, revision = r.revision + 1
  FROM given g JOIN alert_rules before ON before.id = g.rule_id AND before.revision = g.revision
  WHERE g.kind = 'resolved' AND r.id = before.id AND r.revision = g.revision AND r.open_alert_id IS NOT NULL
    AND r.deleted_at IS NULL
  RETURNING before.open_alert_id AS alert_id, r.notify_channels, r.webhook_url, r.webhook_secrets, g.value, g.resolution
), gone AS (
  DELETE FROM alert_rules r
  USING given g
  WHERE g.kind = 'resolved' AND r.id = g.rule_id AND r.revision = g.revision AND r.deleted_at IS NOT NULL
  RETURNING r.open_alert_id AS alert_id, r.notify_channels, r.webhook_url, r.webhook_secrets, g.value, g.resolution
), ending AS MATERIALIZED (
  SELECT * FROM ended UNION ALL SELECT * FROM gone
), closed AS (
  UPDATE alert_history h SET resolved_at = clock_timestamp(), resolution = e.resolution, resolved_value = e.value,
    silenced = alert_is_silenced(h.rule_id, h.rule_type, h.task_type)
  FROM ending e
  WHERE h.id = e.alert_id
  RETURNING h.*
), hushed AS (
  -- Over while it was silenced, and nobody has been told of it: nobody will be.
  UPDATE webhook_outbox o SET status = 'silenced', settled_at = clock_timestamp()
  FROM closed c
  WHERE c.silenced AND o.alert_id = c.id AND o.event = 'alert.fired' AND o.status = 'pending' AND o.attempts = 0
  RETURNING o.alert_id
), notified AS (
  INSERT INTO webhook_outbox (alert_id, event, url, secrets)
  SELECT f.open_alert_id, 'alert.fired', f.webhook_url, f.webhook_secrets
  FROM fired f
  WHERE 'webhook' = ANY (f.notify_channels)
  UNION ALL
  -- An alert that was cleaned out of the history has nothing to tell any more.
  SELECT c.id, 'alert.resolved', e.webhook_url, e.webhook_secrets
  FROM closed c JOIN ending e ON e.alert_id = c.id
  WHERE 'webhook' = ANY (e.notify_channels) AND NOT EXISTS (SELECT FROM hushed WHERE hushed.alert_id = c.id)
), applied AS (
  SELECT 'fired' AS kind, o.* FROM opened o
  UNION ALL
  SELECT 'resolved' AS kind, c.* FROM closed c
)
SELECT kind, id, rule_id, rule_name, rule_type, task_type, comparison, threshold, value,
  (extract(epoch FROM fired_at) * 1000)::bigint AS fired_at_ms,
  (extract(epoch FROM resolved_at) * 1000)::bigint AS resolved_at_ms, resolution, resolved_value
FROM applied
ORDER BY id
