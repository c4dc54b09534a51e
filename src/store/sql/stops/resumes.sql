-- Runs that resume cards. src/domain/orders decides which cards a run takes, and the result of each.
--
-- nextStops and nextListed walk an index, and all other plans are switched off (transaction_bounds.walkIndexes): a plan that was
-- made while the tables were small would read or sort all rows again in each step.

-- part: stop
-- The facts of a card's stop `s` that decide; month first, since it is never null.
to_char(s.month, 'YYYY-MM') AS "stop.month", s.state AS "stop.state", s.authority AS "stop.authority", s.iccid AS "stop.iccid",
  (extract(epoch FROM s.requested_at) * 1000)::float8 AS "stop.requested_at", s.claimed_until IS NOT NULL AS "stop.is_claimed",
  s.unresolved AS "stop.unresolved"

-- part: card
-- The card of `met`, and whether it waits in a run. The orders and limits permit only one plan: card by card, by the index on the
-- card id. Another plan could read all waiting cards for each card; it seems as cheap while the table is empty, and a plan is
-- kept.
LEFT JOIN LATERAL (
  SELECT c.iccid, c.stopped, c.carrier_id
  FROM cards c WHERE c.card_id BETWEEN met.card_id AND met.card_id ORDER BY c.card_id LIMIT 1
) AS c ON true
LEFT JOIN LATERAL (
  SELECT r.run_id FROM card_resumes r
  WHERE r.card_id BETWEEN met.card_id AND met.card_id AND r.state = 'waiting' ORDER BY r.card_id LIMIT 1
) AS waits ON true

-- part: cardColumns
c.iccid AS "card.iccid", c.stopped AS "card.stopped", c.carrier_id AS "card.carrier_id", waits.run_id IS NOT NULL AS waits_in_run

-- name: resumes.nextStops
-- One step of the walk over stops by time. A stop that is confirmed meanwhile moves forward, so the walk meets it. $1 time and $2
-- card id after which the step begins, $3 stops at most.
SELECT s.card_id, s.at::text AS walked_at, false AS is_listed, {cardColumns}, {stop}, (
    SELECT json_agg(json_build_object('month', to_char(later.month, 'YYYY-MM'), 'state', later.state, 'authority', later.authority,
      'iccid', later.iccid, 'requestedAt', extract(epoch FROM later.requested_at) * 1000,
      'isClaimed', later.claimed_until IS NOT NULL, 'unresolved', later.unresolved))
    FROM card_stops later
    WHERE later.card_id BETWEEN s.card_id AND s.card_id AND later.month > s.month
  ) AS later_stops
FROM (
  (
    SELECT *, coalesce(completed_at, requested_at) AS at FROM card_stops
    WHERE coalesce(completed_at, requested_at) = $1::timestamptz AND card_id < $2::bigint
    ORDER BY card_id DESC
    LIMIT $3::integer
  )
  UNION ALL
  (
    SELECT *, coalesce(completed_at, requested_at) FROM card_stops
    WHERE coalesce(completed_at, requested_at) > $1::timestamptz
    ORDER BY coalesce(completed_at, requested_at), card_id DESC
    LIMIT $3::integer
  )
  ORDER BY at, card_id DESC
  LIMIT $3::integer
) AS s
CROSS JOIN LATERAL (SELECT s.card_id) AS met
{card}
ORDER BY s.at, s.card_id DESC

-- name: resumes.nextListed
-- $1 card ids, in their order.
SELECT met.card_id, NULL AS walked_at, true AS is_listed, {cardColumns}, {stop}, NULL AS later_stops
FROM unnest($1::bigint[]) WITH ORDINALITY AS met (card_id, place)
{card}
LEFT JOIN LATERAL (
  SELECT * FROM card_stops
  WHERE card_id BETWEEN met.card_id AND met.card_id ORDER BY card_id DESC, month DESC LIMIT 1
) AS s ON true
ORDER BY met.place

-- name: resumes.forget
-- Removes runs whose cards were removed by cleanup.
DELETE FROM resume_runs r
WHERE created_at < clock_timestamp() - interval '32 days' AND NOT steps_left
  AND NOT EXISTS (SELECT FROM card_resumes c WHERE c.run_id = r.id)

