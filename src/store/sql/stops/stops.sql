-- Stops as operators see them, and their decisions; the row that decides about all stops, and the counts next to it.

-- part: stop
-- The columns of a stop.
to_char(s.month, 'YYYY-MM') AS month, s.state, s.used_mb, s.allowance_mb, s.requested_at, s.completed_at, s.resumed_at,
  s.attempts, s.unconfirmed, s.last_error, CASE WHEN s.state = 'held' THEN s.held_by END AS held_by, s.ordered_by, s.reason, s.stop_again,
  CASE WHEN s.state = 'requested' AND s.pending_until > clock_timestamp() THEN s.pending_since END AS pending_since,
  CASE WHEN s.state = 'requested' AND s.pending_until > clock_timestamp() THEN s.pending_until END AS pending_until
FROM card_stops s

-- part: listed
s.state = ANY ($1::text[]) AND (NOT $5::boolean OR coalesce(s.authority, '') = 'released')
  AND coalesce(s.completed_at, s.requested_at) >= coalesce(to_timestamp($2::float8 / 1000), '-infinity')
  AND coalesce(s.completed_at, s.requested_at) < coalesce(to_timestamp($7::float8 / 1000), 'infinity')
  AND (NOT $4::boolean OR EXISTS (
    SELECT FROM cards k JOIN card_usage u ON u.card_id = k.card_id AND u.month = s.month
    WHERE k.card_id = s.card_id AND NOT k.stopped AND u.used_mb > k.allowance_mb AND NOT u.closed
  ))
  AND (NOT $6::boolean OR EXISTS (SELECT FROM cards_stopped_within w WHERE w.card_id = s.card_id AND w.month = s.month))

-- part: overSince
-- Cards that are over their package, by stops of cardpoll's own decision in any state: their reading before the last step, and
-- when the stop was judged. By time of the stop.
SELECT s.card_id, c.carrier_id, u.jump_from_mb AS before_mb, s.reading_mb AS shown_mb, s.requested_at,
  s.state = 'requested' AND s.charged_at IS NULL AS waits
FROM of_jump CROSS JOIN LATERAL (
  SELECT * FROM card_stops
  WHERE coalesce(completed_at, requested_at) >= of_jump.since AND requested_at >= of_jump.since
    AND state IN ('held', 'observed', 'requested', 'done') AND coalesce(authority, '') <> 'operator' AND reading_mb IS NOT NULL
) AS s
JOIN cards c ON c.card_id = s.card_id AND c.iccid = s.iccid
JOIN card_usage u ON u.card_id = s.card_id AND u.month = s.month AND u.used_mb > c.allowance_mb AND NOT u.closed

-- name: stops.ofCard
-- The newest stops of a card. $1 card id, $2 stops at most.
SELECT {stop}
WHERE s.card_id = $1::bigint
ORDER BY s.month DESC
LIMIT $2::integer

-- name: stops.unconfirmed
-- The number of cards that run although the gateway acknowledged their stop without effect, for the first time at least $2 ms
-- ago; at most $1. A stop that is no longer wanted (card removed or stopped meanwhile, another SIM, allowance raised, month over)
-- does not count; one that an operator ordered stays wanted, whatever the card has used. Fast: the partial index of the
-- unconfirmed, then two rows by key for each.
SELECT count(*) AS count
FROM (
  SELECT FROM card_stops s
  JOIN cards c ON c.card_id = s.card_id
  LEFT JOIN card_usage u ON u.card_id = s.card_id AND u.month = s.month
  WHERE s.state = 'requested' AND s.acknowledged_at IS NOT NULL AND NOT c.stopped AND s.iccid = c.iccid
    -- While the vendor reports work on a first call, that call is not without effect.
    AND (s.unconfirmed > 0 OR s.pending_until <= clock_timestamp())
    AND coalesce(s.pending_since, '-infinity') <= clock_timestamp() - $2::float8 * interval '1 millisecond'
    AND (
      coalesce(s.authority, '') = 'operator'
      OR u.used_mb > c.allowance_mb AND NOT u.closed
        -- A card without new readings never closes its month.
        AND s.month > (clock_timestamp() - interval '32 days')::date
    )
  LIMIT $1::bigint
) AS found

