-- Runs that resume cards, and the claims to make their calls. The number of the attempt is the fence.
--
-- count, fill, markCancelled and due walk an index and are planned without any other way (transaction_bounds.walkIndexes): a
-- plan that was made while the tables were small would read or sort all rows again in each step.

-- name: resumes.count
-- One step of counting the cards that a run would have. $1 card ids or NULL, $2 since (epoch ms) or NULL, $3 carrier or NULL,
-- $4 month that begins, of whose month before the stops are, or NULL, $5 and $6 where the step begins (NULL: now), $7 rows
-- at most. Returns the cards, the rows looked at, and where the next step begins.
SELECT count(*) FILTER (WHERE is_chosen) AS chosen, count(*) AS looked, min(walked_at)::text AS walked_at,
  (array_agg(walked_to ORDER BY walked_at, walked_to DESC))[1] AS walked_to
FROM resume_candidates($1::bigint[],
  coalesce(to_timestamp($2::float8 / 1000), $4::date - interval '1 month 1 day'), $3::integer,
  ($4::date - interval '1 month')::date, coalesce($5::timestamptz, clock_timestamp()), $6::bigint, $7::integer)

-- name: resumes.forget
-- Runs whose cards were removed by cleanup.
DELETE FROM resume_runs r
WHERE created_at < clock_timestamp() - interval '32 days' AND NOT steps_left
  AND NOT EXISTS (SELECT FROM card_resumes c WHERE c.run_id = r.id)

-- name: resumes.create
-- A run without cards yet. $1 card ids or NULL, $2 since (epoch ms) or NULL, $3 carrier or NULL, $4 month that begins or NULL,
-- $5 ms over which the cards are spread, $6 number of cards that were counted, $7 reason, $8 by whom, $9 role, $10 whether its
-- cards may be stopped again in the month. Returns the id; no row when the month has its run.
INSERT INTO resume_runs (card_ids, listed, since, carrier_id, month, spread_ms, expected, reason, created_by, created_role,
  stop_again, steps_left, walked_at)
SELECT $1::bigint[], cardinality($1::bigint[]),
  coalesce(to_timestamp($2::float8 / 1000), $4::date - interval '1 month 1 day'), $3::integer, $4::date, $5::float8,
  $6::integer, $7, $8, $9, $10::boolean, true, clock_timestamp()
ON CONFLICT (month) DO NOTHING
RETURNING id

-- name: resumes.ofMonth
-- $1 month that began.
SELECT id FROM resume_runs WHERE month = $1::date

-- name: resumes.lock
-- Orders the steps of a run by several callers, and steps and orders of stops (stops.lockFilling). A statement of its own, so
-- that the step sees what was ordered before. $1 id.
SELECT FROM resume_runs WHERE id = $1::uuid FOR UPDATE