-- name: resumes.create
-- Creates a run without cards. $1 card ids or NULL, $2 when the walk over stops begins, or NULL, $3 carrier or NULL, $4 new month
-- or NULL, $5 ms over which the cards are spread, $6 number of cards that were counted, $7 reason, $8 by whom, $9 role, $10
-- whether its cards may be stopped again in the month. Returns the id; no row when the month has its run.
INSERT INTO resume_runs (card_ids, listed, since, walked_at, walked_to, carrier_id, month, spread_ms, expected, reason,
  created_by, created_role, stop_again, steps_left)
SELECT $1::bigint[], cardinality($1::bigint[]), since, since,
  CASE WHEN since IS NULL THEN 0 ELSE 9007199254740992 END, $3::integer, $4::date, $5::float8, $6::integer, $7, $8, $9,
  $10::boolean, true
FROM (SELECT $2::timestamptz) AS of_run (since)
ON CONFLICT (month) DO NOTHING
RETURNING id

-- name: resumes.ofMonth
-- $1 new month.
SELECT id FROM resume_runs WHERE month = $1::date

-- name: resumes.lock
-- Serialises the steps of a run by several callers, its cancellation, and orders of stops (stops.lockHandOut). A separate
-- statement, so that the step sees earlier orders. $1 id.
SELECT FROM resume_runs WHERE id = $1::uuid FOR UPDATE

-- name: resumes.countEnded
-- Under the lock: counts the cards of a run that ended. $1 id, $2 cards that may wait at most, $3 cards of a list in one step.
-- Returns the start of the next step: how many cards may be handed out now (a spread run hands out by the elapsed time), the
-- selection of the run, and the place where the step begins. No row: all are handed out.
WITH ended AS (
  UPDATE card_resumes SET counted = true
  WHERE run_id = $1::uuid AND NOT counted AND state <> 'waiting'
  RETURNING state, ended_at
), news AS MATERIALIZED (
  SELECT count(*) FILTER (WHERE state = 'resumed') AS resumed, count(*) FILTER (WHERE state = 'already_running') AS already_running,
    count(*) FILTER (WHERE state = 'failed') AS failed, max(ended_at) AS last_ended_at
  FROM ended
), run AS (
  UPDATE resume_runs r SET resumed = r.resumed + news.resumed, already_running = r.already_running + news.already_running,
    failed = r.failed + news.failed, last_ended_at = greatest(r.last_ended_at, news.last_ended_at)
  FROM news
  WHERE r.id = $1::uuid
  RETURNING r.*
)
SELECT least(
    $2::integer - (SELECT count(*) FROM card_resumes WHERE run_id = $1::uuid AND NOT counted AND state = 'waiting'),
    CASE WHEN age_ms < spread_ms THEN ceil(greatest(expected, 1) * age_ms / spread_ms) - handed_out END)::integer AS room,
  card_ids[walked_to + 1 : walked_to + $3::integer] AS listed, walked_at::text, walked_to, carrier_id,
  to_char(month - interval '1 month', 'YYYY-MM') AS month, (extract(epoch FROM created_at) * 1000)::float8 AS ordered_at
FROM run, LATERAL (SELECT extract(epoch FROM clock_timestamp() - created_at) * 1000 AS age_ms) AS age
WHERE steps_left

-- name: resumes.handOut
-- Under the lock. $1 id, $2 card ids, $3 and $4 where the next step begins, $5 whether there is one.
WITH placed AS (
  INSERT INTO card_resumes (run_id, card_id) SELECT $1::uuid, chosen FROM unnest($2::bigint[]) AS chosen
  -- Another run has just taken the card.
  ON CONFLICT DO NOTHING
  RETURNING card_id
)
UPDATE resume_runs SET handed_out = handed_out + (SELECT count(*) FROM placed), walked_at = coalesce($3::timestamptz, walked_at),
  walked_to = $4::bigint, steps_left = $5::boolean, card_ids = CASE WHEN $5::boolean THEN card_ids END
WHERE id = $1::uuid

-- name: resumes.open
-- Runs with cards to hand out or to count, the oldest first.
SELECT id FROM resume_runs
WHERE steps_left OR EXISTS (SELECT FROM card_resumes r WHERE r.run_id = resume_runs.id AND NOT r.counted)
ORDER BY created_at

-- name: resumes.runs
-- The latest runs with the counts of their cards: counted ones, and the few that are not counted yet. $1 id or NULL for all, $2
-- runs at most, $3 most cards to name that were not resumed.
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
-- $1 id. A card with a call in flight keeps its claim, and is recorded when that call ends.
UPDATE card_resumes SET state = 'cancelled', ended_at = clock_timestamp()
WHERE run_id = $1::uuid AND NOT counted AND state = 'waiting'
