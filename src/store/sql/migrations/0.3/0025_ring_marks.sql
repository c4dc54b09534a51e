-- Until when each ring had handed out what was due: the live store may lose its rings, and what they owe is polled when they
-- are built again. Written every ten seconds; the version before does not know it, and what it misses waits for its next turn.
CREATE TABLE ring_marks (
  config_id integer NOT NULL REFERENCES polling_configs (id) ON DELETE CASCADE,
  task_type text NOT NULL,
  handed_out_at timestamptz NOT NULL,
  PRIMARY KEY (config_id, task_type)
);
