-- Stops as operators see them, and what they decide; the one row that decides about all stops, and the counts beside it.

-- part: stop
-- The columns of a stop, and what they are of.
to_char(s.month, 'YYYY-MM') AS month, s.state, s.used_mb, s.allowance_mb, s.requested_at, s.completed_at, s.resumed_at,
  s.attempts, s.unconfirmed, s.last_error, s.held_by, s.ordered_by, s.reason, s.stop_again,
  CASE WHEN s.state <> 'held' THEN NULL WHEN hold.over_at IS NULL THEN 'operator'
    WHEN hold.over_at = 'infinity' THEN 'jump_end' ELSE 'reading' END AS held_for,
  nullif(hold.over_at, 'infinity') AS held_until
FROM card_stops s
LEFT JOIN LATERAL (SELECT hold_over_at(s) AS over_at) AS hold ON s.state = 'held'

-- part: listed
-- Those that spare a card are told as in over_running (migration 0014).
s.state = ANY ($1::text[])
  AND coalesce(s.completed_at, s.requested_at) >= coalesce(to_timestamp($2::float8 / 1000), '-infinity')
  AND (NOT $4::boolean OR EXISTS (
    SELECT FROM cards k JOIN card_usage u ON u.card_id = k.card_id AND u.month = s.month
    WHERE k.card_id = s.card_id AND NOT k.stopped AND u.used_mb > k.allowance_mb AND NOT u.closed
      AND stop_spares(s, k, u.read_at)
  ))

-- part: chosen
WITH chosen AS MATERIALIZED (
  SELECT ctid AS place FROM card_stops
  WHERE state = 'held' AND ($1::bigint[] IS NULL OR card_id = ANY ($1::bigint[]))
  ORDER BY card_id
  LIMIT $4::integer
  FOR UPDATE
)

-- name: stops.ofCard
-- The newest stops of a card. $1 card id, $2 stops at most.
SELECT {stop}
WHERE s.card_id = $1::bigint
ORDER BY s.month DESC
LIMIT $2::integer

-- name: stops.unconfirmed
-- How many cards run although the gateway acknowledged their stop, at most $1. A stop that is no longer wanted (card
-- removed or stopped meanwhile, another SIM, allowance raised, month over) does not count; one that an operator ordered stays wanted,
-- whatever the card has used. Small and partial: the index of the unconfirmed, then two rows by their keys each.
SELECT count(*) AS count
FROM (
  SELECT FROM card_stops s
  JOIN cards c ON c.card_id = s.card_id
  LEFT JOIN card_usage u ON u.card_id = s.card_id AND u.month = s.month
  WHERE s.state = 'requested' AND s.acknowledged_at IS NOT NULL AND NOT c.stopped AND s.iccid = c.iccid
    AND (
      coalesce(s.authority, '') = 'operator'
      OR u.used_mb > c.allowance_mb AND NOT u.closed
        -- A card without new readings never closes its month.
        AND s.month > (clock_timestamp() - interval '32 days')::date
    )
  LIMIT $1::bigint
) AS found

-- name: stops.page
-- A page of stops, the latest first. $1 states, $2 since or NULL, $3 carrier or NULL, $4 only those that spare a card which is
-- over its package and runs, $5 offset, $6 rows at most.
SELECT s.card_id, s.iccid, c.carrier_id, {stop}
LEFT JOIN cards c ON c.card_id = s.card_id
WHERE {listed} AND ($3::integer IS NULL OR c.carrier_id = $3::integer)
ORDER BY coalesce(s.completed_at, s.requested_at) DESC, s.card_id
OFFSET $5::bigint
LIMIT $6::integer

-- name: stops.countPage
-- The number of all rows of stops.page. $1 to $4 as there.
SELECT count(*) AS total
FROM card_stops s
WHERE {listed} AND ($3::integer IS NULL OR EXISTS (
    SELECT FROM cards c WHERE c.card_id = s.card_id AND c.carrier_id = $3::integer
  ))

-- name: stops.release
-- Lets held stops go on. $1 card ids or NULL for all, $2 by whom, $3 reason, $4 stops at most. Returns the card ids.
{chosen}
UPDATE card_stops s SET state = 'requested', authority = 'released', ordered_by = $2, reason = $3, held_by = NULL,
  requested_at = clock_timestamp(), due_at = clock_timestamp()
