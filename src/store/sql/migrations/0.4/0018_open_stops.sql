-- Stops that are requested by card: the leader ends those whose call had no effect and that nothing wants any more.
CREATE INDEX card_stops_requested ON card_stops (card_id) WHERE state = 'requested';
