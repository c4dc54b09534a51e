-- Stops of cards, and the claims to make them. The number of the attempt is the fence.

-- name: stops.wanted
-- Which of these cards must be stopped, by the rules of claim and the newest month of each. $1 card ids.
-- The lateral query walks the monthly partitions from the newest and stops at the first row.
SELECT c.card_id, c.carrier_id, c.real_name_verified
FROM cards c
CROSS JOIN LATERAL (
  SELECT month, used_mb, suspected_mb, closed
  FROM card_usage
  WHERE card_usage.card_id = c.card_id
  ORDER BY month DESC
  LIMIT 1
) u
WHERE c.card_id = ANY ($1::bigint[]) AND NOT c.stopped AND c.allowance_mb IS NOT NULL
  AND u.used_mb > c.allowance_mb AND u.suspected_mb IS NULL AND NOT u.closed
  AND NOT EXISTS (
    SELECT FROM card_stops s WHERE s.card_id = c.card_id AND s.month = u.month AND s.state = 'done'
  )

-- name: stops.claim
-- Claims the right to stop a card that the gateway shows running, if it is over its package: card, allowance and usage are
-- those of this moment and not those the caller knows from a cache. One statement: nothing can change between the check
-- and the claim, and two racing callers meet on the row's unique key.
-- $1 card id, $2 month, $3 lease in ms.
-- Returns one row: state granted | unresolved | held | unconfirmed | not_over | done; with a claim of this caller's its
-- attempt, used and allowance MB; when unconfirmed the calls made and the ms until the next is allowed.
WITH card AS MATERIALIZED (
  SELECT c.iccid, c.allowance_mb, u.used_mb
  FROM cards c
  JOIN card_usage u ON u.card_id = c.card_id AND u.month = $2::date
  WHERE c.card_id = $1::bigint AND u.used_mb > c.allowance_mb
    AND u.suspected_mb IS NULL
    -- A later month has begun: this one's package is over.
    AND NOT u.closed
), claimed AS (
  INSERT INTO card_stops AS s (card_id, month, iccid, used_mb, allowance_mb, claimed_until)
  SELECT $1::bigint, $2::date, iccid, used_mb, allowance_mb,
    clock_timestamp() + $3::float8 * interval '1 millisecond'
  FROM card
  ON CONFLICT (card_id, month) DO UPDATE SET
    used_mb = excluded.used_mb,
    allowance_mb = excluded.allowance_mb,
    claimed_until = excluded.claimed_until,
    unresolved = s.claimed_until IS NOT NULL,
    attempts = s.attempts + 1
  WHERE s.state = 'requested' AND (s.claimed_until IS NULL OR s.claimed_until <= clock_timestamp())
  RETURNING unresolved, attempts, used_mb, allowance_mb
), running AS (
  -- From here on, a card found stopped is the result of this stop.
  UPDATE cards SET stopped = false
  WHERE card_id = $1::bigint AND stopped AND EXISTS (SELECT FROM claimed)
)
SELECT CASE WHEN unresolved THEN 'unresolved' ELSE 'granted' END AS state,
  attempts, used_mb, allowance_mb, 0 AS calls, 0 AS retry_in_ms
FROM claimed
UNION ALL
SELECT CASE
    WHEN NOT EXISTS (SELECT FROM card) THEN 'not_over'
    WHEN s.state = 'done' THEN 'done'
    WHEN s.acknowledged_at IS NOT NULL THEN 'unconfirmed'
    -- Also a row that a racing caller has just inserted, which is not visible here yet.
    ELSE 'held' END,
  0, 0, 0, coalesce(s.unconfirmed, 0),
  greatest(0, coalesce(extract(epoch FROM s.claimed_until - clock_timestamp()) * 1000, 0))::bigint
FROM (VALUES (1)) one
LEFT JOIN card_stops s ON s.card_id = $1::bigint AND s.month = $2::date
WHERE NOT EXISTS (SELECT FROM claimed)

-- name: stops.complete
-- The gateway shows the card stopped: the stop is done, the card is stopped and the audit trail has it, together.
-- $1 card id, $2 month, $3 actor, $4 role.
WITH done AS (
  UPDATE card_stops SET state = 'done', claimed_until = NULL, completed_at = clock_timestamp()
  WHERE card_id = $1::bigint AND month = $2::date AND state = 'requested'
  RETURNING card_id, used_mb, allowance_mb
), stopped AS (
  UPDATE cards SET stopped = true
  WHERE card_id = $1::bigint AND NOT stopped
    -- Always true; has the stop locked before the card, as claims do, so that the two cannot deadlock.
    AND (SELECT count(*) FROM done) >= 0
)
INSERT INTO audit (month, at, actor, role, action, object, before, after)
SELECT $2::date, clock_timestamp(), $3::text, $4::text, 'card.stop', 'card ' || card_id, '{"stopped": false}',
  jsonb_build_object('stopped', true, 'used_mb', used_mb, 'allowance_mb', allowance_mb)
FROM done
RETURNING at, action, object, before, after

-- name: stops.acknowledge
-- The gateway acknowledged the call and does not show the card stopped: the stop stays requested, and no further call is
-- allowed before a pause that doubles with every such call. By this server's clock.
-- $1 card id, $2 month, $3 attempt of the caller's claim, $4 first pause in ms, $5 longest pause in ms.
-- Returns the calls that stayed unconfirmed and the pause in ms; no row when another instance holds the claim by now.
UPDATE card_stops SET
  acknowledged_at = clock_timestamp(),
  unconfirmed = unconfirmed + 1,
  unresolved = false,
  claimed_until = clock_timestamp()
    + least($5::float8, $4::float8 * 2 ^ least(unconfirmed, 30)) * interval '1 millisecond'
WHERE card_id = $1::bigint AND month = $2::date AND state = 'requested' AND attempts = $3::integer
RETURNING unconfirmed AS calls, (extract(epoch FROM claimed_until - acknowledged_at) * 1000)::bigint AS retry_in_ms

-- name: stops.abandon
-- Ends a claim without a stop; the next may be made at once. $1 card id, $2 month, $3 attempt of the caller's claim, $4 error.
UPDATE card_stops SET claimed_until = NULL, unresolved = false, last_error = $4
WHERE card_id = $1::bigint AND month = $2::date AND state = 'requested' AND attempts = $3::integer

-- name: stops.ofCard
-- The newest stops of a card. $1 card id, $2 stops at most.
SELECT to_char(month, 'YYYY-MM') AS month, used_mb, allowance_mb, requested_at, completed_at, attempts,
  unconfirmed, last_error
FROM card_stops
WHERE card_id = $1::bigint
ORDER BY card_stops.month DESC
LIMIT $2::integer

-- name: stops.unconfirmed
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
