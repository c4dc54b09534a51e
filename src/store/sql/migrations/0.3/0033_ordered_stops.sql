-- The stops that operators released or ordered, by the time of their call: they are no surge.
CREATE INDEX card_stops_ordered ON card_stops (charged_at) WHERE authority IS NOT NULL;
