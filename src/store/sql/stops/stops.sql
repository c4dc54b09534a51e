-- Stops of cards, and the claims to make them. The number of the attempt is the fence.

-- name: stops.wanted
-- Which of these cards must be stopped, by the rules of claim and the newest month of each. $1 card ids.
-- The lateral query walks the monthly partitions from the newest and stops at the first row.
SELECT c.card_id, c.carrier_id, c.real_name_verified
FROM cards c
CROSS JOIN LATERAL (
  SELECT month, used_mb, suspected_mb, closed, read_at
  FROM card_usage
  WHERE card_usage.card_id = c.card_id
  ORDER BY month DESC
  LIMIT 1
) u
WHERE c.card_id = ANY ($1::bigint[]) AND NOT c.stopped AND c.allowance_mb IS NOT NULL
  AND u.used_mb > c.allowance_mb AND u.suspected_mb IS NULL AND NOT u.closed
  AND NOT EXISTS (
    SELECT FROM card_stops s
    WHERE s.card_id = c.card_id AND s.month = u.month AND s.state <> 'requested'
      AND NOT (s.state = 'resumed' AND s.stop_again AND u.read_at > s.resumed_at)
  )

-- name: stops.claim
-- Claims the right to stop a card that the gateway shows running, if it is over its package or an operator ordered the stop:
-- card, allowance and usage are those of this moment and not those the caller knows from a cache. One statement: nothing can
-- change between the check and the claim, and two racing callers meet on the row's unique key. judge_stop (migration 0014)
-- applies the rules and counts the stop; it locks its row before the stop, as every statement that counts does. A card that
-- was resumed and may be stopped again begins anew: its former stop is counted already.
-- $1 card id, $2 month, $3 lease in ms, $4 mode of the settings, $5 stops an hour, $6 stops a day (NULL: no limit).
-- Returns one row: state granted | unresolved | claimed | unconfirmed | not_over | done | held | observed; with a claim of
-- this caller's its month, attempt, used and allowance MB; when unconfirmed the calls made and the ms until the next is
-- allowed; when held why; is_new where this statement made it held or observed.
WITH ordered AS MATERIALIZED (
  -- An order may be older than the month. With coalesce() the index of all orders does not serve: a plan that was made while
  -- there were few would read all of them for each card.
  SELECT month FROM card_stops
  WHERE card_id = $1::bigint AND state = 'requested' AND coalesce(authority, '') = 'operator'
  ORDER BY month DESC
  LIMIT 1
), card AS MATERIALIZED (
  SELECT c.iccid, c.allowance_mb, coalesce(u.used_mb, 0) AS used_mb, coalesce(ordered.month, $2::date) AS month,
    s.state, s.claimed_until, again.is_allowed AS again,
    CASE WHEN NOT again.is_allowed THEN s.authority END AS authority,
    CASE WHEN NOT again.is_allowed THEN s.charged_at END AS charged_at
  FROM cards c
  LEFT JOIN ordered ON true
  LEFT JOIN card_usage u ON u.card_id = c.card_id AND u.month = coalesce(ordered.month, $2::date)
  LEFT JOIN card_stops s ON s.card_id = c.card_id AND s.month = coalesce(ordered.month, $2::date)
  CROSS JOIN LATERAL (
    -- Only by a reading that was taken after the resume.
    SELECT coalesce(s.state = 'resumed' AND s.stop_again AND u.read_at > s.resumed_at, false) AS is_allowed
  ) again
  WHERE c.card_id = $1::bigint AND (
    ordered.month IS NOT NULL
    OR u.used_mb > c.allowance_mb AND u.suspected_mb IS NULL
      -- A later month has begun: this one's package is over.
      AND NOT u.closed)
), judged AS MATERIALIZED (
  SELECT card.*, judge_stop(authority, charged_at, $4::text, $5::integer, $6::integer) AS verdict
  FROM card
  WHERE state IS NULL OR state = 'observed' OR again
    OR state = 'requested' AND (claimed_until IS NULL OR claimed_until <= clock_timestamp())
), claimed AS (
  INSERT INTO card_stops AS s
    (card_id, month, iccid, used_mb, allowance_mb, state, held_by, claimed_until, charged_at)
  SELECT $1::bigint, month, iccid, used_mb, allowance_mb,
    CASE verdict WHEN 'granted' THEN 'requested' WHEN 'observed' THEN 'observed' ELSE 'held' END,
    CASE WHEN verdict NOT IN ('granted', 'observed') THEN verdict END,
    CASE WHEN verdict = 'granted' THEN clock_timestamp() + $3::float8 * interval '1 millisecond' END,
    CASE WHEN verdict = 'granted' THEN clock_timestamp() END
  FROM judged
  -- In mode observe, what was requested before stays so and waits.
  WHERE verdict <> 'observed' OR state IS NULL OR again
  ON CONFLICT (card_id, month) DO UPDATE SET
    used_mb = excluded.used_mb,
    allowance_mb = excluded.allowance_mb,
    state = excluded.state,
    held_by = excluded.held_by,
    requested_at = CASE WHEN s.state IN ('observed', 'resumed') THEN clock_timestamp() ELSE s.requested_at END,
    claimed_until = excluded.claimed_until,
    charged_at = excluded.charged_at,
    unresolved = s.claimed_until IS NOT NULL,
    attempts = s.attempts + 1,
    authority = CASE WHEN s.state <> 'resumed' THEN s.authority END,
    ordered_by = CASE WHEN s.state <> 'resumed' THEN s.ordered_by END,
    reason = CASE WHEN s.state <> 'resumed' THEN s.reason END,
    acknowledged_at = CASE WHEN s.state <> 'resumed' THEN s.acknowledged_at END,
    unconfirmed = CASE WHEN s.state <> 'resumed' THEN s.unconfirmed ELSE 0 END,
    completed_at = NULL,
    resumed_at = NULL,
    stop_again = false
  WHERE s.state = 'observed' OR s.state = 'resumed' AND s.stop_again
    OR s.state = 'requested' AND (s.claimed_until IS NULL OR s.claimed_until <= clock_timestamp())
  RETURNING month, state, held_by, unresolved, attempts, used_mb, allowance_mb
), running AS (
  -- From here on, a card found stopped is the result of this stop.
  UPDATE cards SET stopped = false
  WHERE card_id = $1::bigint AND stopped AND EXISTS (SELECT FROM claimed WHERE state = 'requested')
), dropped AS (
  -- A released stop of a card that is not over any more, or whose month is.
  DELETE FROM card_stops
  WHERE card_id = $1::bigint AND state = 'requested' AND coalesce(authority, '') = 'released'
    AND (month < $2::date OR month = $2::date AND NOT EXISTS (SELECT FROM card))
    AND (claimed_until IS NULL OR claimed_until <= clock_timestamp())
)
SELECT CASE WHEN state <> 'requested' THEN state WHEN unresolved THEN 'unresolved' ELSE 'granted' END AS state,
  to_char(month, 'YYYY-MM') AS month, attempts, used_mb, allowance_mb, 0 AS calls, 0 AS retry_in_ms, held_by,
  true AS is_new, NULL::void AS uncounted
