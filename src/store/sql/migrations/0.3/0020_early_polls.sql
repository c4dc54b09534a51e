-- Until when the gateway's limit for one card keeps a poll by hand waiting; NULL for all other cards, which are in neither
-- index. The version before leaves it NULL and waits all the same.
ALTER TABLE manual_trigger_cards ADD COLUMN early_until timestamptz;
CREATE INDEX manual_trigger_cards_early ON manual_trigger_cards (trigger_id, early_until) WHERE early_until IS NOT NULL;
CREATE INDEX manual_trigger_cards_early_card ON manual_trigger_cards (card_id) WHERE early_until IS NOT NULL;
