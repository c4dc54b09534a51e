-- Rules whose webhook is the robot of a chat. NULL: standard, unless the host of the URL is the robot's own. The version before sends
-- its own message, which robots refuse.
ALTER TABLE alert_rules ADD COLUMN webhook_format text
  CHECK (webhook_format IN ('standard', 'dingtalk', 'wecom', 'feishu', 'slack'));
-- For a notification whose rule was deleted.
ALTER TABLE webhook_outbox ADD COLUMN format text
  CHECK (format IN ('standard', 'dingtalk', 'wecom', 'feishu', 'slack'));
