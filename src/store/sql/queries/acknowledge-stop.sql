-- The gateway acknowledged the call and does not show the card stopped: the stop stays requested, and no further call is
-- allowed before a pause that doubles with every such call. By this server's clock.
-- $1 card id, $2 month, $3 attempt of the caller's claim, $4 first pause in ms, $5 longest pause in ms.
-- Returns the calls that stayed unconfirmed and the pause in ms; no row when the claim is somebody else's by now.
UPDATE card_stops SET
  acknowledged_at = clock_timestamp(),
  unconfirmed = unconfirmed + 1,
  unresolved = false,
  claimed_until = clock_timestamp()
    + least($5::float8, $4::float8 * 2 ^ least(unconfirmed, 30)) * interval '1 millisecond'
WHERE card_id = $1::bigint AND month = $2::date AND state = 'requested' AND attempts = $3::integer
RETURNING unconfirmed AS calls, (extract(epoch FROM claimed_until - acknowledged_at) * 1000)::bigint AS retry_in_ms
