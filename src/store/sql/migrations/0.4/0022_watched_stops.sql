-- While many cards go over their package at once, stops wait until their readings were compared; and a jump may be of one carrier.

ALTER TABLE stop_control
  ADD COLUMN watched_until timestamptz,
  ADD COLUMN unwatched_left integer NOT NULL DEFAULT 0,
  ADD COLUMN jump_carrier integer;
COMMENT ON COLUMN stop_control.watched_until IS 'The leader compares the readings of cards over their package; NULL or past: nothing does.';
COMMENT ON COLUMN stop_control.unwatched_left IS 'Stops of cardpoll''s own decision that may be called until it has compared readings again.';
COMMENT ON COLUMN stop_control.jump_carrier IS 'The jump is of the readings of this carrier; NULL: of the fleet.';
