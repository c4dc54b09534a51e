-- Cards with the newest month of usage. $1 card ids. One row per known card, in no particular order.
-- The lateral query walks the monthly partitions from the newest and stops at the first row.
SELECT c.card_id, c.iccid, c.carrier_id, c.status, c.real_name_verified, c.stopped, c.allowance_mb,
  to_char(u.month, 'YYYY-MM') AS usage_month, u.used_mb, u.last_reading_mb, u.suspected_mb,
  (extract(epoch FROM u.read_at) * 1000)::bigint AS read_at_ms
FROM cards c
LEFT JOIN LATERAL (
  SELECT month, used_mb, last_reading_mb, suspected_mb, read_at
  FROM card_usage
  WHERE card_usage.card_id = c.card_id
  ORDER BY month DESC
  LIMIT 1
) u ON true
WHERE c.card_id = ANY ($1::bigint[])