-- name: resumes.fill
-- Places the cards of one step, under the lock. $1 id, $2 rows to look at, at most. Returns whether steps are left; no row when
-- there was none to make.
WITH run AS MATERIALIZED (
  SELECT * FROM resume_runs WHERE id = $1::uuid AND steps_left AND cancelled_at IS NULL
), looked AS MATERIALIZED (
  SELECT step.*
  FROM run CROSS JOIN LATERAL resume_candidates(run.card_ids, run.since, run.carrier_id,
    (run.month - interval '1 month')::date, run.walked_at, run.walked_to, $2::integer) AS step
), freed AS (
  UPDATE card_resumes r SET state = 'cancelled', ended_at = clock_timestamp()
  -- By its place, because a join could read all that wait for each card.
  WHERE r.ctid = ANY (ARRAY(SELECT freed_at FROM looked WHERE freed_at IS NOT NULL)) AND r.state = 'waiting'
  RETURNING r.card_id
), placed AS (
  INSERT INTO card_resumes (run_id, card_id, not_before, due_at)
  SELECT id, card_id, due_at, due_at
  FROM (
    SELECT run.id, looked.card_id, run.created_at + random() * run.spread_ms * interval '1 millisecond' AS due_at
    FROM run CROSS JOIN looked
    -- The count has a card free before it is placed again.
    WHERE looked.is_chosen AND (SELECT count(*) FROM freed) >= 0
      -- The latest order counts. By order and limit, since a plan that was made for few stops could read all for each card.
      AND NOT coalesce((
        SELECT s.authority = 'operator' AND s.state IN ('requested', 'done') AND s.requested_at >= run.created_at
        FROM card_stops s
        WHERE s.card_id = looked.card_id
        ORDER BY s.card_id DESC, s.month DESC
        LIMIT 1), false)
  ) AS chosen
  -- Another run has placed the card just now.
  ON CONFLICT DO NOTHING
  RETURNING card_id
), steps AS (
  SELECT count(*) AS looked, min(walked_at) AS walked_at,
    (array_agg(walked_to ORDER BY walked_at, walked_to DESC))[1] AS walked_to
  FROM looked
)
UPDATE resume_runs r SET
  filled = r.filled + (SELECT count(*) FROM placed),
  steps_left = steps.looked = $2::integer,
  card_ids = CASE WHEN steps.looked = $2::integer THEN r.card_ids END,
  walked_at = coalesce(steps.walked_at, r.walked_at),
  walked_to = coalesce(steps.walked_to, r.walked_to)
FROM run, steps
WHERE r.id = run.id
RETURNING r.steps_left

-- name: resumes.markCancelled
-- Marks the cards of one step of a cancelled run, under the lock. $1 id, $2 cards to look at, at most. Returns as fill does.
WITH run AS MATERIALIZED (
  SELECT id, walked_to FROM resume_runs WHERE id = $1::uuid AND steps_left AND cancelled_at IS NOT NULL
), looked AS MATERIALIZED (
  SELECT r.ctid AS place, r.card_id
  FROM card_resumes r
  -- Not a join, which would sort all that are left.
  WHERE r.run_id = (SELECT id FROM run) AND r.card_id > (SELECT walked_to FROM run)
  ORDER BY r.card_id
  LIMIT $2::integer
), marked AS (
  UPDATE card_resumes r SET state = 'cancelled', ended_at = clock_timestamp()
  WHERE r.ctid = ANY (ARRAY(SELECT place FROM looked)) AND r.state = 'waiting'
    -- A card whose call is being made is left to due: stops.order has to know of it.
    AND (r.claimed_until IS NULL OR r.claimed_until <= clock_timestamp())
  RETURNING r.card_id
), steps AS (
  SELECT count(*) AS looked, max(card_id) AS walked_to FROM looked
)
UPDATE resume_runs r SET steps_left = steps.looked = $2::integer, walked_to = coalesce(steps.walked_to, r.walked_to)
FROM run, steps
-- Always true; has the cards marked first.
WHERE r.id = run.id AND (SELECT count(*) FROM marked) >= 0
RETURNING r.steps_left

-- name: resumes.withStepsLeft
-- Runs whose cards are to be placed or marked, the oldest first.
SELECT id FROM resume_runs WHERE steps_left ORDER BY created_at

-- name: resumes.runs
-- The latest runs with the counts of their cards. $1 id or NULL for all, $2 runs at most.
SELECT run.id, run.reason, run.created_by AS by, run.created_at, run.cancelled_at, run.stop_again, run.is_filling, run.filled,
  run.total,
  counts.resumed, counts.already_running, counts.failed,
  CASE WHEN run.cancelled_at IS NULL THEN counts.cancelled
    ELSE run.total - counts.resumed - counts.already_running - counts.failed END AS cancelled,
  CASE WHEN run.cancelled_at IS NULL THEN run.total - counts.ended ELSE 0 END AS waiting,
  CASE
    WHEN run.cancelled_at IS NOT NULL THEN greatest(run.cancelled_at, counts.last_at)
    WHEN run.total = counts.ended AND NOT run.is_filling THEN coalesce(counts.last_at, run.created_at)
  END AS finished_at,
  coalesce(run.listed, run.total) - run.total AS skipped,
  (SELECT r.last_error FROM card_resumes r WHERE r.run_id = run.id AND r.last_error IS NOT NULL LIMIT 1) AS last_error
