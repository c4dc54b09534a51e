-- What a reading is about, and what a card's usage was before it jumped. Columns without a rewrite; the index is empty until vendor ids
-- are imported, and for it the cards are read once. What the version before writes meanwhile has NULL in these columns.

ALTER TABLE cards
  -- NULL: the card has had its SIM since it was made, or since before this migration.
  ADD COLUMN iccid_changed_at timestamptz,
  -- At first when the card was made. The cards of now get the time of this migration, so that no reading from before it judges
  -- a stop anew (docs/decisions/0005-exactly-once-stop.md).
  ADD COLUMN allowance_changed_at timestamptz NOT NULL DEFAULT now(),
  -- By what the vendor knows a SIM, if not by its ICCID (docs/gateways.md).
  ADD COLUMN vendor_id text;
COMMENT ON COLUMN cards.vendor_id IS 'Of the SIM that the card has; NULL: none is known.';
-- A call by the vendor id of another card would have its effect on another customer's SIM: two cards cannot have the same one.
CREATE UNIQUE INDEX cards_vendor_id ON cards (vendor_id) WHERE vendor_id IS NOT NULL;

-- What was read by a vendor id that the card has no more may be of another SIM, and stops nothing.
CREATE OR REPLACE FUNCTION cards_mark_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.updated_at := clock_timestamp();
  NEW.changed_xid := pg_current_xact_id();
  IF NEW.iccid <> OLD.iccid OR OLD.vendor_id IS NOT NULL AND NEW.vendor_id IS DISTINCT FROM OLD.vendor_id THEN
    NEW.iccid_changed_at := clock_timestamp();
  END IF;
  IF NEW.allowance_mb IS DISTINCT FROM OLD.allowance_mb THEN NEW.allowance_changed_at := clock_timestamp(); END IF;
  IF NEW.card_id <> OLD.card_id THEN
    INSERT INTO card_removals (card_id) VALUES (OLD.card_id) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NEW;
END
$$;

DROP TRIGGER cards_changed ON cards;
CREATE TRIGGER cards_changed BEFORE UPDATE ON cards FOR EACH ROW
  WHEN (OLD.card_id IS DISTINCT FROM NEW.card_id
    OR OLD.iccid IS DISTINCT FROM NEW.iccid
    OR OLD.carrier_id IS DISTINCT FROM NEW.carrier_id
    OR OLD.status IS DISTINCT FROM NEW.status
    OR OLD.allowance_mb IS DISTINCT FROM NEW.allowance_mb
    OR OLD.vendor_id IS DISTINCT FROM NEW.vendor_id
    OR OLD.real_name_verified IS DISTINCT FROM NEW.real_name_verified
    OR OLD.stopped IS DISTINCT FROM NEW.stopped)
  EXECUTE FUNCTION cards_mark_changed();

ALTER TABLE card_usage
  -- So that a wrong jump can be taken back (docs/decisions/0004-usage-month.md).
  ADD COLUMN jump_from_mb double precision,
  ADD COLUMN jump_from_used_mb double precision,
  ADD COLUMN jump_at timestamptz,
  -- The audit trail shows it with a stop.
  ADD COLUMN previous_reading_mb double precision,
  ADD COLUMN iccid text;
COMMENT ON COLUMN card_usage.jump_from_mb IS 'The highest reading before one more than twenty times as high, or before a restart at less than a twentieth; NULL: there is nothing to take back.';
COMMENT ON COLUMN card_usage.jump_from_used_mb IS 'The usage of the month before that reading; NULL: it was read in an earlier month.';
COMMENT ON COLUMN card_usage.jump_at IS 'When that reading was taken.';
COMMENT ON COLUMN card_usage.previous_reading_mb IS 'last_reading_mb before its last change, also if that was in an earlier month.';
COMMENT ON COLUMN card_usage.iccid IS 'The SIM that was read last; NULL: it was read by a version that did not store it.';

-- Whether a reading is of the SIM that the card has, and was taken since it has it. One expression, which PostgreSQL puts in its place:
-- it costs no call.
CREATE FUNCTION reading_is_of_sim(card cards, of_iccid text, read_at timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(of_iccid, card.iccid) = card.iccid AND coalesce(read_at > card.iccid_changed_at, true)
$$;