FROM claimed
UNION ALL
SELECT CASE
    WHEN NOT EXISTS (SELECT FROM card) THEN 'not_over'
    WHEN s.state IN ('done', 'dismissed', 'resumed') THEN 'done'
    WHEN s.state = 'held' THEN 'held'
    WHEN s.state = 'observed' OR EXISTS (SELECT FROM judged WHERE verdict = 'observed') THEN 'observed'
    WHEN s.acknowledged_at IS NOT NULL THEN 'unconfirmed'
    -- Also a row that a racing caller has just inserted, which is not visible here yet.
    ELSE 'claimed' END,
  to_char($2::date, 'YYYY-MM'), 0, 0, 0, coalesce(s.unconfirmed, 0),
  greatest(0, coalesce(extract(epoch FROM s.claimed_until - clock_timestamp()) * 1000, 0))::bigint, s.held_by, false,
  -- The racing caller's stop is counted already.
  (SELECT uncount_stop(clock_timestamp()) FROM judged WHERE verdict = 'granted')
FROM (VALUES (1)) one
LEFT JOIN card_stops s ON s.card_id = $1::bigint AND s.month = coalesce((SELECT month FROM card), $2::date)
WHERE NOT EXISTS (SELECT FROM claimed)

-- name: stops.complete
-- The gateway shows the card stopped: the stop is done, the card is stopped and the audit trail has it, together.
-- $1 card id, $2 month, $3 actor, $4 role.
WITH done AS (
  UPDATE card_stops SET state = 'done', claimed_until = NULL, completed_at = clock_timestamp()
  WHERE card_id = $1::bigint AND state = 'requested' AND month = (
    -- An order may be older than the month.
    SELECT max(month) FROM card_stops
    WHERE card_id = $1::bigint AND state = 'requested' AND (month = $2::date OR authority IS NOT NULL))
  RETURNING card_id, used_mb, allowance_mb, authority, ordered_by, reason
), stopped AS (
  UPDATE cards SET stopped = true
  WHERE card_id = $1::bigint AND NOT stopped
    -- Always true; has the stop locked before the card, as claims do, so that the two cannot deadlock.
    AND (SELECT count(*) FROM done) >= 0
)
INSERT INTO audit (month, at, actor, role, action, object, before, after)
SELECT $2::date, clock_timestamp(), $3::text, $4::text, 'card.stop', 'card ' || done.card_id, '{"stopped": false}',
  jsonb_build_object('stopped', true, 'used_mb', done.used_mb, 'allowance_mb', allowance_mb,
    'reading_mb', u.last_reading_mb, 'previous_reading_mb', u.previous_reading_mb,
    'authority', coalesce(authority, 'over_package'), 'ordered_by', ordered_by, 'reason', reason)
