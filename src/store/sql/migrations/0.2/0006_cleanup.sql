-- Retention of everything that grows, and the runs that enforce it. What expires of each target stands in
-- cleanup-targets.ts.

CREATE TABLE cleanup_configs (
  id             integer PRIMARY KEY,
  target         text NOT NULL UNIQUE,
  retention_days integer NOT NULL CHECK (retention_days BETWEEN 1 AND 3650),
  enabled        boolean NOT NULL DEFAULT true,
  last_run_at    timestamptz
);

INSERT INTO cleanup_configs (id, target, retention_days) VALUES
  (1, 'usage_records', 180),
  (2, 'card_usage', 730),
  (3, 'alert_history', 180),
  (4, 'webhook_outbox', 30),
  (5, 'manual_triggers', 30),
  (6, 'card_stops', 365),
  (7, 'card_removals', 7),
  (8, 'cleanup_runs', 90);

CREATE TABLE cleanup_runs (
  run_id        text PRIMARY KEY,
  status        text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'completed', 'failed')),
  -- The instant of the schedule it was begun for: two leaders in a row begin no second run for it.
  scheduled_for timestamptz UNIQUE,
  batches       bigint NOT NULL DEFAULT 0,
  started_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at   timestamptz,
  CHECK ((finished_at IS NULL) = (status = 'running'))
) WITH (fillfactor = 50); -- rewritten by every batch

-- One run at a time, whoever begins it.
CREATE UNIQUE INDEX cleanup_runs_running ON cleanup_runs ((true)) WHERE status = 'running';
CREATE INDEX cleanup_runs_started ON cleanup_runs (started_at);

-- How far a run is with each target. A batch and its mark here are one transaction, so whoever goes on with the run
-- neither repeats a batch nor leaves one out, and two at once take turns by the row's lock.
CREATE TABLE cleanup_run_items (
  run_id           text NOT NULL REFERENCES cleanup_runs ON DELETE CASCADE,
  position         integer NOT NULL,
  target           text NOT NULL,
  cutoff           timestamptz NOT NULL,
  first_kept_month date NOT NULL,
  -- Removed cards are forgotten only when the change feed was past them at this mark; NULL: none are.
  change_mark      text,
  total            bigint NOT NULL,
  deleted          bigint NOT NULL DEFAULT 0,
  -- Rows up to here have been looked at.
  walked_to        tid NOT NULL DEFAULT '(0,0)',
  -- The partition being detached and dropped, and its rows.
  dropping         text,
  dropping_rows    bigint NOT NULL DEFAULT 0,
  finished         boolean NOT NULL DEFAULT false,
  -- Why the target could not be cleaned.
  error            text,
  PRIMARY KEY (run_id, position)
) WITH (fillfactor = 50);
