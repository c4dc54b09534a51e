-- A vendor may work on a stop or a resume for minutes, and say so (docs/decisions/0052-under-way.md).
-- An instance of 0.3.0 does not know this: a call that the vendor works on is claimed as long, so it does not call either.
ALTER TABLE card_stops ADD COLUMN pending_since timestamptz, ADD COLUMN pending_until timestamptz;
ALTER TABLE card_resumes ADD COLUMN pending_since timestamptz, ADD COLUMN pending_until timestamptz;
COMMENT ON COLUMN card_stops.pending_since IS 'Since when the gateway acknowledged calls, or said that it works on one, and did not show their effect.';
COMMENT ON COLUMN card_stops.pending_until IS 'The vendor works on the card until then at most, as it said; NULL: it does not say so.';
COMMENT ON COLUMN card_resumes.pending_since IS 'As for card_stops.';
COMMENT ON COLUMN card_resumes.pending_until IS 'As for card_stops.';
