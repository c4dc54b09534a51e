-- Counts the triggers that are not over without reading those that are: asked whenever one is made.
CREATE INDEX manual_triggers_open ON manual_triggers (sequence) WHERE finished_at IS NULL;