FROM (
  SELECT *, steps_left AND cancelled_at IS NULL AS is_filling,
    CASE WHEN steps_left AND cancelled_at IS NULL THEN greatest(expected, filled) ELSE filled END AS total
  FROM resume_runs
  WHERE id = coalesce($1::uuid, id)
  ORDER BY created_at DESC
  LIMIT $2::integer
) AS run
CROSS JOIN LATERAL (
  SELECT coalesce(sum(cards), 0) AS ended, max(last_at) AS last_at,
    coalesce(sum(cards) FILTER (WHERE state = 'resumed'), 0) AS resumed,
    coalesce(sum(cards) FILTER (WHERE state = 'already_running'), 0) AS already_running,
    coalesce(sum(cards) FILTER (WHERE state = 'failed'), 0) AS failed,
    coalesce(sum(cards) FILTER (WHERE state = 'cancelled'), 0) AS cancelled
  FROM resume_counts c
  WHERE c.run_id = run.id
) AS counts
ORDER BY run.created_at DESC

-- name: resumes.cancel
-- In force for all its cards at once; markCancelled marks them. $1 id. A card whose call is being made keeps its claim, and
-- is recorded when that call ends.
UPDATE resume_runs SET cancelled_at = clock_timestamp(), steps_left = true, card_ids = NULL, walked_to = 0
WHERE id = $1::uuid AND cancelled_at IS NULL

-- name: resumes.claim
-- $1 card id, $2 lease in ms. Returns the answer as JSON: granted | unresolved | claimed | stopping | unconfirmed; no row when
-- the card waits in no run. claimed also while a call of an earlier run may be under way that the card was taken out of.
-- stopping: the call of a stop may be under way, so what the gateway shows of the card now does not count.
WITH stop_call AS MATERIALIZED (
  SELECT FROM card_stops
  WHERE card_id = $1::bigint AND state = 'requested' AND claimed_until > clock_timestamp()
    AND charged_at > coalesce(acknowledged_at, '-infinity')
), earlier_call AS MATERIALIZED (
  SELECT FROM card_resumes
  WHERE card_id = $1::bigint AND state = 'cancelled' AND claimed_until > clock_timestamp()
    -- After a call without effect the claim is only a pause.
    AND (unconfirmed = 0 OR unresolved)
), claimed AS (
  UPDATE card_resumes r SET
    claimed_until = clock_timestamp() + $2::float8 * interval '1 millisecond',
    unresolved = r.claimed_until IS NOT NULL,
    attempts = attempts + 1
  FROM resume_runs run
  WHERE card_id = $1::bigint AND state = 'waiting' AND not_before <= clock_timestamp()
    AND run.id = r.run_id AND run.cancelled_at IS NULL
    AND (claimed_until IS NULL OR claimed_until <= clock_timestamp())
    AND NOT EXISTS (SELECT FROM stop_call) AND NOT EXISTS (SELECT FROM earlier_call)
  RETURNING run_id, unresolved, attempts
)
SELECT json_build_object(
  'state', CASE WHEN unresolved THEN 'unresolved' ELSE 'granted' END, 'runId', run_id, 'attempt', attempts) AS claim
FROM claimed
UNION ALL
SELECT CASE
  WHEN EXISTS (SELECT FROM stop_call) THEN json_build_object('state', 'stopping', 'runId', run_id)
  WHEN unconfirmed > 0 THEN json_build_object('state', 'unconfirmed', 'runId', run_id)
  ELSE json_build_object('state', 'claimed', 'runId', run_id) END
FROM card_resumes r JOIN resume_runs run ON run.id = r.run_id
WHERE card_id = $1::bigint AND state = 'waiting' AND not_before <= clock_timestamp() AND run.cancelled_at IS NULL
  AND NOT EXISTS (SELECT FROM claimed)

