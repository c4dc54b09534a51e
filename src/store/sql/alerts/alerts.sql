-- Alert rules, their history and silences: statements for operators and for the evaluator.

-- part: fields
name, rule_type, task_type, comparison, threshold, is_enabled, notify_channels, webhook_url, webhook_secrets,
  webhook_format, webhook_grouped, cooldown_seconds

-- part: rule
id, {fields}, created_at, updated_at

-- part: alert
id, rule_id, rule_name, rule_type, task_type, comparison, threshold, value, cause, cause_since, earlier_causes,
  fired_at, resolved_at, resolution, resolved_value, acknowledged_at, acknowledged_by, acknowledged_reason,
  CASE WHEN resolved_at IS NULL THEN alert_is_silenced(rule_id, rule_type, task_type) ELSE silenced END AS silenced,
  (SELECT coalesce(json_agg(json_build_object('channel', 'webhook', 'event', o.event, 'status', o.status,
      'attempts', o.attempts, 'lastError', o.last_error) ORDER BY o.id), '[]')
    FROM webhook_outbox o WHERE o.alert_id = h.id) AS notifications

-- part: chosen
($1::integer IS NULL OR rule_id = $1::integer)
  AND fired_at >= coalesce(to_timestamp($3::float8 / 1000), '-infinity')
  AND fired_at < coalesce(to_timestamp($4::float8 / 1000), 'infinity')

-- part: silence
id, rule_id, rule_type, task_type, reason, created_by AS by, created_at AS since, ends_at AS until

-- part: notice
-- The columns of a rule whose alert is over, and how it ended.
r.notify_channels, r.webhook_url, r.webhook_secrets, r.webhook_format, r.webhook_grouped, g.value, g.resolution

-- name: alerts.createRule
-- $1 the rule as JSON. Returns the rule.
INSERT INTO alert_rules ({fields})
SELECT {fields} FROM jsonb_populate_record(NULL::alert_rules, $1::jsonb)
RETURNING {rule}

-- name: alerts.rules
-- One page of the rules, the oldest first. $1 offset, $2 rows at most. Returns rules.
SELECT {rule}
FROM alert_rules
WHERE deleted_at IS NULL
ORDER BY id
OFFSET $1::bigint
LIMIT $2::integer

-- name: alerts.countRules
SELECT count(*) AS total FROM alert_rules WHERE deleted_at IS NULL

-- name: alerts.rule
-- $1 rule id. Returns the rule, unless it is deleted.
SELECT {rule}
FROM alert_rules
WHERE id = $1::integer AND deleted_at IS NULL

-- name: alerts.lockedRule
-- As rule, and locks it until the transaction ends. $1 rule id.
SELECT {rule}
FROM alert_rules
WHERE id = $1::integer AND deleted_at IS NULL
FOR UPDATE

-- name: alerts.updateRule
-- $1 rule id, $2 the rule as JSON. Returns the rule. A changed condition restarts the cooldown.
UPDATE alert_rules r SET
  ({fields}) = (SELECT {fields} FROM jsonb_populate_record(NULL::alert_rules, $2::jsonb)),
  revision = r.revision + 1,
  -- Always a new value: it distinguishes versions.
  updated_at = greatest(clock_timestamp(), r.updated_at + interval '1 millisecond'),
  last_fired_at = (
    SELECT r.last_fired_at FROM jsonb_populate_record(NULL::alert_rules, $2::jsonb) f
    WHERE (f.rule_type, f.task_type, f.comparison, f.threshold) = (r.rule_type, r.task_type, r.comparison, r.threshold))
WHERE r.id = $1::integer
RETURNING {rule}

-- name: alerts.deleteRule
-- The row of a firing rule is removed when its alert is resolved. $1 rule id. Returns a row if there is such a rule.
WITH rule AS MATERIALIZED (
  SELECT id, open_alert_id IS NOT NULL AS is_firing
  FROM alert_rules
  WHERE id = $1::integer AND deleted_at IS NULL
  FOR UPDATE
), marked AS (
  UPDATE alert_rules r SET deleted_at = now(), revision = r.revision + 1 FROM rule WHERE r.id = rule.id AND rule.is_firing
), removed AS (
  DELETE FROM alert_rules r USING rule WHERE r.id = rule.id AND NOT rule.is_firing
)
SELECT id FROM rule

