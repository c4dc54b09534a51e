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
  -- Whoever finds it stopped from here on has found this stop.
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
