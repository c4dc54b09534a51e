-- Alert rules that watch what holds polling back.
INSERT INTO rule_types (rule_type, task_type)
SELECT rule_type, task_type
FROM unnest(ARRAY['polling_stalled', 'breaker_open', 'health']) AS rule_type, task_types;
