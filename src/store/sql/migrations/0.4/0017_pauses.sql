-- The pauses of operators of record: the live store, which has them in force, may lose its data or go back in time.
CREATE TABLE pauses (
  task_type text PRIMARY KEY REFERENCES task_types,
  since timestamptz NOT NULL,
  until timestamptz NOT NULL,
  reason text NOT NULL,
  paused_by text NOT NULL
);
COMMENT ON TABLE pauses IS 'The last pause of each task type that an operator set; in force from since to until.';
COMMENT ON COLUMN pauses.since IS 'Names the pause: later ones of the type begin later.';
COMMENT ON COLUMN pauses.until IS 'Its end, also if an operator ended it early.';