-- name: alerts.history
-- One page of the alerts, the newest first. $1 rule id or NULL, $2 state (firing | resolved) or NULL, $3 fired since and $4
-- before (epoch ms or NULL), $5 offset, $6 rows at most. Returns alerts. Only one of the two halves runs: firing alerts are few
-- and have their own index (alert_history_firing); the others are read from the end of the key, or by alert_history_fired_at.
SELECT {alert}
FROM (
  (
    SELECT * FROM alert_history
    WHERE $2::text = 'firing' AND resolved_at IS NULL AND {chosen}
    ORDER BY id DESC OFFSET $5::bigint LIMIT $6::integer
  ) UNION ALL (
    SELECT * FROM alert_history
    WHERE $2::text IS DISTINCT FROM 'firing' AND ($2::text IS NULL OR resolved_at IS NOT NULL) AND {chosen}
    ORDER BY id DESC OFFSET $5::bigint LIMIT $6::integer
  )
) AS h
ORDER BY id DESC

-- name: alerts.countHistory
-- $1 rule id or NULL, $2 state (firing | resolved) or NULL, $3 fired since and $4 before (epoch ms or NULL). Firing alerts are
-- counted in their own index, as in history.
SELECT CASE
  WHEN $2::text = 'firing' THEN (SELECT count(*) FROM alert_history WHERE resolved_at IS NULL AND {chosen})
  ELSE (SELECT count(*) FROM alert_history WHERE ($2::text IS NULL OR resolved_at IS NOT NULL) AND {chosen})
  END AS total

-- name: alerts.alert
-- $1 alert id. Returns the alert.
SELECT {alert}
FROM alert_history h
WHERE id = $1::bigint

-- name: alerts.acknowledge
-- The first acknowledgement counts, and only while the alert fires. $1 alert id, $2 by whom, $3 reason.
UPDATE alert_history SET acknowledged_at = clock_timestamp(), acknowledged_by = $2, acknowledged_reason = $3
WHERE id = $1::bigint AND resolved_at IS NULL AND acknowledged_at IS NULL

-- name: alerts.firing
-- The number of firing alerts for each rule type and task type that has any.
SELECT rule_type, task_type, count(*) AS firing,
  count(*) FILTER (WHERE alert_is_silenced(rule_id, rule_type, task_type)) AS silenced,
  count(*) FILTER (WHERE acknowledged_at IS NOT NULL) AS acknowledged
FROM alert_history
WHERE resolved_at IS NULL
GROUP BY rule_type, task_type

-- name: alerts.toEvaluate
-- Every rule that may fire or resolve, with its state. An alert that was cleaned out of the history while it was open counts as
-- fired by the rule's current condition.
SELECT r.id, r.revision, r.rule_type AS "rule.rule_type", r.task_type AS "rule.task_type",
  r.comparison AS "rule.comparison", r.threshold AS "rule.threshold", r.is_enabled AS "rule.is_enabled",
  r.cooldown_seconds AS "rule.cooldown_seconds", 'webhook' = ANY (r.notify_channels) AS "rule.notifies", r.deleted_at IS NOT NULL AS is_deleted,
  CASE WHEN r.open_alert_id IS NOT NULL THEN coalesce(h.rule_type, r.rule_type) END AS "firing.rule_type",
  coalesce(h.task_type, r.task_type) AS "firing.task_type",
  coalesce(h.comparison, r.comparison) AS "firing.comparison",
  coalesce(h.threshold, r.threshold) AS "firing.threshold",
  (extract(epoch FROM clock_timestamp() - r.last_fired_at) * 1000)::float8 AS since_fired_ms,
  ARRAY(
    SELECT coalesce(c.cause ->> 'kind', c.cause ->> 'code') FROM (
      SELECT cause, earlier_causes, fired_at FROM alert_history WHERE rule_id = r.id ORDER BY id DESC LIMIT 20
    ) f, jsonb_array_elements(jsonb_build_array(f.cause) || f.earlier_causes) AS c (cause)
    WHERE f.cause IS NOT NULL AND abs(extract(epoch FROM clock_timestamp() - f.fired_at)) < r.cooldown_seconds
  ) AS cooling_causes,
  CASE WHEN h.cause IS NULL THEN '[]' ELSE jsonb_build_array(h.cause) || h.earlier_causes END AS reported_causes
FROM alert_rules r LEFT JOIN alert_history h ON h.id = r.open_alert_id
WHERE r.open_alert_id IS NOT NULL OR (r.is_enabled AND r.deleted_at IS NULL)

