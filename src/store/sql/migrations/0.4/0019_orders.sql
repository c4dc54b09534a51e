-- Stops that are to be called are taken as orders, by who ordered them and when they are due.
CREATE INDEX card_stops_orders ON card_stops (authority, due_at) WHERE state = 'requested';
DROP INDEX card_stops_due;
-- Until now a poll found the stops of cards over their package again.
UPDATE card_stops SET due_at = clock_timestamp() WHERE state = 'requested' AND due_at IS NULL;
