-- The claims to stop cards, and what became of them. The number of the attempt is the fence.

-- name: stop_claims.wanted
-- Which of these cards must be stopped, by the rules of claim and the newest month of each. $1 card ids.
-- The lateral query walks the monthly partitions from the newest and stops at the first row.
SELECT c.card_id, c.carrier_id, c.real_name_verified
FROM cards c
CROSS JOIN LATERAL (
  SELECT month, used_mb, suspected_mb, closed, read_at, iccid
  FROM card_usage
  WHERE card_usage.card_id = c.card_id
  ORDER BY month DESC
  LIMIT 1
) u
WHERE c.card_id = ANY ($1::bigint[]) AND NOT c.stopped AND c.allowance_mb IS NOT NULL
  AND u.used_mb > c.allowance_mb AND u.suspected_mb IS NULL AND NOT u.closed AND reading_is_of_sim(c, u.iccid, u.read_at)
  AND NOT EXISTS (
    SELECT FROM card_stops s
    WHERE s.card_id = c.card_id AND s.month = u.month AND stop_spares(s, c, u.read_at)
  )

-- name: stop_claims.runsOver
-- Why a card that is over its package in a month runs, and the state of its stop. $1 card id, $2 month. No row: it does not, or a
-- stop is open. Both as over_running (migration 0014) has it.
SELECT 'over_running' AS why, (SELECT s.state FROM card_stops s WHERE s.card_id = $1::bigint AND s.month = $2::date) AS stop
FROM over_running($2::date) o
WHERE o.card_id = $1::bigint
UNION ALL
SELECT 'spared', s.state
FROM card_stops s
JOIN cards c ON c.card_id = s.card_id
JOIN card_usage u ON u.card_id = s.card_id AND u.month = s.month
WHERE s.card_id = $1::bigint AND s.month = $2::date AND s.state IN ('dismissed', 'resumed')
  AND NOT c.stopped AND u.used_mb > c.allowance_mb AND NOT u.closed AND stop_spares(s, c, u.read_at)

