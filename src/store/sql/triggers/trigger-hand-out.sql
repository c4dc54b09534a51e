-- Handing out the cards of a manual trigger.

-- name: trigger_hand_out.lock
-- $1 trigger id. Returns its progress; no row when it is finished, or handed out in full.
SELECT kind, status, carrier_id, card_status, last_card_id, total, total_estimated, handed_out, succeeded, failed
FROM manual_triggers
WHERE trigger_id = $1::text AND feeding AND status IN ('queued', 'running')
FOR UPDATE

-- name: trigger_hand_out.listed
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

-- name: trigger_hand_out.selected
-- Hands out the next cards of a by-condition trigger. $1 trigger, $2 card id to continue after, $3 cards to scan,
-- $4 carrier or NULL, $5 status or NULL, $6 most cards to hand out.
-- Returns one row: the cards handed out (comma separated, NULL for none), how many were looked at, the last of them.
-- Scanning a bounded range in id order needs no index on the selected columns, and no call takes long
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

-- name: trigger_hand_out.save
-- $1 trigger id, $2 whether there are more to hand out, $3 last card looked at, $4 cards handed out so far, $5 total,
-- $6 whether that is an estimate, $7 failed, $8 status.
UPDATE manual_triggers SET
  feeding = $2::boolean, last_card_id = $3::bigint, handed_out = $4::bigint, total = $5::bigint,
  total_estimated = $6::boolean, failed = $7::bigint, status = $8::text,
  card_ids = CASE WHEN $2::boolean THEN card_ids END,
  finished_at = CASE WHEN $8::text = 'completed' THEN clock_timestamp() END
WHERE trigger_id = $1::text
