-- Claims the right to stop a card. One statement: two racing callers meet on the row's unique key.
-- $1 card id, $2 month, $3 iccid, $4 used MB, $5 allowance MB, $6 lease in ms.
-- Returns one row: state granted | unresolved | held | done, and the attempt's number when the claim is this caller's.
WITH claimed AS (
  INSERT INTO card_stops AS s (card_id, month, iccid, used_mb, allowance_mb, claimed_until)
  VALUES ($1::bigint, $2::date, $3::text, $4::float8, $5::float8,
    clock_timestamp() + $6::float8 * interval '1 millisecond')
  ON CONFLICT (card_id, month) DO UPDATE SET
    used_mb = excluded.used_mb,
    allowance_mb = excluded.allowance_mb,
    claimed_until = clock_timestamp() + $6::float8 * interval '1 millisecond',
    unresolved = s.claimed_until IS NOT NULL,
    attempts = s.attempts + 1
  WHERE s.state = 'requested' AND (s.claimed_until IS NULL OR s.claimed_until <= clock_timestamp())
  RETURNING unresolved, attempts
)
SELECT CASE WHEN unresolved THEN 'unresolved' ELSE 'granted' END AS state, attempts
FROM claimed
UNION ALL
-- A row that a racing caller has just inserted is not visible here yet; it counts as held.
SELECT CASE WHEN EXISTS (
    SELECT FROM card_stops WHERE card_id = $1::bigint AND month = $2::date AND state = 'done'
  ) THEN 'done' ELSE 'held' END, 0
WHERE NOT EXISTS (SELECT FROM claimed)