-- name: stop_claims.claim
-- Claims the right to stop cards that the gateway shows running, those that are over their package or whose stop an operator
-- ordered: card, allowance and usage are those of this moment and not those the caller knows from a cache. One statement: nothing
-- can change between the check and the claim, and two racing callers meet on the row's unique key. judge_stop (migration 0014)
-- applies the rules and counts the stop; it locks its row before the stop, as every statement that counts does. A stop that
-- does not spare its card any more (migration 0014) begins anew: the former one is counted already.
-- The same statement looks at many cards: it takes nothing then, and answers `open` where a claim would be granted.
-- $1 card ids, each once: one, if $10, $2 month, $3 lease in ms, $4 mode of the settings, $5 stops an hour, $6 stops a day (NULL: no
-- limit), $7 actor and $8 role of an audit entry, $9 ICCIDs of the SIMs that the gateway shows running, and that would be called,
-- $10 whether it takes the stop, $11 vendor ids of the SIMs.
-- Returns for each card the answer as JSON: granted | unresolved | open | claimed | unconfirmed | other_iccid | not_over | done |
-- held | observed, each with its fields (StopClaim and StopLook of the port).
WITH asked AS MATERIALIZED (
  SELECT asked.card_id, asked.iccid, asked.vendor_id, coalesce(ordered.month, $2::date) AS month, ordered.month IS NOT NULL AS is_ordered,
    EXISTS (
      SELECT FROM cards c
      WHERE c.card_id = asked.card_id AND (c.iccid <> asked.iccid OR c.vendor_id IS DISTINCT FROM asked.vendor_id)
    ) AS has_other_iccid
  FROM unnest($1::bigint[], $9::text[], $11::text[]) AS asked (card_id, iccid, vendor_id)
  LEFT JOIN LATERAL (
    -- An order may be older than the month. With coalesce() the index of all orders does not serve: a plan that was made while
    -- there were few would read all of them for each card.
    SELECT s.month
    FROM card_stops s
    JOIN cards c ON c.card_id = s.card_id AND c.iccid = s.iccid
    WHERE s.card_id = asked.card_id AND s.state = 'requested' AND coalesce(s.authority, '') = 'operator'
    ORDER BY s.month DESC
    LIMIT 1
  ) AS ordered ON true
), card AS MATERIALIZED (
  SELECT asked.card_id, c.iccid, c.allowance_mb, coalesce(u.used_mb, 0) AS used_mb, asked.month,
    s.state, s.claimed_until, s.iccid AS stop_iccid, s.used_mb AS stop_used_mb, s.allowance_mb AS stop_allowance_mb,
    s.held_by AS stop_held_by, s.charged_at, coalesce(s.authority, '') AS authority, anew.is_allowed AS is_anew,
    u.last_reading_mb,
    -- A right reading after wrong ones is lower than they were, and what they counted may still be in the usage.
    coalesce(s.state = 'held' AND s.iccid = c.iccid AND u.last_reading_mb < s.reading_mb, false) AS has_fallen
  FROM asked
  JOIN cards c ON c.card_id = asked.card_id AND c.iccid = asked.iccid AND c.vendor_id IS NOT DISTINCT FROM asked.vendor_id
  LEFT JOIN card_usage u ON u.card_id = asked.card_id AND u.month = asked.month
  LEFT JOIN card_stops s ON s.card_id = asked.card_id AND s.month = asked.month
  CROSS JOIN LATERAL (
    SELECT coalesce(CASE
      WHEN s.state = 'requested' THEN s.iccid <> c.iccid AND s.authority IS NULL
      ELSE NOT stop_spares(s, c, u.read_at) END, false) AS is_allowed
  ) anew
  WHERE asked.is_ordered
    OR u.used_mb > c.allowance_mb AND u.suspected_mb IS NULL AND reading_is_of_sim(c, u.iccid, u.read_at)
      -- A later month has begun: this one's package is over.
      AND NOT u.closed
), judged AS MATERIALIZED (
  SELECT card.*, CASE WHEN has_fallen THEN 'reading_fell' ELSE judge_stop(
    CASE WHEN NOT is_anew THEN nullif(authority, '') END, CASE WHEN NOT is_anew THEN charged_at END,
    $4::text, $5::integer, $6::integer, $10::boolean) END AS verdict
  FROM card
  WHERE state IS NULL
    OR (is_anew OR state = 'observed' OR state = 'requested' AND stop_iccid = iccid)
      AND (claimed_until IS NULL OR claimed_until <= clock_timestamp())
), claimed AS (
  INSERT INTO card_stops AS s
    (card_id, month, iccid, used_mb, allowance_mb, reading_mb, state, held_by, claimed_until, charged_at)
  SELECT card_id, month, iccid, used_mb, allowance_mb, last_reading_mb,
    CASE verdict WHEN 'granted' THEN 'requested' WHEN 'observed' THEN 'observed' ELSE 'held' END,
    CASE WHEN verdict NOT IN ('granted', 'observed') THEN verdict END,
    CASE WHEN verdict = 'granted' THEN clock_timestamp() + $3::float8 * interval '1 millisecond' END,
    CASE WHEN verdict = 'granted' THEN clock_timestamp() END
  FROM judged
  WHERE verdict <> 'open'
    -- In mode observe, what was requested before stays so and waits.
    AND (verdict <> 'observed' OR state IS NULL OR is_anew)
  -- In one order: instances that look at the same cards cannot deadlock.
  ORDER BY card_id
  ON CONFLICT (card_id, month) DO UPDATE SET
    iccid = excluded.iccid,
    used_mb = excluded.used_mb,
    allowance_mb = excluded.allowance_mb,
    reading_mb = excluded.reading_mb,
    state = excluded.state,
    held_by = excluded.held_by,
    claimed_until = excluded.claimed_until,
    charged_at = excluded.charged_at,
    attempts = s.attempts + 1,
    -- Of a stop that goes on; any other begins anew.
    (requested_at, unresolved, authority, ordered_by, reason, acknowledged_at, unconfirmed, last_error) = (
      SELECT coalesce(goes_on.requested_at, clock_timestamp()), goes_on.claimed_until IS NOT NULL, goes_on.authority,
        goes_on.ordered_by, goes_on.reason, goes_on.acknowledged_at, coalesce(goes_on.unconfirmed, 0), goes_on.last_error
      FROM (VALUES (1)) one LEFT JOIN (SELECT s.*) AS goes_on ON s.state = 'requested' AND s.iccid = excluded.iccid
    ),
    completed_at = NULL,
    resumed_at = NULL,
    stop_again = false
  WHERE s.state IN ('observed', 'held') OR s.state = 'resumed' AND s.stop_again
    OR s.state <> 'requested' AND NOT stop_is_final(s, excluded.iccid, excluded.allowance_mb)
    OR s.state = 'requested' AND (s.claimed_until IS NULL OR s.claimed_until <= clock_timestamp())
  RETURNING card_id, month, state, held_by, unresolved, attempts
), running AS (
  -- From here on, a card found stopped is the result of this stop.
  UPDATE cards SET stopped = false
  WHERE card_id = ANY ($1::bigint[]) AND stopped
    AND EXISTS (SELECT FROM claimed WHERE claimed.card_id = cards.card_id AND state = 'requested')
), ended AS (
  -- What an operator decided about the SIM that the card had is not for the one it has.
  UPDATE card_stops s SET state = 'dismissed', last_error = 'the card has another SIM now', claimed_until = NULL
  FROM cards c
  WHERE s.card_id = ANY ($1::bigint[]) AND c.card_id = s.card_id AND s.iccid <> c.iccid
    AND s.state = 'requested' AND coalesce(s.authority, '') <> ''
    AND (s.claimed_until IS NULL OR s.claimed_until <= clock_timestamp())
  RETURNING s.card_id
), dropped AS (
  -- A released stop of a card that is not over any more, or whose month is.
  DELETE FROM card_stops s
  WHERE s.card_id = ANY ($1::bigint[]) AND state = 'requested' AND coalesce(authority, '') = 'released'
    AND (month < $2::date OR month = $2::date AND NOT EXISTS (SELECT FROM card WHERE card.card_id = s.card_id))
    AND (claimed_until IS NULL OR claimed_until <= clock_timestamp())
    AND NOT EXISTS (SELECT FROM ended WHERE ended.card_id = s.card_id)
    AND NOT EXISTS (SELECT FROM asked WHERE asked.card_id = s.card_id AND has_other_iccid)
), audited AS (
  -- The call for the former SIM of the card may have been made, and nothing asks what became of it any more.
  INSERT INTO audit (month, at, actor, role, action, object, before, after)
  SELECT $2::date, clock_timestamp(), $7::text, $8::text, 'card.stop', 'card ' || card_id,
    jsonb_build_object('stopped', false),
    jsonb_build_object('outcome', 'unknown', 'iccid', stop_iccid, 'used_mb', stop_used_mb, 'allowance_mb', stop_allowance_mb,
      'authority', 'over_package')
  FROM card
  WHERE is_anew AND state = 'requested' AND charged_at IS NOT NULL
    AND EXISTS (SELECT FROM claimed WHERE claimed.card_id = card.card_id)
)
SELECT claimed.card_id, CASE claimed.state
    WHEN 'held' THEN json_build_object('state', 'held', 'heldBy', held_by, 'isNew', held_by IS DISTINCT FROM stop_held_by)
    WHEN 'observed' THEN json_build_object('state', 'observed', 'isNew', true)
    ELSE json_build_object('state', CASE WHEN unresolved THEN 'unresolved' ELSE 'granted' END,
      'month', to_char(claimed.month, 'YYYY-MM'), 'attempt', attempts)
    END AS claim, NULL::void AS uncounted
