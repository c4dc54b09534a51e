-- The truth about usage and stops: readings that look like a counter that started anew are suspicions until the next
-- reading confirms them; a stop is done when the gateway shows the card stopped, not when it acknowledges the call.

ALTER TABLE card_usage ADD COLUMN suspected_mb double precision;
COMMENT ON COLUMN card_usage.last_reading_mb IS 'The highest value the present count of the gateway has shown.';
COMMENT ON COLUMN card_usage.suspected_mb IS 'A reading below half of last_reading_mb that is not confirmed yet.';
COMMENT ON COLUMN usage_records.reading_mb IS 'Where the counter was taken to stand, or what was suspected.';

-- Calls that the gateway acknowledged without showing the card stopped afterwards: how many, and when the last one.
-- Until claimed_until no further call is made.
ALTER TABLE card_stops ADD COLUMN unconfirmed integer NOT NULL DEFAULT 0;
ALTER TABLE card_stops ADD COLUMN acknowledged_at timestamptz;
CREATE INDEX card_stops_unconfirmed ON card_stops (card_id) WHERE state = 'requested' AND acknowledged_at IS NOT NULL;

ALTER TABLE alert_rules DROP CONSTRAINT alert_rules_rule_type_check;
ALTER TABLE alert_rules ADD CONSTRAINT alert_rules_rule_type_check
  CHECK (rule_type IN ('queue_backlog', 'success_rate', 'avg_duration', 'stop_unconfirmed'));
ALTER TABLE alert_rules ADD CONSTRAINT alert_rules_stop_unconfirmed_check
  CHECK (rule_type <> 'stop_unconfirmed' OR task_type = 'package');
