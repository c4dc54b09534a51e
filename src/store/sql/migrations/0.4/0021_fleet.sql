-- The budget of stops is a share of the cards that the walk over all of them has counted, a jump of the readings may be a step to another
-- level, and a card id that is given to another customer begins at zero.

ALTER TABLE stop_control
  ADD COLUMN fleet_cards bigint,
  ADD COLUMN jump_is_step boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN stop_control.jump_is_step IS 'Growth is as before, on another level: the jump lasts until the level is back, or an operator accepts it.';
COMMENT ON COLUMN stop_control.fleet_cards IS 'All cards, as the walk that ended last has counted them; NULL: none has ended.';

COMMENT ON COLUMN card_usage.jump_from_mb IS 'The highest reading before a step, or before a restart; NULL: there is nothing to take back.';

-- What a removed card has used, its stops and the runs that it waits in end with it. A call that may still take effect keeps its row,
-- so that its end is recorded for the SIM that was called.
CREATE OR REPLACE FUNCTION cards_record_removals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO card_removals (card_id) SELECT card_id FROM removed ON CONFLICT DO NOTHING;
  DELETE FROM card_polls p USING removed r WHERE p.card_id = r.card_id;
  DELETE FROM card_usage u USING removed r WHERE u.card_id = r.card_id;
  DELETE FROM card_stops s USING removed r
    WHERE s.card_id = r.card_id AND NOT (s.state = 'requested' AND s.charged_at IS NOT NULL);
  UPDATE card_resumes w SET state = 'failed', last_error = 'the card was removed', ended_at = clock_timestamp()
    FROM removed r
    WHERE w.card_id = r.card_id AND w.state = 'waiting';
  RETURN NULL;
END
$$;