-- By its place: a join, planned for few stops, could read all of them for each.
WHERE s.ctid = ANY (ARRAY(SELECT place FROM chosen))
RETURNING s.card_id

-- name: stops.dismiss
-- Gives held stops up. $1 card ids or NULL for all, $2 by whom, $3 reason, $4 stops at most. Returns the card ids.
{chosen}
UPDATE card_stops s SET state = 'dismissed', ordered_by = $2, reason = $3, held_by = NULL
-- By its place: a join, planned for few stops, could read all of them for each.
WHERE s.ctid = ANY (ARRAY(SELECT place FROM chosen))
RETURNING s.card_id

-- name: stops.lockHandOut
-- A step of a run either has handed out its cards before the order, or leaves the ordered card out.
SELECT FROM resume_runs WHERE steps_left FOR SHARE

-- name: stops.cancelResume
-- $1 card id. Returns a row if the card waited to be resumed, or its call may be under way, with the end of the claim in that
-- case. Such a call keeps its claim, and is recorded when it ends. It may be of an earlier run that the card was taken out of.
WITH cancelled AS (
  UPDATE card_resumes SET state = 'cancelled', ended_at = clock_timestamp(), last_error = 'an operator ordered its stop'
  WHERE card_id = $1::bigint AND state = 'waiting'
  -- After a call without effect the claim is only a pause; the next claim is unresolved.
  RETURNING CASE WHEN unconfirmed = 0 OR unresolved THEN claimed_until END AS claimed_until
), earlier_call AS (
  SELECT claimed_until FROM card_resumes
  WHERE card_id = $1::bigint AND state = 'cancelled' AND claimed_until > clock_timestamp()
    AND (unconfirmed = 0 OR unresolved)
)
SELECT max(claimed_until)::text AS claimed_until
FROM (SELECT claimed_until FROM cancelled UNION ALL SELECT claimed_until FROM earlier_call) AS ended
HAVING count(*) > 0

-- name: stops.order
-- An operator orders the stop of a card that is not known as stopped, that waited to be resumed (the call may have been made),
-- or that a run may hand out later: its step leaves the card out then. Until the call of the resume has ended, the
-- stop is claimed, and not charged: it is neither called nor done.
-- $1 card id, $2 month, $3 by whom, $4 reason, $5 whether a resume was cancelled, $6 the end of its claim or NULL.
-- Returns ordered | already_stopped | unknown_card.
WITH card AS MATERIALIZED (
  SELECT c.card_id, c.iccid, c.carrier_id, c.allowance_mb, c.stopped, coalesce(u.used_mb, 0) AS used_mb
  FROM cards c
  LEFT JOIN card_usage u ON u.card_id = c.card_id AND u.month = $2::date
  WHERE c.card_id = $1::bigint
), ordered AS (
  INSERT INTO card_stops AS s
    (card_id, month, iccid, used_mb, allowance_mb, authority, ordered_by, reason, due_at, attempts, claimed_until)
  SELECT card_id, $2::date, iccid, used_mb, allowance_mb, 'operator', $3, $4, clock_timestamp(), 0, $6::timestamptz
  FROM card
  WHERE NOT stopped OR $5::boolean
    OR EXISTS (
      SELECT FROM resume_runs run
      WHERE run.steps_left
        AND coalesce(run.carrier_id, card.carrier_id) IS NOT DISTINCT FROM card.carrier_id
        AND (run.card_ids IS NULL OR $1::bigint = ANY (run.card_ids)))
  ON CONFLICT (card_id, month) DO UPDATE SET
    iccid = excluded.iccid, used_mb = excluded.used_mb, allowance_mb = excluded.allowance_mb,
    state = 'requested', authority = 'operator', ordered_by = excluded.ordered_by, reason = excluded.reason,
    due_at = excluded.due_at, held_by = NULL, completed_at = NULL, resumed_at = NULL, stop_again = false,
    requested_at = clock_timestamp(),
    charged_at = CASE WHEN s.state = 'requested' AND $6::timestamptz IS NULL THEN s.charged_at END,
    claimed_until = greatest(s.claimed_until, excluded.claimed_until),
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
  SELECT ctid AS place FROM card_stops
  -- Not clock_timestamp(), which no index can be searched for.
  WHERE state = 'requested' AND authority IS NOT NULL AND due_at <= statement_timestamp()
  ORDER BY due_at
  LIMIT $1::integer
  FOR UPDATE SKIP LOCKED
), later AS (
  UPDATE card_stops s SET due_at = clock_timestamp() + $2::float8 * interval '1 millisecond'
  -- By its place, as release.
  WHERE s.ctid = ANY (ARRAY(SELECT place FROM due))
  RETURNING s.card_id
)
SELECT DISTINCT c.card_id, c.carrier_id, c.real_name_verified
FROM later JOIN cards c ON c.card_id = later.card_id

