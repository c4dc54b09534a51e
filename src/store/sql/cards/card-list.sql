-- A range of the cards in id order, filtered. {*} are their columns (card-columns.ts).

-- name: card_list.stretch
-- $1 card id to start after, $2 cards to scan, $3 cards to return at most, $4 carrier, $5 status, $6 stopped
-- (NULL: any).
-- Returns the matching cards, each with the last id scanned and how many were; one row without a card for none.
-- Scanning a bounded range in id order needs no index on the filtered columns.
WITH looked AS MATERIALIZED (
  SELECT {*}
  FROM cards
  WHERE card_id > $1::bigint
  ORDER BY card_id
  LIMIT $2::integer
), matching AS (
  SELECT * FROM looked
  WHERE ($4::integer IS NULL OR carrier_id = $4::integer) AND ($5::integer IS NULL OR status = $5::integer)
    AND ($6::boolean IS NULL OR stopped = $6::boolean)
  ORDER BY card_id
  LIMIT $3::integer
)
SELECT e.last_id, e.looked_at, m.*
FROM (SELECT max(card_id) AS last_id, count(*) AS looked_at FROM looked) e LEFT JOIN matching m ON true
ORDER BY m.card_id
