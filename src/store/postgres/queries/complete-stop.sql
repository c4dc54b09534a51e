-- The stop is confirmed: the claim is done and the card is stopped, together. $1 card id, $2 month.
WITH done AS (
  UPDATE card_stops SET state = 'done', claimed_until = NULL, completed_at = clock_timestamp()
  WHERE card_id = $1::bigint AND month = $2::date AND state = 'requested'
)
UPDATE cards SET stopped = true WHERE card_id = $1::bigint AND NOT stopped
