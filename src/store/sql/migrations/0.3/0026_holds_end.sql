-- Stops that were held for a cause that passes are judged again when it has passed (docs/decisions/0032-safeguards-of-stops.md).
-- Columns without a default: nothing is rewritten.

ALTER TABLE card_stops
  ADD COLUMN reading_mb double precision,
  DROP CONSTRAINT card_stops_held_by_check,
  ADD CONSTRAINT card_stops_held_by_check
    CHECK (held_by IN ('usage_jump', 'budget_hour', 'budget_day', 'reading_fell')) NOT VALID;
COMMENT ON COLUMN card_stops.reading_mb IS 'The highest reading when the stop was judged.';

ALTER TABLE stop_control
  -- When the growth of the fleet was last found to be as before a jump.
  ADD COLUMN jump_over_at timestamptz,
  -- Stops that a jump held until then wait for an operator: it did not end by growth as before it.
  ADD COLUMN jump_doubtful_until timestamptz;

-- When the cause of a held stop is over; infinity: while it lasts. NULL: an operator decides. The stops allowed in an hour are
-- free again an hour later, whatever was called before the stop was held.
CREATE FUNCTION hold_over_at(stop card_stops) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT CASE stop.held_by
    WHEN 'budget_hour' THEN stop.requested_at + interval '1 hour'
    WHEN 'usage_jump' THEN (
      SELECT CASE
        WHEN stop.requested_at <= jump_doubtful_until THEN NULL
        WHEN jump_since IS NOT NULL THEN 'infinity'
        ELSE greatest(stop.requested_at, jump_over_at) END
      FROM stop_control)
    END
$$;

-- As migration 0023 has it, and: a held stop keeps nothing back any more once its cause is over and the card was read after
-- that. Also a reading that changed nothing is one: the poll says so.
CREATE OR REPLACE FUNCTION stop_spares(stop card_stops, card cards, read_at timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT stop.state <> 'requested' AND NOT coalesce(
    CASE WHEN NOT stop_is_final(stop, card.iccid, card.allowance_mb)
        THEN read_at > greatest(card.iccid_changed_at, card.allowance_changed_at, stop.resumed_at)
      WHEN stop.state = 'held' THEN hold_over_at(stop) < greatest(read_at,
        (SELECT carddata_at FROM card_polls p WHERE p.card_id = stop.card_id))
      ELSE stop.state = 'resumed' AND stop.stop_again AND read_at > stop.resumed_at END,
    false)
$$;
