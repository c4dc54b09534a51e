-- What a reading and a stop are about. A reading is of one SIM; a stop is about one SIM and one allowance, and no longer decides
-- about the card once either has changed (docs/decisions/0005-exactly-once-stop.md). Columns without a rewrite. The version
-- before writes neither: a reading without an ICCID is taken for one of the SIM that the card has.

ALTER TABLE cards
  -- NULL: the card has had its SIM since it was made, or since before this migration.
  ADD COLUMN iccid_changed_at timestamptz,
  -- At first when the card was made. The cards of now get the time of this migration, so that no reading from before it judges
  -- a stop anew.
  ADD COLUMN allowance_changed_at timestamptz NOT NULL DEFAULT now();

ALTER TABLE card_usage ADD COLUMN iccid text;
COMMENT ON COLUMN card_usage.iccid IS 'The SIM that was read last; NULL: it was read by a version that did not store it.';

CREATE OR REPLACE FUNCTION cards_mark_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.updated_at := clock_timestamp();
  NEW.changed_xid := pg_current_xact_id();
  IF NEW.iccid <> OLD.iccid THEN NEW.iccid_changed_at := clock_timestamp(); END IF;
  IF NEW.allowance_mb IS DISTINCT FROM OLD.allowance_mb THEN NEW.allowance_changed_at := clock_timestamp(); END IF;
  IF NEW.card_id <> OLD.card_id THEN
    INSERT INTO card_removals (card_id) VALUES (OLD.card_id) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NEW;
END
$$;

-- The functions below are one expression each, which PostgreSQL puts in their place: they cost no call.

-- Whether a reading is of the SIM that the card has, and was taken since it has it.
CREATE FUNCTION reading_is_of_sim(card cards, of_iccid text, read_at timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(of_iccid, card.iccid) = card.iccid AND coalesce(read_at > card.iccid_changed_at, true)
$$;

-- Whether a stop still decides about a card of this SIM and allowance: it is of the same SIM, and the allowance was not raised
-- since. An allowance that is NULL is unlimited.
CREATE FUNCTION stop_is_final(stop card_stops, of_iccid text, of_allowance_mb double precision) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT stop.iccid = of_iccid AND coalesce(of_allowance_mb, 'Infinity') <= coalesce(stop.allowance_mb, 'Infinity')
$$;

-- Whether a stop of the month keeps its card from being stopped for this reading. A stop that was requested keeps it from
-- nothing: its call may be made again. Otherwise a reading decides only if it was taken after what it may decide about: the
-- resume of a card that may be stopped again, or the change of a card whose stop is not final any more.
CREATE FUNCTION stop_spares(stop card_stops, card cards, read_at timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT stop.state <> 'requested' AND NOT coalesce(
    CASE WHEN stop_is_final(stop, card.iccid, card.allowance_mb)
      THEN stop.state = 'resumed' AND stop.stop_again AND read_at > stop.resumed_at
      ELSE read_at > greatest(card.iccid_changed_at, card.allowance_changed_at, stop.resumed_at) END,
    false)
$$;
