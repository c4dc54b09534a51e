-- By what the vendor knows a SIM, if not by its ICCID (docs/gateways.md). Columns without a rewrite. The version before neither
-- reads nor writes it.
ALTER TABLE cards ADD COLUMN vendor_id text;
COMMENT ON COLUMN cards.vendor_id IS 'Of the SIM that the card has; NULL: none is known.';

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
