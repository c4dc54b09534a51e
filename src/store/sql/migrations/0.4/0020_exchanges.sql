-- Cards may exchange their ICCIDs and vendor ids within one import: both are checked at the end of its transaction. The index of
-- ICCIDs is built before cards are locked for readers.
CREATE UNIQUE INDEX cards_iccid ON cards (iccid);
ALTER TABLE cards
  DROP CONSTRAINT cards_iccid_key,
  ADD CONSTRAINT cards_iccid_key UNIQUE USING INDEX cards_iccid DEFERRABLE;
-- A unique index of a part of the table cannot be checked later; this is one that can.
DROP INDEX cards_vendor_id;
ALTER TABLE cards
  ADD CONSTRAINT cards_vendor_id EXCLUDE (vendor_id WITH =) WHERE (vendor_id IS NOT NULL) DEFERRABLE;