FROM claimed JOIN judged ON judged.card_id = claimed.card_id
UNION ALL
SELECT asked.card_id, CASE
    WHEN has_other_iccid THEN json_build_object('state', 'other_iccid')
    WHEN card.card_id IS NULL OR EXISTS (SELECT FROM ended WHERE ended.card_id = asked.card_id)
      THEN json_build_object('state', 'not_over')
    WHEN verdict = 'open' THEN json_build_object('state', 'open')
    WHEN s.state IN ('done', 'dismissed', 'resumed') THEN json_build_object('state', 'done')
    WHEN s.state = 'held' THEN json_build_object('state', 'held', 'heldBy', s.held_by, 'isNew', false)
    WHEN s.state = 'observed' OR verdict = 'observed' THEN json_build_object('state', 'observed', 'isNew', false)
    WHEN s.acknowledged_at IS NOT NULL THEN json_build_object('state', 'unconfirmed')
    -- Also a row that a racing caller has just inserted, which is not visible here yet.
    ELSE json_build_object('state', 'claimed') END,
  -- The racing caller's stop is counted already.
  (SELECT uncount_stop(clock_timestamp()) WHERE verdict = 'granted')
FROM asked
LEFT JOIN card ON card.card_id = asked.card_id
LEFT JOIN judged ON judged.card_id = asked.card_id
LEFT JOIN card_stops s ON s.card_id = asked.card_id AND s.month = asked.month
WHERE NOT EXISTS (SELECT FROM claimed WHERE claimed.card_id = asked.card_id)

