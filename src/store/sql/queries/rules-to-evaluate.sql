-- Every rule that may fire or resolve, with its state. An alert that was cleaned out of the history while it was open
-- counts as fired by the rule's present condition.
SELECT r.id, r.revision, r.rule_type, r.task_type, r.comparison, r.threshold, r.is_enabled, r.cooldown_seconds,
  r.deleted_at IS NOT NULL AS is_deleted,
  r.open_alert_id IS NOT NULL AS is_firing,
  (extract(epoch FROM clock_timestamp() - r.last_fired_at) * 1000)::float8 AS since_fired_ms,
  coalesce(h.rule_type, r.rule_type) AS fired_rule_type,
  coalesce(h.task_type, r.task_type) AS fired_task_type,
  coalesce(h.comparison, r.comparison) AS fired_comparison,
  coalesce(h.threshold, r.threshold) AS fired_threshold
FROM alert_rules r LEFT JOIN alert_history h ON h.id = r.open_alert_id
WHERE r.open_alert_id IS NOT NULL OR (r.is_enabled AND r.deleted_at IS NULL)
