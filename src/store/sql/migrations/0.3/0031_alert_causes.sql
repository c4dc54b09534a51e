-- Why an alert fired, in the words of then: code, severity, text and command of a reason of health. NULL: none said it. The version
-- before neither reads nor writes it.
ALTER TABLE alert_history ADD COLUMN cause jsonb;

INSERT INTO rule_types (rule_type, task_type) VALUES ('stop_surge', 'package');

-- An outage of a store, while no rule could be evaluated: alerts of no rule. Of the instances that see the same outage one writes it.
CREATE UNIQUE INDEX alert_history_outage ON alert_history (task_type) WHERE rule_id = 0 AND resolved_at IS NULL;