-- name: alerts.apply
-- Makes transitions of alert rules durable in one statement: state of the rule, history, notifications.
-- $1 the transitions as JSON: rule ids (distinct), revisions they were evaluated in, events: kind (fired | changed | resolved), value of
-- the metric (null: no sample), resolution (of resolved), cause with its beginning `since` (of fired and changed), is_news (of changed: it
-- is to be reported). $2 ms that a grouped notification waits for others, unless
-- its rule type is one of $3.
-- Returns the transitions applied, each with its alert. A rule in another revision is left out: another instance was first.
WITH given AS MATERIALIZED (
  SELECT rule_id, revision, event ->> 'kind' AS kind, (event ->> 'value')::float8 AS value, event ->> 'resolution' AS resolution,
    nullif(event -> 'cause', 'null') - 'since' AS cause, (event -> 'cause' ->> 'since')::timestamptz AS cause_since,
    coalesce((event ->> 'is_news')::boolean, false) AS is_news
  FROM jsonb_to_recordset($1::jsonb) AS transition (rule_id integer, revision integer, event jsonb)
  ORDER BY rule_id
), fired AS (
  UPDATE alert_rules r SET
    open_alert_id = nextval('alert_history_id_seq'), last_fired_at = clock_timestamp(), revision = r.revision + 1
  FROM given g
  WHERE g.kind = 'fired' AND r.id = g.rule_id AND r.revision = g.revision AND r.open_alert_id IS NULL
  RETURNING r.*, g.value, g.cause, g.cause_since
), opened AS (
  INSERT INTO alert_history
    (id, rule_id, rule_name, rule_type, task_type, comparison, threshold, value, fired_at, cause, cause_since)
  SELECT f.open_alert_id, f.id, f.name, f.rule_type, f.task_type, f.comparison, f.threshold, f.value, f.last_fired_at, f.cause, f.cause_since
  FROM fired f
  RETURNING *
), turned AS (
  UPDATE alert_rules r SET revision = r.revision + 1
  FROM given g
  WHERE g.kind = 'changed' AND r.id = g.rule_id AND r.revision = g.revision AND r.open_alert_id IS NOT NULL AND r.deleted_at IS NULL
  RETURNING r.*, g.cause, g.cause_since, g.is_news
), updated AS (
  -- Each earlier cause once, distinguished by code and kind.
  UPDATE alert_history h SET cause = t.cause, cause_since = t.cause_since,
    earlier_causes = (
      SELECT coalesce(jsonb_agg(e.cause ORDER BY e.place), '[]')
      FROM jsonb_array_elements(h.earlier_causes) WITH ORDINALITY AS e (cause, place)
      WHERE (e.cause -> 'code', e.cause -> 'kind') IS DISTINCT FROM (h.cause -> 'code', h.cause -> 'kind')
    ) || jsonb_build_array(h.cause)
  FROM turned t
  WHERE h.id = t.open_alert_id
  RETURNING h.*
), ended AS (
  UPDATE alert_rules r SET open_alert_id = NULL, revision = r.revision + 1
  FROM given g JOIN alert_rules before ON before.id = g.rule_id AND before.revision = g.revision
  WHERE g.kind = 'resolved' AND r.id = before.id AND r.revision = g.revision AND r.open_alert_id IS NOT NULL
    AND r.deleted_at IS NULL
  RETURNING before.open_alert_id AS alert_id, {notice}
), gone AS (
  DELETE FROM alert_rules r
  USING given g
  WHERE g.kind = 'resolved' AND r.id = g.rule_id AND r.revision = g.revision AND r.deleted_at IS NOT NULL
  RETURNING r.open_alert_id AS alert_id, {notice}
), ending AS MATERIALIZED (
  SELECT * FROM ended UNION ALL SELECT * FROM gone
), closed AS (
  UPDATE alert_history h SET resolved_at = clock_timestamp(), resolution = e.resolution, resolved_value = e.value,
    silenced = alert_is_silenced(h.rule_id, h.rule_type, h.task_type)
  FROM ending e
  WHERE h.id = e.alert_id
  RETURNING h.*
), hushed AS (
  -- Resolved while silenced, and never notified: neither notification is sent.
  UPDATE webhook_outbox o SET status = 'silenced', settled_at = clock_timestamp()
  FROM closed c
  WHERE c.silenced AND o.alert_id = c.id AND o.event <> 'alert.resolved' AND o.status = 'pending' AND o.attempts = 0
  RETURNING o.alert_id, o.event
), waiting AS MATERIALIZED (
  -- Groups that still wait: notifications that are due at the same moment go out together (webhook_outbox.claim). One that is
  -- nearly due may be claimed before this transaction ends.
  SELECT url, event, min(next_attempt_at) AS due_at
  FROM webhook_outbox
  WHERE status = 'pending' AND attempts = 0 AND next_attempt_at > clock_timestamp() + interval '1 second'
    -- A group that waits longer dates from before the clock was set back.
    AND next_attempt_at <= statement_timestamp() + $2::float8 * interval '1 millisecond'
  GROUP BY url, event
), notifying AS (
  SELECT f.open_alert_id AS alert_id, 'alert.fired' AS event, f.webhook_url AS url, f.webhook_secrets AS secrets,
    f.webhook_format AS format,
    f.webhook_grouped AND f.rule_type <> ALL ($3::text[]) AS webhook_grouped
  FROM fired f
  WHERE 'webhook' = ANY (f.notify_channels)
  UNION ALL
  -- An unsent message takes the cause of its sending time. A message in flight has the former cause.
  SELECT t.open_alert_id, 'alert.changed', t.webhook_url, t.webhook_secrets, t.webhook_format,
    t.webhook_grouped AND t.rule_type <> ALL ($3::text[])
  FROM turned t JOIN updated h ON h.id = t.open_alert_id
  WHERE t.is_news AND 'webhook' = ANY (t.notify_channels) AND NOT EXISTS (
    SELECT FROM webhook_outbox o
    WHERE o.alert_id = t.open_alert_id AND o.status = 'pending' AND (o.claimed_until IS NULL OR o.claimed_until <= clock_timestamp()))
  UNION ALL
  -- An alert that cleanup has removed from the history has no notifications any more.
  SELECT c.id, 'alert.resolved', e.webhook_url, e.webhook_secrets, e.webhook_format, e.webhook_grouped
  FROM closed c JOIN ending e ON e.alert_id = c.id
  WHERE 'webhook' = ANY (e.notify_channels) AND NOT EXISTS (SELECT FROM hushed WHERE hushed.alert_id = c.id AND hushed.event = 'alert.fired')
), notified AS (
  INSERT INTO webhook_outbox (alert_id, event, url, secrets, format, next_attempt_at)
  SELECT n.alert_id, n.event, n.url, n.secrets, n.format, CASE WHEN n.webhook_grouped
    THEN coalesce(w.due_at, statement_timestamp() + $2::float8 * interval '1 millisecond')
    ELSE clock_timestamp() END
  FROM notifying n LEFT JOIN waiting w USING (url, event)
  ORDER BY n.alert_id, n.event
), applied AS (
  SELECT 'fired' AS kind, o.* FROM opened o
  UNION ALL
  SELECT 'changed' AS kind, h.* FROM updated h
  UNION ALL
  SELECT 'resolved' AS kind, c.* FROM closed c
)
SELECT kind, id AS "alert.id", rule_id AS "alert.rule_id", rule_name AS "alert.rule_name", rule_type AS "alert.rule_type",
  task_type AS "alert.task_type", comparison AS "alert.comparison", threshold AS "alert.threshold", value AS "alert.value",
  cause AS "alert.cause", cause_since AS "alert.cause_since", earlier_causes AS "alert.earlier_causes", fired_at AS "alert.fired_at", resolved_at AS "alert.resolved_at", resolution AS "alert.resolution",
  resolved_value AS "alert.resolved_value"
FROM applied
ORDER BY id

-- name: alerts.silences
-- Silences in force.
SELECT {silence}
FROM alert_silences
WHERE ends_at > now()
ORDER BY id

-- name: alerts.createSilence
-- $1 the silence as JSON; its end is in epoch ms, or in seconds from now. Returns the silence. Its transaction may have waited
-- for its turn, which does not shorten the silence. Deletes silences that have ended.
WITH ended AS (
  DELETE FROM alert_silences WHERE ends_at <= now()
)
INSERT INTO alert_silences (rule_id, rule_type, task_type, reason, created_by, created_at, ends_at)
SELECT rule_id, rule_type, task_type, reason, by, statement_timestamp(), coalesce(
  to_timestamp((ends ->> 'at_ms')::float8 / 1000),
  statement_timestamp() + (ends ->> 'in_seconds')::float8 * interval '1 second')
FROM jsonb_to_record($1::jsonb) AS silence (rule_id integer, rule_type text, task_type text, reason text, by text, ends jsonb)
RETURNING {silence}

-- name: alerts.removeSilence
-- $1 silence id. Returns the silence that was in force.
DELETE FROM alert_silences
WHERE id = $1::integer AND ends_at > now()
RETURNING {silence}
