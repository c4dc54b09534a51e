-- The twin of cards_over_running: cards that cardpoll stopped and that are within their package by now (docs/stops.md, "Stopped within the
-- package"). The leader's walk over all cards, changes of cards and imports keep the list; src/domain/orders/stopped-within.ts has the rule.
CREATE TABLE cards_stopped_within (
  card_id bigint PRIMARY KEY,
  month date NOT NULL,
  tried_at timestamptz
);
COMMENT ON COLUMN cards_stopped_within.month IS 'Month of the stop.';
COMMENT ON COLUMN cards_stopped_within.tried_at IS 'When cardpoll last had the card resumed by itself.';