-- name: stops.page
-- A page of stops, the latest first. $1 states, $2 since or NULL, $3 carrier or NULL, $4 only stops that spare a card which is
-- over its package and runs, $5 only stops that an operator released, $6 only stops whose card is now within its package, $7
-- until or NULL, $8 offset, $9 rows at most.
SELECT s.card_id, s.iccid, c.carrier_id, {stop}
LEFT JOIN cards c ON c.card_id = s.card_id
WHERE {listed} AND ($3::integer IS NULL OR c.carrier_id = $3::integer)
ORDER BY coalesce(s.completed_at, s.requested_at) DESC, s.card_id
OFFSET $8::bigint
LIMIT $9::integer

-- name: stops.countPage
-- The number of all rows of stops.page. $1 to $7 as there.
SELECT count(*) AS total
FROM card_stops s
WHERE {listed} AND ($3::integer IS NULL OR EXISTS (
    SELECT FROM cards c WHERE c.card_id = s.card_id AND c.carrier_id = $3::integer
  ))

-- name: stops.release
-- Releases held stops. $1 card ids or NULL for all, $2 by whom, $3 reason, $4 stops at most. Returns the card ids.
WITH chosen AS MATERIALIZED (
  SELECT ctid AS place FROM card_stops
  WHERE state = 'held' AND ($1::bigint[] IS NULL OR card_id = ANY ($1::bigint[]))
  ORDER BY card_id
  LIMIT $4::integer
  FOR UPDATE
)
-- The cause of the hold is kept, so that the release can be undone.
UPDATE card_stops s SET state = 'requested', authority = 'released', ordered_by = $2, reason = $3,
  requested_at = clock_timestamp(), due_at = clock_timestamp()
-- By its place, because a join that is planned for few stops could read all of them for each.
WHERE s.ctid = ANY (ARRAY(SELECT place FROM chosen))
RETURNING s.card_id

-- name: stops.holdAgain
-- Undoes releases whose stops were not called. $1 by whom they were made, $2 their reason, $3 since (epoch ms), $4 stops at most.
-- Returns the card ids.
WITH chosen AS MATERIALIZED (
  SELECT ctid AS place FROM card_stops
  WHERE state = 'requested' AND authority = 'released' AND ordered_by = $1 AND reason = $2
    AND requested_at >= to_timestamp($3::float8 / 1000) AND held_by IS NOT NULL
    AND claimed_until IS NULL AND charged_at IS NULL AND acknowledged_at IS NULL AND NOT unresolved
  ORDER BY card_id
  LIMIT $4::integer
  FOR UPDATE
)
UPDATE card_stops s SET state = 'held', authority = NULL, ordered_by = NULL, reason = NULL, due_at = NULL
-- By its place, as release.
WHERE s.ctid = ANY (ARRAY(SELECT place FROM chosen))
RETURNING s.card_id

-- name: stops.dismiss
-- Dismisses stops that were not called: held, observed, released or ordered. $1 card ids or NULL for all, $2 by whom, $3 reason,
-- $4 stops at most of each kind. Returns the card ids.
WITH waiting AS MATERIALIZED (
  SELECT ctid AS place FROM card_stops
  WHERE state IN ('held', 'observed') AND ($1::bigint[] IS NULL OR card_id = ANY ($1::bigint[]))
  ORDER BY state, card_id
  LIMIT $4::integer
  FOR UPDATE
), uncalled AS MATERIALIZED (
  SELECT ctid AS place FROM card_stops
  WHERE state = 'requested' AND claimed_until IS NULL AND charged_at IS NULL AND acknowledged_at IS NULL
    AND ($1::bigint[] IS NULL OR card_id = ANY ($1::bigint[]))
  ORDER BY card_id
  LIMIT $4::integer
  FOR UPDATE
)
UPDATE card_stops s SET state = 'dismissed', ordered_by = $2, reason = $3, held_by = NULL
-- By its place, as release.
WHERE s.ctid = ANY (ARRAY(SELECT place FROM waiting UNION ALL SELECT place FROM uncalled))
RETURNING s.card_id

-- name: stops.lockHandOut
-- Makes sure that a step of a run either has handed out its cards before the order, or leaves the ordered card out.
SELECT FROM resume_runs WHERE steps_left FOR SHARE

