-- By what the vendor knows a SIM, if not by its ICCID (docs/gateways.md). A column without a rewrite, and an index that is empty
-- until ids are imported, for which the cards are read once. The version before neither reads nor writes it.
ALTER TABLE cards ADD COLUMN vendor_id text;
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
