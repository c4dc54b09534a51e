-- Usage per card and calendar month, and one record per changed reading. Both are partitioned by month: partitions
-- are created ahead by partitions.ts (a table of its own, then ATTACH, which blocks nobody). There is no default
-- partition: its rows would stand in the way of every later ATTACH.

CREATE TABLE card_usage (
  card_id         bigint NOT NULL,
  month           date NOT NULL,
  used_mb         double precision NOT NULL,
  last_reading_mb double precision NOT NULL,
  read_at         timestamptz NOT NULL,
  -- True once a later month took over from this row. The takeover rewrites this row, so that a writer who is still
  -- adding to the old month and one who opens the new month exclude each other by the row's lock.
  closed          boolean NOT NULL DEFAULT false,
  PRIMARY KEY (card_id, month)
) PARTITION BY RANGE (month);
COMMENT ON COLUMN card_usage.month IS 'First day of the month in the time zone cardpoll is configured for.';

CREATE TABLE usage_records (
  card_id     bigint NOT NULL,
  month       date NOT NULL,
  recorded_at timestamptz NOT NULL,
  reading_mb  double precision NOT NULL,
  used_mb     double precision NOT NULL
) PARTITION BY RANGE (month);
COMMENT ON TABLE usage_records IS 'Append-only: one row for every reading that changed something.';