FROM done
LEFT JOIN card_usage u ON u.card_id = done.card_id AND u.month = $2::date
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
-- Ends a claim without a stop; the next may be made at once, and this one is not counted.
-- $1 card id, $2 month, $3 attempt of the caller's claim, $4 error.
WITH uncounted AS MATERIALIZED (
  SELECT uncount_stop(charged_at)
  FROM card_stops
  WHERE card_id = $1::bigint AND month = $2::date AND state = 'requested' AND attempts = $3::integer
)
UPDATE card_stops SET claimed_until = NULL, charged_at = NULL, unresolved = false, last_error = $4
-- The count keeps the order of locks: first the row that counts, then the stop.
WHERE (SELECT count(*) FROM uncounted) = 1
  AND card_id = $1::bigint AND month = $2::date AND state = 'requested' AND attempts = $3::integer

-- name: stops.ofCard
-- The newest stops of a card. $1 card id, $2 stops at most.
SELECT to_char(month, 'YYYY-MM') AS month, state, used_mb, allowance_mb, requested_at, completed_at, resumed_at,
  attempts, unconfirmed, last_error, held_by, ordered_by, reason, stop_again
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

-- name: stops.page
-- A page of stops, the latest first. $1 states, $2 since or NULL, $3 carrier or NULL, $4 offset, $5 rows at most.
SELECT s.card_id, s.iccid, c.carrier_id, to_char(s.month, 'YYYY-MM') AS month, s.state, s.used_mb, s.allowance_mb,
  s.requested_at, s.completed_at, s.resumed_at, s.attempts, s.unconfirmed, s.last_error, s.held_by, s.ordered_by, s.reason,
  s.stop_again
FROM card_stops s
LEFT JOIN cards c ON c.card_id = s.card_id
WHERE s.state = ANY ($1::text[])
  AND coalesce(s.completed_at, s.requested_at) >= coalesce(to_timestamp($2::float8 / 1000), '-infinity')
  AND ($3::integer IS NULL OR c.carrier_id = $3::integer)
ORDER BY coalesce(s.completed_at, s.requested_at) DESC, s.card_id
OFFSET $4::bigint
LIMIT $5::integer

-- name: stops.countPage
-- The number of all rows of stops.page. $1 states, $2 since or NULL, $3 carrier or NULL.
SELECT count(*) AS total
FROM card_stops s
WHERE s.state = ANY ($1::text[])
  AND coalesce(s.completed_at, s.requested_at) >= coalesce(to_timestamp($2::float8 / 1000), '-infinity')
  AND ($3::integer IS NULL OR EXISTS (
    SELECT FROM cards c WHERE c.card_id = s.card_id AND c.carrier_id = $3::integer
  ))

-- name: stops.release
-- Lets held stops go on. $1 card ids or NULL for all, $2 by whom, $3 reason, $4 stops at most. Returns the card ids.
WITH chosen AS MATERIALIZED (
  SELECT card_id, month FROM card_stops
  WHERE state = 'held' AND ($1::bigint[] IS NULL OR card_id = ANY ($1::bigint[]))
  ORDER BY card_id
  LIMIT $4::integer
  FOR UPDATE
)
UPDATE card_stops s SET state = 'requested', authority = 'released', ordered_by = $2, reason = $3, held_by = NULL,
  requested_at = clock_timestamp(), due_at = clock_timestamp()
FROM chosen
WHERE s.card_id = chosen.card_id AND s.month = chosen.month
RETURNING s.card_id

