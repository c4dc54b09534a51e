-- Hands out the next cards of a by-condition trigger. $1 trigger, $2 card id after which to go on, $3 cards to look at,
-- $4 carrier or NULL, $5 status or NULL, $6 most cards to hand out.
-- Returns one row: the cards handed out (comma separated, NULL for none), how many were looked at, the last of them.
-- Looking at a bounded piece of the table in id order needs no index on what is selected by, and no call takes long
-- however few cards match.
WITH piece AS MATERIALIZED (
  SELECT card_id, carrier_id, status
  FROM cards
  WHERE card_id > $2::bigint
  ORDER BY card_id
  LIMIT $3::integer
), handed_out AS (
  INSERT INTO manual_trigger_cards (trigger_id, card_id)
  SELECT $1::text, card_id
  FROM piece
  WHERE ($4::integer IS NULL OR carrier_id = $4::integer) AND ($5::integer IS NULL OR status = $5::integer)
  ORDER BY card_id
  LIMIT $6::integer
  RETURNING card_id
)
SELECT string_agg(card_id::text, ',' ORDER BY card_id) AS card_ids,
  (SELECT count(*) FROM piece) AS looked_at, (SELECT max(card_id) FROM piece) AS last_looked_at
FROM handed_out