-- name: resumes.complete
-- The gateway shows the card running: the card ended, is not stopped any more, and the audit trail has it, together. Its stop
-- is resumed; whether it may be stopped again is for the latest run to say.
-- The entry says whether the card was stopped before, at the gateway or as recorded.
-- $1 card id, $2 run, $3 month of the audit entry, $4 whether a call was made for it.
WITH ended AS (
  UPDATE card_resumes r SET
    state = CASE WHEN $4::boolean OR unresolved OR unconfirmed > 0 THEN 'resumed' ELSE 'already_running' END,
    claimed_until = NULL, ended_at = clock_timestamp()
  FROM resume_runs run
  WHERE card_id = $1::bigint AND run_id = $2::uuid AND run.id = r.run_id
    AND (state = 'waiting' AND run.cancelled_at IS NULL OR state IN ('waiting', 'cancelled') AND claimed_until IS NOT NULL)
  RETURNING run.*, r.state
), stop AS (
  UPDATE card_stops s SET state = 'resumed', resumed_at = clock_timestamp(), claimed_until = NULL, stop_again = ended.stop_again
  FROM ended
  WHERE s.card_id = $1::bigint
    -- A stop that was requested before the run must not follow the resume.
    AND (s.state IN ('done', 'resumed') OR s.state = 'requested' AND s.requested_at < ended.created_at)
    AND s.month = (SELECT max(month) FROM card_stops WHERE card_id = $1::bigint)
  RETURNING s.used_mb, s.allowance_mb
), awaited AS (
  -- A stop that was ordered meanwhile waits for this call no longer, but for that of a later run.
  UPDATE card_stops SET claimed_until = NULL, due_at = clock_timestamp()
  WHERE card_id = $1::bigint AND state = 'requested' AND claimed_until IS NOT NULL AND charged_at IS NULL
    AND requested_at >= (SELECT created_at FROM ended)
    AND NOT EXISTS (
      SELECT FROM card_resumes other
      WHERE other.card_id = $1::bigint AND other.run_id <> $2::uuid AND other.claimed_until > clock_timestamp()
    )
  RETURNING card_id
), running AS (
  UPDATE cards SET stopped = false
  WHERE card_id = $1::bigint AND stopped AND EXISTS (SELECT FROM ended)
    -- Always true; has the stop locked before the card, as claims do, so that the two cannot deadlock.
    AND (SELECT count(*) FROM stop) + (SELECT count(*) FROM awaited) >= 0
  RETURNING card_id
)
INSERT INTO audit (month, at, actor, role, action, object, before, after)
SELECT $3::date, clock_timestamp(), ended.created_by, ended.created_role, 'card.resume', 'card ' || $1::bigint,
  jsonb_build_object('stopped', ended.state = 'resumed' OR EXISTS (SELECT FROM running)),
  jsonb_build_object('stopped', false, 'run_id', ended.id, 'reason', ended.reason, 'outcome', ended.state,
    'used_mb', stop.used_mb, 'allowance_mb', stop.allowance_mb)
    || CASE WHEN ended.stop_again THEN '{"stop_again": true}' ELSE '{}' END::jsonb
FROM ended
LEFT JOIN stop ON true
RETURNING at, actor AS name, role, address, request_id, action, object, before, after