-- name: stops.dropUnwanted
-- Removes held and observed stops that are not wanted any more. $1 card id after which, $2 stops to look at. Returns the last
-- card id looked at, and the number removed.
WITH looked AS MATERIALIZED (
  -- Each in the order of its index: one condition for both would sort all of them each time.
  (SELECT card_id, month FROM card_stops WHERE state = 'held' AND card_id > $1::bigint ORDER BY card_id LIMIT $2::integer)
  UNION ALL
  (SELECT card_id, month FROM card_stops WHERE state = 'observed' AND card_id > $1::bigint ORDER BY card_id LIMIT $2::integer)
  ORDER BY card_id LIMIT $2::integer
), dropped AS (
  DELETE FROM card_stops s USING looked l
  WHERE s.card_id = l.card_id AND s.month = l.month AND s.state IN ('held', 'observed') AND NOT EXISTS (
    SELECT FROM cards c JOIN card_usage u ON u.card_id = c.card_id
    WHERE c.card_id = l.card_id AND u.month = l.month
      AND NOT c.stopped AND u.used_mb > c.allowance_mb AND NOT u.closed AND s.iccid = c.iccid
      -- A card without new readings never closes its month.
      AND l.month > (clock_timestamp() - interval '32 days')::date
  )
  RETURNING s.card_id
)
SELECT (SELECT max(card_id) FROM looked) AS last_card_id, (SELECT count(*) FROM dropped) AS dropped

-- name: stops.readControl
-- $1 rows that are counted at most.
SELECT c.mode AS "set_mode.mode", c.mode_since AS "set_mode.since", c.mode_by AS "set_mode.by", c.mode_reason AS "set_mode.reason",
  c.jump_since AS "jump.since", c.jump_factor AS "jump.factor", c.jump_baseline AS "jump.baseline_mb_per_hour",
  c.jump_recent AS "jump.recent_mb_per_hour", c.jump_accepted_at AS "jump.accepted_at",
  (SELECT sum(n) FROM unnest(c.by_minute) n) AS done_hour,
  c.by_minute[60] + c.by_minute[61] - (SELECT count(*) FROM card_stops WHERE authority IS NOT NULL AND charged_at >= to_timestamp(60 * (c.minute - 1))) AS done_two_minutes,
  (SELECT sum(n) FROM unnest(c.by_quarter) n) AS done_day,
  (SELECT max(n) FROM unnest(c.by_quarter[1:5]) n) AS quarter_of_yesterday,
  held.held, held.held_for_operator, held.held_until,
  (SELECT count(*) FROM (SELECT FROM card_stops WHERE state = 'observed' LIMIT $1::integer) AS found) AS observed,
  (SELECT count(*) FROM (
    SELECT FROM card_stops WHERE resumed_at > statement_timestamp() - interval '1 day' LIMIT $1::integer
  ) AS found) AS resumed_day
FROM (SELECT (stop_control_now(stop_control)).* FROM stop_control) AS c
CROSS JOIN LATERAL (
  -- As hold_over_at, without a call for each.
  SELECT count(*) AS held,
    count(*) FILTER (WHERE held_by IN ('budget_day', 'reading_fell')
      OR held_by = 'usage_jump' AND requested_at <= c.jump_doubtful_until) AS held_for_operator,
    min(requested_at) FILTER (WHERE held_by = 'budget_hour') + interval '1 hour' AS held_until
  FROM (SELECT held_by, requested_at FROM card_stops WHERE state = 'held' LIMIT $1::integer) AS found
) AS held

