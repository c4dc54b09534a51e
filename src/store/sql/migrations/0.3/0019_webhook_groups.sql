-- Rules whose webhooks may go out in one message with those of other rules. The version before sends one message an alert.
ALTER TABLE alert_rules ADD COLUMN webhook_grouped boolean NOT NULL DEFAULT false;
