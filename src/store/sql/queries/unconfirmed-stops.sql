-- How many cards run although the gateway acknowledged their stop, at most $1. A stop that is not wanted any more (card
-- removed or stopped meanwhile, allowance raised, month over) does not count. Small and partial: the index of the
-- unconfirmed, then two rows by their keys each.
SELECT count(*) AS count
FROM (
  SELECT FROM card_stops s
  JOIN cards c ON c.card_id = s.card_id
  JOIN card_usage u ON u.card_id = s.card_id AND u.month = s.month
  WHERE s.state = 'requested' AND s.acknowledged_at IS NOT NULL
    AND NOT c.stopped AND u.used_mb > c.allowance_mb AND NOT u.closed
    -- A card that is not read any more never closes its month.
    AND s.month > (clock_timestamp() - interval '32 days')::date
  LIMIT $1::bigint
) AS found
