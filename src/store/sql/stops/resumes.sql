-- Runs that resume cards; what becomes of each card is decided in src/domain/orders.
--
-- count and handOut walk an index and are planned without any other way (transaction_bounds.walkIndexes): a plan that was
-- made while the tables were small would read or sort all rows again in each step.

-- name: resumes.count
-- One step of counting the cards that a run would have. $1 card ids or NULL, $2 since (epoch ms) or NULL, $3 carrier or NULL,
-- $4 month that begins, of whose month before the stops are, or NULL, $5 and $6 where the step begins (NULL: at the start),
-- $7 rows at most. Returns the cards, the rows looked at, and where the next step begins.
SELECT count(*) FILTER (WHERE is_chosen) AS chosen, count(*) AS looked, max(walked_at)::text AS walked_at,
  (array_agg(walked_to ORDER BY n DESC))[1] AS walked_to
FROM resume_candidates($1::bigint[], $3::integer, ($4::date - interval '1 month')::date, clock_timestamp(),
  coalesce($5::timestamptz, to_timestamp($2::float8 / 1000), $4::date - interval '1 month 1 day'),
  coalesce($6::bigint, CASE WHEN $1::bigint[] IS NULL THEN 9007199254740992 ELSE 0 END), $7::integer
) WITH ORDINALITY AS step (card_id, walked_at, walked_to, is_chosen, n)

-- name: resumes.forget
-- Runs whose cards were removed by cleanup.
DELETE FROM resume_runs r
WHERE created_at < clock_timestamp() - interval '32 days' AND NOT steps_left
  AND NOT EXISTS (SELECT FROM card_resumes c WHERE c.run_id = r.id)

-- name: resumes.create
-- A run without cards yet. $1 card ids or NULL, $2 since (epoch ms) or NULL, $3 carrier or NULL, $4 month that begins or NULL,
-- $5 ms over which the cards are spread, $6 number of cards that were counted, $7 reason, $8 by whom, $9 role, $10 whether its
-- cards may be stopped again in the month. Returns the id; no row when the month has its run.
INSERT INTO resume_runs (card_ids, listed, since, walked_at, walked_to, carrier_id, month, spread_ms, expected, reason,
  created_by, created_role, stop_again, steps_left)
SELECT $1::bigint[], cardinality($1::bigint[]), since, since,
  CASE WHEN since IS NULL THEN 0 ELSE 9007199254740992 END, $3::integer, $4::date, $5::float8, $6::integer, $7, $8, $9,
  $10::boolean, true
FROM coalesce(to_timestamp($2::float8 / 1000), $4::date - interval '1 month 1 day') AS since
ON CONFLICT (month) DO NOTHING
RETURNING id

-- name: resumes.ofMonth
-- $1 month that began.
SELECT id FROM resume_runs WHERE month = $1::date

-- name: resumes.lock
-- Orders the steps of a run by several callers, its cancellation, and orders of stops (stops.lockHandOut). A statement of its
-- own, so that the step sees what was ordered before. $1 id.
SELECT FROM resume_runs WHERE id = $1::uuid FOR UPDATE

-- name: resumes.handOut
-- One step, under the lock: counts the cards that ended, and hands out as many as may wait besides those that do. A run that is
-- spread hands out by the time that has passed. $1 id, $2 cards that may wait at most, $3 stops or cards of a list to look at,
-- at most. Returns whether a further step would hand out more now.
WITH run AS MATERIALIZED (
  SELECT * FROM resume_runs WHERE id = $1::uuid
), ended AS (
  UPDATE card_resumes SET counted = true
  WHERE run_id = $1::uuid AND NOT counted AND state <> 'waiting'
  RETURNING state, ended_at
), room AS MATERIALIZED (
  SELECT least(
    $2::integer - (SELECT count(*) FROM card_resumes WHERE run_id = $1::uuid AND NOT counted AND state = 'waiting'),
    CASE WHEN age_ms < spread_ms THEN ceil(greatest(expected, 1) * age_ms / spread_ms) - handed_out END) AS cards
  FROM run, LATERAL (SELECT extract(epoch FROM clock_timestamp() - created_at) * 1000 AS age_ms) AS age
  WHERE steps_left
), looked AS MATERIALIZED (
  SELECT step.*
  FROM run, room, resume_candidates(run.card_ids, run.carrier_id, (run.month - interval '1 month')::date, run.created_at,
    run.walked_at, run.walked_to, $3::integer
  ) WITH ORDINALITY AS step (card_id, walked_at, walked_to, is_chosen, n)
  WHERE room.cards > 0
), chosen AS MATERIALIZED (
  SELECT card_id, n FROM looked WHERE is_chosen ORDER BY n LIMIT greatest(0, (SELECT cards FROM room))
), placed AS (
  INSERT INTO card_resumes (run_id, card_id) SELECT $1::uuid, card_id FROM chosen
  -- Another run has just taken the card.
  ON CONFLICT DO NOTHING
  RETURNING card_id
), reached AS MATERIALIZED (
  -- A full hand may have left candidates of the step behind.
  SELECT count(*) = (SELECT cards FROM room) AS is_full, (SELECT count(*) FROM looked) = $3::integer AS is_more,
    CASE WHEN count(*) = (SELECT cards FROM room) THEN max(n) ELSE (SELECT max(n) FROM looked) END AS n
  FROM chosen
)
UPDATE resume_runs r SET
  handed_out = r.handed_out + (SELECT count(*) FROM placed),
  resumed = r.resumed + news.resumed,
  already_running = r.already_running + news.already_running,
  failed = r.failed + news.failed,
  last_ended_at = greatest(r.last_ended_at, news.last_ended_at),
  steps_left = r.steps_left AND next.is_left,
  card_ids = CASE WHEN next.is_left THEN r.card_ids END,
  walked_at = coalesce(next.walked_at, r.walked_at),
  walked_to = coalesce(next.walked_to, r.walked_to)
