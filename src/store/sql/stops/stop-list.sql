-- Stops as they are shown and counted.

-- name: stop_list.ofCard
-- The newest stops of a card. $1 card id, $2 stops at most.
SELECT to_char(month, 'YYYY-MM') AS month, state, used_mb, allowance_mb, requested_at, completed_at, resumed_at,
  attempts, unconfirmed, last_error, held_by, ordered_by, reason, stop_again
FROM card_stops
WHERE card_id = $1::bigint
ORDER BY card_stops.month DESC
LIMIT $2::integer

-- name: stop_list.unconfirmed
-- How many cards run although the gateway acknowledged their stop, at most $1. A stop that is no longer wanted (card
-- removed or stopped meanwhile, allowance raised, month over) does not count. Small and partial: the index of the
-- unconfirmed, then two rows by their keys each.
SELECT count(*) AS count
FROM (
  SELECT FROM card_stops s
  JOIN cards c ON c.card_id = s.card_id
  JOIN card_usage u ON u.card_id = s.card_id AND u.month = s.month
  WHERE s.state = 'requested' AND s.acknowledged_at IS NOT NULL
    AND NOT c.stopped AND u.used_mb > c.allowance_mb AND NOT u.closed
    -- A card without new readings never closes its month.
    AND s.month > (clock_timestamp() - interval '32 days')::date
  LIMIT $1::bigint
) AS found

-- name: stop_list.page
-- A page of stops, the latest first. $1 states, $2 since or NULL, $3 carrier or NULL, $4 offset, $5 rows at most.
SELECT s.card_id, s.iccid, c.carrier_id, to_char(s.month, 'YYYY-MM') AS month, s.state, s.used_mb, s.allowance_mb,
  s.requested_at, s.completed_at, s.resumed_at, s.attempts, s.unconfirmed, s.last_error, s.held_by, s.ordered_by, s.reason,
  s.stop_again
FROM card_stops s
LEFT JOIN cards c ON c.card_id = s.card_id
WHERE s.state = ANY ($1::text[])
  AND coalesce(s.completed_at, s.requested_at) >= coalesce(to_timestamp($2::float8 / 1000), '-infinity')
  AND ($3::integer IS NULL OR c.carrier_id = $3::integer)
ORDER BY coalesce(s.completed_at, s.requested_at) DESC, s.card_id
OFFSET $4::bigint
LIMIT $5::integer

-- name: stop_list.countPage
-- The number of all rows of stop_list.page. $1 states, $2 since or NULL, $3 carrier or NULL.
SELECT count(*) AS total
FROM card_stops s
WHERE s.state = ANY ($1::text[])
  AND coalesce(s.completed_at, s.requested_at) >= coalesce(to_timestamp($2::float8 / 1000), '-infinity')
  AND ($3::integer IS NULL OR EXISTS (
    SELECT FROM cards c WHERE c.card_id = s.card_id AND c.carrier_id = $3::integer
  ))
