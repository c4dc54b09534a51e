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
RETURNING (extract(epoch FROM at) * 1000)::bigint AS at_ms, action, object, before, after