FROM (
  SELECT count(*) FILTER (WHERE state = 'resumed') AS resumed, count(*) FILTER (WHERE state = 'already_running') AS already_running,
    count(*) FILTER (WHERE state = 'failed') AS failed, max(ended_at) AS last_ended_at
  FROM ended
) AS news, (
  SELECT coalesce(room.cards <= 0 OR reached.is_full OR reached.is_more, false) AS is_left, looked.walked_at, looked.walked_to
  FROM reached LEFT JOIN room ON true LEFT JOIN looked ON looked.n = reached.n
) AS next
WHERE r.id = $1::uuid
RETURNING r.steps_left AND coalesce(NOT (SELECT is_full FROM reached), false) AND (SELECT cards FROM room) > 0 AS is_more

-- name: resumes.open
-- Runs with cards to hand out or to count, the oldest first.
SELECT id FROM resume_runs
WHERE steps_left OR EXISTS (SELECT FROM card_resumes r WHERE r.run_id = resume_runs.id AND NOT r.counted)
ORDER BY created_at

-- name: resumes.runs
-- The latest runs with the counts of their cards: those that were counted, and those that were not yet, which are few.
-- $1 id or NULL for all, $2 runs at most, $3 cards that were not resumed to name, at most.
SELECT run.id, run.reason, run.created_by AS by, run.created_at, run.cancelled_at, run.stop_again, run.since, run.carrier_id,
  run.total, ended.resumed, ended.already_running, ended.failed, ended.waiting,
  run.total - ended.resumed - ended.already_running - ended.failed - ended.waiting AS cancelled,
  greatest(0, coalesce(run.listed, run.expected) - run.total) AS skipped,
  CASE
    WHEN run.cancelled_at IS NOT NULL THEN greatest(run.cancelled_at, ended.last_at)
    WHEN NOT run.steps_left AND ended.waiting = 0 THEN coalesce(ended.last_at, run.created_at)
  END AS finished_at,
  coalesce(named.cards, '[]') AS not_resumed,
  coalesce(named.cards #>> '{0,error}', ended.last_error) AS last_error
FROM (
  SELECT *, CASE WHEN steps_left OR cancelled_at IS NOT NULL THEN greatest(expected, handed_out) ELSE handed_out END AS total
  FROM resume_runs
  WHERE id = coalesce($1::uuid, id)
  ORDER BY created_at DESC
  LIMIT $2::integer
) AS run
CROSS JOIN LATERAL (
  SELECT greatest(run.last_ended_at, max(ended_at)) AS last_at, max(last_error) AS last_error,
    run.resumed + count(*) FILTER (WHERE state = 'resumed') AS resumed,
    run.already_running + count(*) FILTER (WHERE state = 'already_running') AS already_running,
    run.failed + count(*) FILTER (WHERE state = 'failed') AS failed,
    CASE WHEN run.cancelled_at IS NULL THEN run.total - run.handed_out + count(*) FILTER (WHERE state = 'waiting') ELSE 0 END AS waiting
  FROM card_resumes
  WHERE run_id = run.id AND NOT counted
) AS ended
CROSS JOIN LATERAL (
  SELECT json_agg(json_build_object('cardId', card_id, 'state', state, 'error', last_error) ORDER BY card_id) AS cards
  FROM (
    SELECT card_id, state, last_error FROM card_resumes
    WHERE run_id = run.id AND state IN ('failed', 'cancelled') AND last_error IS NOT NULL
    ORDER BY card_id
    LIMIT $3::integer
  ) AS card
) AS named
ORDER BY run.created_at DESC

-- name: resumes.cancel
-- Under the lock, so that no card is handed out after it. $1 id.
UPDATE resume_runs SET cancelled_at = clock_timestamp(), steps_left = false, card_ids = NULL,
  expected = CASE WHEN steps_left THEN expected ELSE handed_out END
WHERE id = $1::uuid AND cancelled_at IS NULL

-- name: resumes.cancelCards
-- $1 id. A card whose call is being made keeps its claim, and is recorded when that call ends.
UPDATE card_resumes SET state = 'cancelled', ended_at = clock_timestamp()
WHERE run_id = $1::uuid AND NOT counted AND state = 'waiting'
