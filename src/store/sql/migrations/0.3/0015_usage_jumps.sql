-- What a card's usage was before its reading jumped, so that a wrong one can be taken back (docs/decisions/0004-usage-month.md), and the
-- reading before the last change, which the audit trail shows with a stop. Columns without defaults: nothing is rewritten.
-- The version before does not write them: what it changes meanwhile has the jump and the reading of the change before.

ALTER TABLE card_usage
  ADD COLUMN jump_from_mb double precision,
  ADD COLUMN jump_from_used_mb double precision,
  ADD COLUMN jump_at timestamptz,
  ADD COLUMN previous_reading_mb double precision;
COMMENT ON COLUMN card_usage.jump_from_mb IS 'The highest reading before one more than twenty times as high, or before a restart at less than a twentieth; NULL: there is nothing to take back.';
COMMENT ON COLUMN card_usage.jump_from_used_mb IS 'The usage of the month before that reading; NULL: it was read in an earlier month.';
COMMENT ON COLUMN card_usage.jump_at IS 'When that reading was taken.';
COMMENT ON COLUMN card_usage.previous_reading_mb IS 'last_reading_mb before its last change, also if that was in an earlier month.';
