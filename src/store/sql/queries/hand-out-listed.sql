-- Hands out the next cards of a single or batch trigger. $1 trigger, $2 cards handed out before, $3 most cards.
-- Returns one row: the cards handed out (comma separated, in their order, NULL for none).
WITH listed AS (
  SELECT l.card_id, l.position
  FROM manual_triggers t, unnest(t.card_ids[$2::integer + 1:$2::integer + $3::integer])
    WITH ORDINALITY AS l (card_id, position)
  WHERE t.trigger_id = $1::text
), handed_out AS (
  INSERT INTO manual_trigger_cards (trigger_id, card_id) SELECT $1::text, card_id FROM listed
)
SELECT string_agg(card_id::text, ',' ORDER BY position) AS card_ids FROM listed
