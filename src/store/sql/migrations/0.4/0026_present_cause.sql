-- An open alert says its present cause: when that changes, the history keeps the earlier ones, and receivers get one message.

ALTER TABLE alert_history ADD COLUMN cause_since timestamptz,
  ADD COLUMN earlier_causes jsonb NOT NULL DEFAULT '[]';
COMMENT ON COLUMN alert_history.cause IS 'The present cause of an open alert, the last one of an alert that is over.';
COMMENT ON COLUMN alert_history.cause_since IS 'When that cause began; NULL: not known.';

ALTER TABLE webhook_outbox DROP CONSTRAINT webhook_outbox_event_check,
  ADD CONSTRAINT webhook_outbox_event_check CHECK (event IN ('alert.fired', 'alert.changed', 'alert.resolved'));
