-- The format of a webhook is the name of a template, of which there are more with each release; and an alert that is over is not repeated
-- to a receiver that has answered its firing, though not as expected.

ALTER TABLE alert_rules DROP CONSTRAINT alert_rules_webhook_format_check,
  ADD CONSTRAINT alert_rules_webhook_format_check CHECK (webhook_format ~ '^[a-z0-9]{1,40}$');

ALTER TABLE webhook_outbox DROP CONSTRAINT webhook_outbox_format_check,
  ADD COLUMN answered boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN webhook_outbox.answered IS 'The last attempt was answered with 2xx, but not as a receiver does that took the message: a person may have seen it.';
