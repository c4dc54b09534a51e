-- The fleet, changes that are made once, marks of the rings, what alerts say and watch, and polls by hand that come too early. New small
-- tables, and columns without a rewrite; for the indexes the cards of triggers and the alert history are read once. The version
-- before neither reads nor writes them.

-- Which fleet this database is. Its Redis is marked with the id, so that no other fleet works on it. A copy of the database is
-- the same fleet, also under another name.
CREATE TABLE fleet (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  fleet_id uuid NOT NULL DEFAULT gen_random_uuid(),
  name text NOT NULL
);
INSERT INTO fleet (name) VALUES (current_database());

-- Changes that a request with an Idempotency-Key made, in one transaction with the change: a repeat gets the result instead of
-- making the change again, also when the instance ended, or Redis lost its data, before the answer was kept there. Rows are
-- removed after a day.
CREATE TABLE made_changes (
  key text PRIMARY KEY,
  made_at timestamptz NOT NULL DEFAULT now(),
  result text NOT NULL
);
CREATE INDEX made_changes_at ON made_changes (made_at);
COMMENT ON COLUMN made_changes.key IS 'SHA-256 of key, token, method, path and body of the request, and the number of the change in it.';
COMMENT ON COLUMN made_changes.result IS 'What the change returned, as JSON.';

-- Until when each ring had handed out what was due: the live store may lose its rings, and what they owe is polled when they
-- are built again. Written every ten seconds; what the version before misses waits for its next turn.
CREATE TABLE ring_marks (
  config_id integer NOT NULL REFERENCES polling_configs (id) ON DELETE CASCADE,
  task_type text NOT NULL,
  handed_out_at timestamptz NOT NULL,
  PRIMARY KEY (config_id, task_type)
);

ALTER TABLE alert_rules
  -- The webhooks of these rules may go out in one message with those of other rules.
  ADD COLUMN webhook_grouped boolean NOT NULL DEFAULT false,
  -- Of a webhook that is the robot of a chat. NULL: standard, unless the host of the URL is the robot's own. The version before sends
  -- its own message, which robots refuse.
  ADD COLUMN webhook_format text CHECK (webhook_format IN ('standard', 'dingtalk', 'wecom', 'feishu', 'slack'));
-- For a notification whose rule was deleted.
ALTER TABLE webhook_outbox ADD COLUMN format text
  CHECK (format IN ('standard', 'dingtalk', 'wecom', 'feishu', 'slack'));

-- Why an alert fired, in the words of then: code, severity, text and command of a reason of health. NULL: none said it.
ALTER TABLE alert_history ADD COLUMN cause jsonb;
-- An outage of a store, while no rule could be evaluated: alerts of no rule. Of the instances that see the same outage one writes it.
CREATE UNIQUE INDEX alert_history_outage ON alert_history (task_type) WHERE rule_id = 0 AND resolved_at IS NULL;

-- Rules that watch the stops, and what holds polling back.
INSERT INTO rule_types (rule_type, task_type)
VALUES ('stops_held', 'package'), ('over_running', 'package'), ('stop_surge', 'package');
INSERT INTO rule_types (rule_type, task_type)
SELECT rule_type, task_type
FROM unnest(ARRAY['polling_stalled', 'breaker_open', 'health']) AS rule_type, task_types;

-- Until when the gateway's limit for one card keeps a poll by hand waiting; NULL for all other cards, which are in neither
-- index. The version before leaves it NULL and waits all the same.
ALTER TABLE manual_trigger_cards ADD COLUMN early_until timestamptz;
CREATE INDEX manual_trigger_cards_early ON manual_trigger_cards (trigger_id, early_until) WHERE early_until IS NOT NULL;
CREATE INDEX manual_trigger_cards_early_card ON manual_trigger_cards (card_id) WHERE early_until IS NOT NULL;