-- name: resumes.acknowledge
-- The gateway acknowledged the call and does not show the card running: no further call before a pause that doubles, and
-- none after too many. $1 card id, $2 run, $3 attempt, $4 first pause in ms, $5 longest pause in ms, $6 calls at most.
-- A card that was taken out of the run meanwhile stays so.
WITH ended AS (
  UPDATE card_resumes SET
    unconfirmed = unconfirmed + 1,
    unresolved = false,
    last_error = 'acknowledged, and the card is still stopped',
    claimed_until = clock_timestamp()
      + least($5::float8, $4::float8 * 2 ^ least(unconfirmed, 30)) * interval '1 millisecond',
    state = CASE WHEN state = 'waiting' AND unconfirmed + 1 >= $6::integer THEN 'failed' ELSE state END,
    ended_at = CASE WHEN state = 'waiting' AND unconfirmed + 1 >= $6::integer THEN clock_timestamp() ELSE ended_at END
  WHERE card_id = $1::bigint AND run_id = $2::uuid AND attempts = $3::integer
    AND (state = 'waiting' OR state = 'cancelled' AND claimed_until > clock_timestamp())
  RETURNING state
), awaited AS (
  -- As in complete.
  UPDATE card_stops SET claimed_until = NULL, due_at = clock_timestamp()
  WHERE card_id = $1::bigint AND state = 'requested' AND claimed_until IS NOT NULL AND charged_at IS NULL
    AND EXISTS (SELECT FROM ended WHERE state = 'cancelled')
)
SELECT state = 'failed' AS gave_up FROM ended

-- name: resumes.abandon
-- Ends a claim without an effect. $1 card id, $2 run, $3 attempt, $4 error, $5 whether the gateway refused the card,
-- $6 refusals at most. A card that was taken out of the run meanwhile stays so.
WITH ended AS (
  UPDATE card_resumes SET
    claimed_until = NULL,
    unresolved = false,
    last_error = $4,
    refused = refused + $5::boolean::integer,
    state = CASE WHEN state = 'waiting' AND $5::boolean AND refused + 1 >= $6::integer THEN 'failed' ELSE state END,
    ended_at = CASE WHEN state = 'waiting' AND $5::boolean AND refused + 1 >= $6::integer THEN clock_timestamp()
      ELSE ended_at END
  WHERE card_id = $1::bigint AND run_id = $2::uuid AND attempts = $3::integer
    AND (state = 'waiting' OR state = 'cancelled' AND claimed_until > clock_timestamp())
  RETURNING state
), awaited AS (
  -- As in complete.
  UPDATE card_stops SET claimed_until = NULL, due_at = clock_timestamp()
  WHERE card_id = $1::bigint AND state = 'requested' AND claimed_until IS NOT NULL AND charged_at IS NULL
    AND EXISTS (SELECT FROM ended WHERE state = 'cancelled')
)
SELECT state = 'failed' AS gave_up FROM ended

-- name: resumes.due
-- Cards that are to be resumed and due; they are due again after a pause. A card that was removed from the fleet ends as
-- failed, one of a cancelled run as cancelled when no call is being made for it. $1 cards at most, $2 pause in ms.
WITH taken AS MATERIALIZED (
  SELECT ctid AS place, run_id, card_id, coalesce(claimed_until > clock_timestamp(), false) AS is_called
  FROM card_resumes
  -- Not clock_timestamp(), which no index can be searched for.
  WHERE state = 'waiting' AND due_at <= statement_timestamp()
  ORDER BY due_at
  LIMIT $1::integer
  FOR UPDATE SKIP LOCKED
), due AS MATERIALIZED (
  SELECT taken.place, taken.card_id, c.carrier_id, c.real_name_verified, run.cancelled_at IS NULL AS is_wanted,
    CASE WHEN run.cancelled_at IS NOT NULL AND NOT taken.is_called THEN 'cancelled' WHEN c.card_id IS NULL THEN 'failed' ELSE 'waiting' END AS state
  FROM taken
  JOIN resume_runs run ON run.id = taken.run_id
  LEFT JOIN cards c ON c.card_id = taken.card_id
), later AS (
  UPDATE card_resumes r SET
    due_at = clock_timestamp() + $2::float8 * interval '1 millisecond',
    state = due.state,
    last_error = CASE WHEN due.state = 'failed' THEN 'the card was removed' ELSE r.last_error END,
    ended_at = CASE WHEN due.state <> 'waiting' THEN clock_timestamp() END
  FROM due
  WHERE r.ctid = due.place
)
SELECT card_id, carrier_id, real_name_verified FROM due WHERE state = 'waiting' AND is_wanted
