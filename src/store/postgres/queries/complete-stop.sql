-- The gateway shows the card stopped: the stop is done and the card is stopped, together. $1 card id, $2 month.
WITH done AS (
  UPDATE card_stops SET state = 'done', claimed_until = NULL, completed_at = clock_timestamp()
  WHERE card_id = $1::bigint AND month = $2::date AND state = 'requested'
  RETURNING card_id
)
UPDATE cards SET stopped = true
WHERE card_id = $1::bigint AND NOT stopped
  -- Always true; has the stop locked before the card, as claims do, so that the two cannot deadlock.
  AND (SELECT count(*) FROM done) >= 0