-- name: stops.open
-- Cards with a stop that is held, observed or requested; a card with several stops is repeated. $1 card id after which, $2 stops
-- at most. Each state in the order of its index: one condition for all would sort all of them each time.
(SELECT card_id FROM card_stops WHERE state = 'held' AND card_id > $1::bigint ORDER BY card_id LIMIT $2::integer)
UNION ALL
(SELECT card_id FROM card_stops WHERE state = 'observed' AND card_id > $1::bigint ORDER BY card_id LIMIT $2::integer)
UNION ALL
(SELECT card_id FROM card_stops WHERE state = 'requested' AND card_id > $1::bigint ORDER BY card_id LIMIT $2::integer)
ORDER BY card_id
LIMIT $2::integer

-- name: stops.readControl
-- $1 rows that are counted at most.
SELECT json_build_object(
    'since', extract(epoch FROM c.jump_since) * 1000, 'carrierId', c.jump_carrier, 'acceptedAt', extract(epoch FROM c.jump_accepted_at) * 1000,
    'overAt', extract(epoch FROM c.jump_over_at) * 1000, 'doubtfulUntil', extract(epoch FROM c.jump_doubtful_until) * 1000
  ) AS jump_facts,
  c.mode AS "set_mode.mode", c.mode_since AS "set_mode.since", c.mode_by AS "set_mode.by", c.mode_reason AS "set_mode.reason",
  c.jump_since AS "jump.since", c.jump_carrier AS "jump.carrier_id", c.jump_factor AS "jump.factor", c.jump_baseline AS "jump.baseline_mb_per_hour",
  c.jump_recent AS "jump.recent_mb_per_hour", c.jump_accepted_at AS "jump.accepted_at",
  CASE WHEN c.jump_since IS NOT NULL THEN c.jump_is_step END AS "jump.is_step",
  (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
  coalesce(c.watched_until > clock_timestamp(), false) AND c.unwatched_left <= 0 AND c.jump_accepted_at IS NULL AND EXISTS (
    SELECT FROM card_stops
    WHERE state = 'requested' AND authority IS NULL AND due_at <= statement_timestamp() - interval '5 seconds'
  ) AS waits_for_watch,
  c.minute AS "counts.minute", c.by_minute AS "counts.by_minute", c.by_quarter AS "counts.by_quarter",
  (SELECT count(*) FROM card_stops
    WHERE authority IS NOT NULL AND charged_at >= date_trunc('minute', statement_timestamp()) - interval '1 minute') AS ordered,
  held.holds,
  (SELECT count(*) FROM (SELECT FROM card_stops WHERE state = 'observed' LIMIT $1::integer) AS found) AS observed,
  (SELECT count(*) FROM (
    SELECT FROM card_stops WHERE state = 'requested' AND authority = 'released' LIMIT $1::integer
  ) AS found) AS released,
  (SELECT count(*) FROM (
    SELECT FROM card_stops WHERE resumed_at > statement_timestamp() - interval '1 day' LIMIT $1::integer
  ) AS found) AS resumed_day
FROM stop_control AS c
CROSS JOIN LATERAL (
  SELECT coalesce(json_agg(cause), '[]') AS holds
  FROM (
    SELECT held_by AS "heldBy", count(*) AS stops, extract(epoch FROM min(requested_at)) * 1000 AS "requestedAt"
    FROM (SELECT held_by, requested_at FROM card_stops WHERE state = 'held' LIMIT $1::integer) AS found
    -- A jump may have ended in such a way that its earlier holds wait for an operator.
    GROUP BY held_by, requested_at <= c.jump_doubtful_until
  ) AS cause
) AS held

-- name: stops.setMode
-- Mode enforce also accepts a current jump. $1 mode, $2 by whom, $3 reason. Both times are equal, which shows the change that
-- accepted the jump.
UPDATE stop_control SET mode = $1, mode_since = statement_timestamp(), mode_by = $2, mode_reason = $3,
  jump_accepted_at = CASE WHEN $1 = 'enforce' AND jump_since IS NOT NULL
    THEN coalesce(jump_accepted_at, statement_timestamp()) ELSE jump_accepted_at END

-- name: stops.readJump
SELECT jump_since AS since, jump_carrier AS carrier_id, jump_factor AS factor, jump_baseline AS baseline_mb_per_hour,
  jump_recent AS recent_mb_per_hour, jump_accepted_at AS accepted_at, jump_is_step AS is_step
FROM stop_control
WHERE jump_since IS NOT NULL

-- name: stops.overSinceJump
-- Since the current jump began, or up to $2 ms before, at most $1.
WITH of_jump AS (
  SELECT jump_since - $2::float8 * interval '1 millisecond' AS since, jump_carrier FROM stop_control WHERE jump_since IS NOT NULL
)
{overSince}
WHERE coalesce(of_jump.jump_carrier = c.carrier_id, true)
ORDER BY coalesce(s.completed_at, s.requested_at) DESC
LIMIT $1::integer

-- name: stops.overSince
-- In the last $2 ms, at most $1, without the carrier of the current jump.
WITH of_jump AS (
  SELECT clock_timestamp() - $2::float8 * interval '1 millisecond' AS since, jump_carrier FROM stop_control
)
{overSince}
WHERE coalesce(of_jump.jump_carrier <> c.carrier_id, true)
ORDER BY coalesce(s.completed_at, s.requested_at) DESC
LIMIT $1::integer

-- name: stops.unwatchedLeft
SELECT unwatched_left AS left FROM stop_control

-- name: stops.noteWatched
-- $1 stops that may be called before readings are compared again; NULL: as many as before. $2 that number before the comparison:
-- stops called meanwhile are not granted once more. $3 ms until the next comparison.
UPDATE stop_control SET
  unwatched_left = CASE WHEN unwatched_left = $2::integer THEN coalesce($1::integer, unwatched_left) ELSE unwatched_left END,
  watched_until = clock_timestamp() + $3::float8 * interval '1 millisecond'

-- name: stops.noteStep
-- Returns a row if this was not known.
UPDATE stop_control SET jump_is_step = true
WHERE jump_since IS NOT NULL AND jump_accepted_at IS NULL AND NOT jump_is_step
RETURNING only_row

-- name: stops.beginJump
-- $1 factor, $2 baseline, $3 recent growth, MB per hour, $4 carrier or NULL for the fleet, $5 whether it is a step. Returns a row
-- if there was no jump, or one of another carrier, or an accepted one that this one continues: such a jump did not end by normal
-- growth.
UPDATE stop_control SET jump_since = clock_timestamp(), jump_factor = $1, jump_baseline = $2, jump_recent = $3,
  jump_accepted_at = NULL, jump_is_step = $5::boolean,
  jump_carrier = CASE WHEN jump_since IS NULL OR jump_carrier = $4::integer THEN $4::integer END,
  jump_doubtful_until = CASE WHEN jump_accepted_at IS NULL THEN jump_doubtful_until ELSE clock_timestamp() END
WHERE jump_since IS NULL OR jump_carrier <> coalesce($4::integer, -1) OR jump_accepted_at IS NOT NULL AND jump_recent <= $2
RETURNING jump_since

-- name: stops.endJump
-- $1 whether growth is normal again. Otherwise its holds stay doubtful. Returns a row if there was a jump.
UPDATE stop_control SET jump_since = NULL, jump_accepted_at = NULL, jump_is_step = false, jump_carrier = NULL,
  jump_over_at = CASE WHEN $1::boolean THEN clock_timestamp() ELSE jump_over_at END,
  jump_doubtful_until = CASE WHEN $1::boolean THEN jump_doubtful_until ELSE clock_timestamp() END
WHERE jump_since IS NOT NULL
RETURNING only_row

-- name: stops.oddInRange
-- Cards of a range that run over their package, and cards that cardpoll stopped and that are within theirs; and the number of
-- cards with a doubtful counter, by carrier. $1 card id to start after, $2 last card id, $3 current month. Walks the keys once.
WITH found AS MATERIALIZED (
  SELECT c.card_id, c.carrier_id, u.suspected_mb IS NOT NULL AS is_in_doubt,
    c.stopped = (u.used_mb <= coalesce(c.allowance_mb, 'Infinity'))
      AND (NOT c.stopped OR EXISTS (SELECT FROM card_stops s WHERE s.card_id = c.card_id AND s.state = 'done')) AS is_odd
  FROM cards c JOIN card_usage u ON u.card_id = c.card_id AND u.month = $3::date
  WHERE c.card_id > $1::bigint AND c.card_id <= $2::bigint
    AND (c.stopped = (u.used_mb <= coalesce(c.allowance_mb, 'Infinity')) OR u.suspected_mb IS NOT NULL)
)
SELECT (SELECT coalesce(array_to_json(array_agg(card_id ORDER BY card_id)), '[]') FROM found WHERE is_odd) AS card_ids,
  (SELECT coalesce(json_agg(json_build_object('carrierId', carrier_id, 'cards', cards)), '[]')
    FROM (SELECT carrier_id, count(*) AS cards FROM found WHERE is_in_doubt GROUP BY carrier_id) AS carriers) AS in_doubt

-- name: stops.noteOdd
-- One step of the walk over all cards. $1 card id to start after, $2 last card id, $3 current month, $4 the number of all cards
-- if the walk ends with it (NULL: it continues), $5 cards of the range that run over their package without an explanation, $6
-- cards that are stopped within it, $7 the months of their stops.
WITH gone AS (
  DELETE FROM cards_over_running o
  WHERE o.card_id > $1::bigint AND o.card_id <= $2::bigint AND o.card_id <> ALL ($5::bigint[])
), fit AS (
  DELETE FROM cards_stopped_within w
  WHERE w.card_id > $1::bigint AND w.card_id <= $2::bigint AND w.card_id <> ALL ($6::bigint[])
), within AS (
  INSERT INTO cards_stopped_within AS w (card_id, month)
  SELECT * FROM unnest($6::bigint[], $7::date[])
  ON CONFLICT (card_id) DO UPDATE SET month = excluded.month, tried_at = NULL
  WHERE w.month <> excluded.month
), walk AS (
  UPDATE stop_control SET
    fleet_cards = coalesce($4::bigint, fleet_cards),
    over_running_month = CASE WHEN $1::bigint = 0 OR over_running_month = $3::date THEN $3::date END,
    over_running_at = CASE
      WHEN $4::bigint IS NOT NULL AND ($1::bigint = 0 OR over_running_month = $3::date) THEN clock_timestamp()
      WHEN over_running_month = $3::date THEN over_running_at END
  WHERE ($4::bigint IS NOT NULL OR over_running_month IS DISTINCT FROM $3::date)
    AND (over_running_month IS NOT NULL OR $1::bigint = 0)
)
INSERT INTO cards_over_running AS o (card_id, month)
SELECT found, $3::date FROM unnest($5::bigint[]) AS found
ON CONFLICT (card_id) DO UPDATE SET month = excluded.month, seen_at = clock_timestamp()
WHERE o.month <> excluded.month

-- name: stops.overRunning
-- The number of cards that have run over their package for longer than $1 ms, at most $2, when the last walk ended, and up to $3
-- of their ids. A card that was stopped or changed since the walk does not count, nor one whose stop explains it by now
-- (card_orders.saveStops). No row: unknown.
SELECT control.over_running_at AS at, found.count, found.card_ids
FROM stop_control control CROSS JOIN LATERAL (
  SELECT count(*) AS count, coalesce(array_to_json((array_agg(card_id ORDER BY card_id))[:$3::integer]), '[]') AS card_ids
  FROM (
    SELECT o.card_id
    FROM cards_over_running o
    -- The limit permits only one plan: card by card. Another one could read all cards.
    CROSS JOIN LATERAL (
      SELECT FROM cards c JOIN card_usage u ON u.card_id = c.card_id AND u.month = control.over_running_month
      WHERE c.card_id = o.card_id AND NOT c.stopped AND u.used_mb > c.allowance_mb AND u.suspected_mb IS NULL AND NOT u.closed
        AND reading_is_of_sim(c, u.iccid, u.read_at)
      LIMIT 1
    ) AS still_so
    WHERE o.month = control.over_running_month
      AND o.seen_at <= clock_timestamp() - $1::float8 * interval '1 millisecond'
    LIMIT $2::integer
  ) AS runs
) AS found
WHERE control.over_running_at IS NOT NULL