-- name: stop_claims.complete
-- The gateway shows the card stopped: the stop is done, the card is stopped and the audit trail has it, together. Writes
-- nothing if no stop of this SIM was in progress, or while a call that resumes the card is (stops.order): the card may run
-- again. A card that has another SIM by now is not stopped: only the call for the former one is done. One that the vendor knows by
-- another id by now was not the one that was shown.
-- $1 card id, $2 month, $3 actor, $4 role, $5 ICCID and $6 vendor id of the SIM that the gateway shows.
WITH other AS MATERIALIZED (
  SELECT FROM cards WHERE card_id = $1::bigint AND iccid = $5::text AND vendor_id IS DISTINCT FROM $6::text
), refused AS MATERIALIZED (
  -- The call had an effect, although it was refused, and is not counted.
  SELECT judge_stop('released', NULL, 'enforce', NULL, NULL, true)
  FROM card_stops
  WHERE card_id = $1::bigint AND iccid = $5::text AND month = $2::date AND state = 'requested' AND unresolved
    AND charged_at IS NULL AND claimed_until IS NULL AND NOT EXISTS (SELECT FROM other)
), done AS (
  UPDATE card_stops SET state = 'done', claimed_until = NULL, completed_at = clock_timestamp()
  -- The count keeps the order of locks, as in abandon.
  WHERE (SELECT count(*) FROM refused) >= 0 AND card_id = $1::bigint AND iccid = $5::text AND state = 'requested' AND month = (
    -- An order may be older than the month, and so may the outcome of a call that was made at the end of the month before.
    SELECT max(month) FROM card_stops
    WHERE card_id = $1::bigint AND iccid = $5::text AND state = 'requested' AND (month = $2::date OR authority IS NOT NULL
      OR claimed_until IS NOT NULL AND month >= $2::date - interval '1 month'))
    AND (claimed_until IS NULL OR charged_at IS NOT NULL OR claimed_until <= clock_timestamp()) AND NOT EXISTS (SELECT FROM other)
  RETURNING card_id, iccid, used_mb, allowance_mb, authority, ordered_by, reason
), stopped AS (
  UPDATE cards SET stopped = true
  -- By count, which has the stop locked before the card, as claims do, so that the two cannot deadlock.
  WHERE card_id = $1::bigint AND iccid = $5::text AND NOT stopped AND (SELECT count(*) FROM done) > 0
)
INSERT INTO audit (month, at, actor, role, action, object, before, after)
SELECT $2::date, clock_timestamp(), $3::text, $4::text, 'card.stop', 'card ' || done.card_id,
  -- Before is stopped also where the order cancelled a resume.
  jsonb_build_object('stopped', coalesce(c.stopped, false)),
  jsonb_build_object('stopped', true, 'iccid', done.iccid, 'used_mb', done.used_mb, 'allowance_mb', done.allowance_mb,
    'reading_mb', u.last_reading_mb, 'previous_reading_mb', u.previous_reading_mb,
    'authority', coalesce(authority, 'over_package'), 'ordered_by', ordered_by, 'reason', reason)
FROM done
LEFT JOIN cards c ON c.card_id = done.card_id
LEFT JOIN card_usage u ON u.card_id = done.card_id AND u.month = $2::date
RETURNING at, actor AS name, role, address, request_id, action, object, before, after

-- name: stop_claims.acknowledge
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

-- name: stop_claims.abandon
-- Ends a claim without a stop; the next may be made at once, and this one is not counted.
-- $1 card id, $2 month, $3 attempt of the caller's claim, $4 error, $5 whether the gateway refused the card.
WITH uncounted AS MATERIALIZED (
  SELECT uncount_stop(charged_at)
  FROM card_stops
  WHERE card_id = $1::bigint AND month = $2::date AND state = 'requested' AND attempts = $3::integer
)
UPDATE card_stops SET claimed_until = NULL, charged_at = NULL, unresolved = $5::boolean, last_error = $4
-- The count keeps the order of locks: first the row that counts, then the stop.
WHERE (SELECT count(*) FROM uncounted) = 1
  AND card_id = $1::bigint AND month = $2::date AND state = 'requested' AND attempts = $3::integer