-- name: stops.setMode
-- Mode enforce also accepts a jump that has begun. $1 mode, $2 by whom, $3 reason. Both times are the same, so that they show
-- which change accepted the jump.
UPDATE stop_control SET mode = $1, mode_since = statement_timestamp(), mode_by = $2, mode_reason = $3,
  jump_accepted_at = CASE WHEN $1 = 'enforce' AND jump_since IS NOT NULL
    THEN coalesce(jump_accepted_at, statement_timestamp()) ELSE jump_accepted_at END

-- name: stops.readJump
SELECT jump_since AS since, jump_factor AS factor, jump_baseline AS baseline_mb_per_hour,
  jump_recent AS recent_mb_per_hour, jump_accepted_at AS accepted_at
FROM stop_control
WHERE jump_since IS NOT NULL

-- name: stops.beginJump
-- $1 factor, $2 baseline, $3 recent growth, MB per hour. Returns a row if there was no jump, or an accepted one that this one
-- goes on from: that one never ended by growth as before it.
UPDATE stop_control SET jump_since = clock_timestamp(), jump_factor = $1, jump_baseline = $2, jump_recent = $3,
  jump_accepted_at = NULL,
  jump_doubtful_until = CASE WHEN jump_since IS NULL THEN jump_doubtful_until ELSE clock_timestamp() END
WHERE jump_since IS NULL OR jump_accepted_at IS NOT NULL AND jump_recent <= $2
RETURNING jump_since

-- name: stops.endJump
-- $1 whether growth is as before. Otherwise what it held stays doubtful. Returns a row if there was a jump.
UPDATE stop_control SET jump_since = NULL, jump_accepted_at = NULL,
  jump_over_at = CASE WHEN $1::boolean THEN clock_timestamp() ELSE jump_over_at END,
  jump_doubtful_until = CASE WHEN $1::boolean THEN jump_doubtful_until ELSE clock_timestamp() END
WHERE jump_since IS NOT NULL
RETURNING only_row

-- name: stops.sweepOverRunning
-- One step of the walk over all cards: which of these are over their package, run, and have nothing open. $1 card id to start
-- after, $2 last card id, $3 present month, $4 whether the walk ends with it. Walks the keys.
WITH found AS MATERIALIZED (
  SELECT o.card_id
  FROM over_running($3::date) o
  WHERE o.card_id > $1::bigint AND o.card_id <= $2::bigint
), gone AS (
  DELETE FROM cards_over_running o
  WHERE o.card_id > $1::bigint AND o.card_id <= $2::bigint AND o.card_id NOT IN (SELECT card_id FROM found)
), walk AS (
  UPDATE stop_control SET
    over_running_month = CASE WHEN $1::bigint = 0 OR over_running_month = $3::date THEN $3::date END,
    over_running_at = CASE
      WHEN $4::boolean AND ($1::bigint = 0 OR over_running_month = $3::date) THEN clock_timestamp()
      WHEN over_running_month = $3::date THEN over_running_at END
  WHERE ($4::boolean OR over_running_month IS DISTINCT FROM $3::date)
    AND (over_running_month IS NOT NULL OR $1::bigint = 0)
)
INSERT INTO cards_over_running AS o (card_id, month)
SELECT card_id, $3::date FROM found
ON CONFLICT (card_id) DO UPDATE SET month = excluded.month, seen_at = clock_timestamp()
WHERE o.month <> excluded.month

-- name: stops.overRunning
-- How many cards run so for longer than $1 ms, at most $2, when the last walk ended, and up to $3 of their ids. Judged anew by their
-- keys, so that a card which is stopped meanwhile does not count until the next walk. No row: not known.
SELECT control.over_running_at AS at, found.count, found.card_ids
FROM stop_control control CROSS JOIN LATERAL (
  SELECT count(*) AS count, coalesce(array_to_json((array_agg(card_id ORDER BY card_id))[:$3::integer]), '[]') AS card_ids
  FROM (
    SELECT o.card_id
    FROM cards_over_running o
    -- The limit allows one plan only: card by card. Another one could read all cards.
    CROSS JOIN LATERAL (
      SELECT FROM over_running(control.over_running_month) still WHERE still.card_id = o.card_id LIMIT 1
    ) AS still_so
    WHERE o.month = control.over_running_month
      AND o.seen_at <= clock_timestamp() - $1::float8 * interval '1 millisecond'
    LIMIT $2::integer
  ) AS runs
) AS found
WHERE control.over_running_at IS NOT NULL