-- name: stops.dismiss
-- Gives held stops up. $1 card ids or NULL for all, $2 by whom, $3 reason, $4 stops at most. Returns the card ids.
WITH chosen AS MATERIALIZED (
  SELECT card_id, month FROM card_stops
  WHERE state = 'held' AND ($1::bigint[] IS NULL OR card_id = ANY ($1::bigint[]))
  ORDER BY card_id
  LIMIT $4::integer
  FOR UPDATE
)
UPDATE card_stops s SET state = 'dismissed', ordered_by = $2, reason = $3, held_by = NULL
FROM chosen
WHERE s.card_id = chosen.card_id AND s.month = chosen.month
RETURNING s.card_id

-- name: stops.order
-- An operator orders the stop of a card that is not known as stopped. $1 card id, $2 month, $3 by whom, $4 reason.
-- Returns ordered | already_stopped | unknown_card.
WITH card AS MATERIALIZED (
  SELECT c.card_id, c.iccid, c.allowance_mb, c.stopped, coalesce(u.used_mb, 0) AS used_mb
  FROM cards c
  LEFT JOIN card_usage u ON u.card_id = c.card_id AND u.month = $2::date
  WHERE c.card_id = $1::bigint
), cancelled AS (
  UPDATE card_resumes SET state = 'cancelled', ended_at = clock_timestamp()
  WHERE card_id = $1::bigint AND state = 'waiting' AND EXISTS (SELECT FROM card WHERE NOT stopped)
  RETURNING card_id
), ordered AS (
  INSERT INTO card_stops AS s
    (card_id, month, iccid, used_mb, allowance_mb, authority, ordered_by, reason, due_at, attempts)
  SELECT card_id, $2::date, iccid, used_mb, allowance_mb, 'operator', $3, $4, clock_timestamp(), 0
  FROM card
  -- The count keeps the order of locks: first the resume, then the stop.
  WHERE NOT stopped AND (SELECT count(*) FROM cancelled) >= 0
  ON CONFLICT (card_id, month) DO UPDATE SET
    state = 'requested', authority = 'operator', ordered_by = excluded.ordered_by, reason = excluded.reason,
    due_at = excluded.due_at, held_by = NULL, completed_at = NULL, resumed_at = NULL, stop_again = false,
    requested_at = CASE WHEN s.state = 'requested' THEN s.requested_at ELSE clock_timestamp() END,
    charged_at = CASE WHEN s.state = 'requested' THEN s.charged_at END,
    acknowledged_at = CASE WHEN s.state = 'requested' THEN s.acknowledged_at END,
    unconfirmed = CASE WHEN s.state = 'requested' THEN s.unconfirmed ELSE 0 END
  RETURNING card_id
)
SELECT CASE
    WHEN EXISTS (SELECT FROM ordered) THEN 'ordered'
    WHEN EXISTS (SELECT FROM card) THEN 'already_stopped'
    ELSE 'unknown_card' END AS answer

-- name: stops.due
-- Cards with a released or ordered stop that is due; it is due again after a pause. $1 cards at most, $2 pause in ms.
WITH due AS MATERIALIZED (
  SELECT card_id, month FROM card_stops
  -- Not clock_timestamp(), which no index can be searched for.
  WHERE state = 'requested' AND authority IS NOT NULL AND due_at <= statement_timestamp()
  ORDER BY due_at
  LIMIT $1::integer
  FOR UPDATE SKIP LOCKED
), later AS (
  UPDATE card_stops s SET due_at = clock_timestamp() + $2::float8 * interval '1 millisecond'
  FROM due
  WHERE s.card_id = due.card_id AND s.month = due.month
  RETURNING s.card_id
)
SELECT DISTINCT c.card_id, c.carrier_id, c.real_name_verified
FROM later JOIN cards c ON c.card_id = later.card_id

-- name: stops.dropUnwanted
-- Removes held stops that are not wanted any more. $1 card id after which, $2 stops to look at. Returns the last card id
-- looked at, and the number removed.
WITH looked AS MATERIALIZED (
  SELECT card_id, month FROM card_stops
  WHERE state = 'held' AND card_id > $1::bigint
  ORDER BY card_id
  LIMIT $2::integer
), dropped AS (
  DELETE FROM card_stops s USING looked l
  WHERE s.card_id = l.card_id AND s.month = l.month AND s.state = 'held' AND NOT EXISTS (
    SELECT FROM cards c JOIN card_usage u ON u.card_id = c.card_id
    WHERE c.card_id = l.card_id AND u.month = l.month
      AND NOT c.stopped AND u.used_mb > c.allowance_mb AND NOT u.closed
      -- A card without new readings never closes its month.
      AND l.month > (clock_timestamp() - interval '32 days')::date
  )
  RETURNING s.card_id
)
SELECT (SELECT max(card_id) FROM looked) AS last_card_id, (SELECT count(*) FROM dropped) AS dropped
