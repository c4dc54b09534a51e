-- Which task types and rule types there are: rows, where six constraints of four tables each had a list of their own. They
-- are those of domain/task-type.ts and domain/alert-rule.ts; a new one is a row of a further migration (and, for a task
-- type, a column of card_polls, `<task_type>_at`).

CREATE TABLE task_types (
  task_type text PRIMARY KEY
);
INSERT INTO task_types (task_type) VALUES ('realname'), ('carddata'), ('package');

-- The task types that a rule of a type may watch.
CREATE TABLE rule_types (
  rule_type text NOT NULL,
  task_type text NOT NULL REFERENCES task_types,
  PRIMARY KEY (rule_type, task_type)
);
INSERT INTO rule_types (rule_type, task_type)
SELECT rule_type, task_type
FROM unnest(ARRAY['queue_backlog', 'success_rate', 'avg_duration']) AS rule_type, task_types
UNION ALL VALUES ('stop_unconfirmed', 'package');

-- One statement a table, with the one lock that it needs from its beginning: a second, stronger one could meet a writer that
-- waits for the first. Nothing is rewritten. The rows of manual_triggers, which may be many, are not read either: what is
-- dropped has held for each of them.
ALTER TABLE polling_configs
  DROP CONSTRAINT polling_configs_task_type_check,
  ADD CONSTRAINT polling_configs_task_type_fkey FOREIGN KEY (task_type) REFERENCES task_types;
ALTER TABLE concurrency_configs
  DROP CONSTRAINT concurrency_configs_task_type_check,
  ADD CONSTRAINT concurrency_configs_task_type_fkey FOREIGN KEY (task_type) REFERENCES task_types;
ALTER TABLE alert_rules
  DROP CONSTRAINT alert_rules_rule_type_check,
  DROP CONSTRAINT alert_rules_task_type_check,
  DROP CONSTRAINT alert_rules_stop_unconfirmed_check,
  ADD CONSTRAINT alert_rules_rule_type_fkey FOREIGN KEY (rule_type, task_type) REFERENCES rule_types;
ALTER TABLE manual_triggers
  DROP CONSTRAINT manual_triggers_task_type_check,
  ADD CONSTRAINT manual_triggers_task_type_fkey FOREIGN KEY (task_type) REFERENCES task_types NOT VALID;
