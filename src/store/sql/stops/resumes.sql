-- Runs that resume cards, and the claims to make their calls. The number of the attempt is the fence.

-- name: resumes.preview
-- $1 card ids or NULL, $2 since (epoch ms) or NULL, $3 carrier or NULL.
SELECT count(*) AS total FROM cards_to_resume($1::bigint[], to_timestamp($2::float8 / 1000), $3::integer)

-- name: resumes.create
-- $1 card ids or NULL, $2 since (epoch ms) or NULL, $3 carrier or NULL, $4 reason, $5 by whom, $6 role, $7 number
-- of different card ids or NULL. Returns the id.
WITH run AS (
  INSERT INTO resume_runs (reason, created_by, created_role, listed) VALUES ($4, $5, $6, $7::integer) RETURNING id
), cards_of_run AS (
  INSERT INTO card_resumes (run_id, card_id)
  SELECT run.id, card_id
  FROM run, cards_to_resume($1::bigint[], to_timestamp($2::float8 / 1000), $3::integer) AS card_id
  -- Another run was made at the same time.
  ON CONFLICT (card_id) WHERE state = 'waiting' DO NOTHING
), forgotten AS (
  -- Cleanup has removed the cards of these.
  DELETE FROM resume_runs r
  WHERE created_at < clock_timestamp() - interval '32 days'
    AND NOT EXISTS (SELECT FROM card_resumes c WHERE c.run_id = r.id)
)
SELECT id FROM run

-- name: resumes.createForMonth
-- $1 month that begins, $2 ms over which the cards are spread, $3 by whom, $4 role, $5 reason. Returns the id of a new run.
WITH run AS (
  INSERT INTO resume_runs (reason, created_by, created_role, month) VALUES ($5, $3, $4, $1::date)
  ON CONFLICT (month) DO NOTHING
  RETURNING id, created_at
), chosen AS MATERIALIZED (
  SELECT s.card_id, run.id, run.created_at + random() * $2::float8 * interval '1 millisecond' AS not_before
  FROM run, card_stops s JOIN cards c ON c.card_id = s.card_id
  WHERE s.month = ($1::date - interval '1 month')::date AND s.state = 'done' AND s.authority IS DISTINCT FROM 'operator'
    AND c.stopped
), cards_of_run AS (
  INSERT INTO card_resumes (run_id, card_id, not_before, due_at)
  SELECT id, card_id, not_before, not_before FROM chosen
  ON CONFLICT (card_id) WHERE state = 'waiting' DO NOTHING
), forgotten AS (
  -- Cleanup has removed the cards of these.
  DELETE FROM resume_runs r
  WHERE created_at < clock_timestamp() - interval '32 days'
    AND NOT EXISTS (SELECT FROM card_resumes c WHERE c.run_id = r.id)
)
SELECT id FROM run

-- name: resumes.runs
-- The latest runs with the counts of their cards. $1 id or NULL for all, $2 runs at most.
SELECT run.id, run.reason, run.created_by AS by, run.created_at, run.cancelled_at, cards.*,
  coalesce(run.listed, cards.total) - cards.total AS skipped,
  (SELECT r.last_error FROM card_resumes r WHERE r.run_id = run.id AND r.last_error IS NOT NULL LIMIT 1) AS last_error
FROM (
  SELECT * FROM resume_runs
  WHERE id = coalesce($1::uuid, id)
  ORDER BY created_at DESC
  LIMIT $2::integer
) AS run
CROSS JOIN LATERAL (
  SELECT count(*) AS total,
    count(*) FILTER (WHERE state = 'waiting') AS waiting,
    count(*) FILTER (WHERE state = 'resumed') AS resumed,
    count(*) FILTER (WHERE state = 'already_running') AS already_running,
    count(*) FILTER (WHERE state = 'failed') AS failed,
    count(*) FILTER (WHERE state = 'cancelled') AS cancelled,
    CASE WHEN count(*) FILTER (WHERE state = 'waiting') = 0 THEN coalesce(max(ended_at), run.created_at) END AS finished_at
  FROM card_resumes r
  WHERE r.run_id = run.id
) AS cards
ORDER BY run.created_at DESC

-- name: resumes.cancel
-- $1 id. A card whose call is being made keeps its claim, and is recorded when that call ends.
WITH run AS (
  UPDATE resume_runs SET cancelled_at = clock_timestamp() WHERE id = $1::uuid AND cancelled_at IS NULL
)
UPDATE card_resumes SET state = 'cancelled', ended_at = clock_timestamp()
WHERE run_id = $1::uuid AND state = 'waiting'

-- name: resumes.claim
-- $1 card id, $2 lease in ms. Returns a row: state granted | unresolved | claimed | unconfirmed with run and attempt; no row
-- when the card waits in no run.
WITH claimed AS (
  UPDATE card_resumes r SET
    claimed_until = clock_timestamp() + $2::float8 * interval '1 millisecond',
    unresolved = r.claimed_until IS NOT NULL,
    attempts = attempts + 1
  WHERE card_id = $1::bigint AND state = 'waiting' AND not_before <= clock_timestamp()
    AND (claimed_until IS NULL OR claimed_until <= clock_timestamp())
  RETURNING run_id, unresolved, attempts
)
SELECT run_id, attempts, CASE WHEN unresolved THEN 'unresolved' ELSE 'granted' END AS state, 0 AS retry_in_ms
FROM claimed
UNION ALL
SELECT run_id, attempts, CASE WHEN unconfirmed > 0 THEN 'unconfirmed' ELSE 'claimed' END,
  greatest(0, coalesce(extract(epoch FROM claimed_until - clock_timestamp()) * 1000, 0))::bigint
FROM card_resumes
WHERE card_id = $1::bigint AND state = 'waiting' AND not_before <= clock_timestamp() AND NOT EXISTS (SELECT FROM claimed)

-- name: resumes.complete
-- The gateway shows the card running: the card ended, is not stopped any more, and the audit trail has it, together.
-- $1 card id, $2 run, $3 month of the audit entry, $4 whether a call was made for it.
WITH ended AS (
  UPDATE card_resumes SET
    state = CASE WHEN $4::boolean OR unresolved OR unconfirmed > 0 THEN 'resumed' ELSE 'already_running' END,
    claimed_until = NULL, ended_at = clock_timestamp()
  WHERE card_id = $1::bigint AND run_id = $2::uuid
    AND (state = 'waiting' OR state = 'cancelled' AND claimed_until IS NOT NULL)
  RETURNING run_id, state
), stop AS (
  UPDATE card_stops SET state = 'resumed', resumed_at = clock_timestamp(), claimed_until = NULL
  WHERE card_id = $1::bigint
    -- A stop that was requested before the run must not follow the resume.
    AND (state = 'done' OR state = 'requested' AND requested_at <
      (SELECT run.created_at FROM ended JOIN resume_runs run ON run.id = ended.run_id))
    AND month = (SELECT max(month) FROM card_stops WHERE card_id = $1::bigint)
    AND EXISTS (SELECT FROM ended)
  RETURNING used_mb, allowance_mb
), running AS (
  UPDATE cards SET stopped = false
  WHERE card_id = $1::bigint AND stopped AND EXISTS (SELECT FROM ended)
    -- Always true; has the stop locked before the card, as claims do, so that the two cannot deadlock.
    AND (SELECT count(*) FROM stop) >= 0
)
INSERT INTO audit (month, at, actor, role, action, object, before, after)
SELECT $3::date, clock_timestamp(), run.created_by, run.created_role, 'card.resume', 'card ' || $1::bigint,
  '{"stopped": true}',
  jsonb_build_object('stopped', false, 'run_id', run.id, 'reason', run.reason, 'outcome', ended.state,
    'used_mb', stop.used_mb, 'allowance_mb', stop.allowance_mb)
FROM ended
JOIN resume_runs run ON run.id = ended.run_id
LEFT JOIN stop ON true
RETURNING at, actor AS name, role, action, object, before, after

-- name: resumes.acknowledge
-- The gateway acknowledged the call and does not show the card running: no further call before a pause that doubles, and
-- none after too many. $1 card id, $2 run, $3 attempt, $4 first pause in ms, $5 longest pause in ms, $6 calls at most.
UPDATE card_resumes SET
  unconfirmed = unconfirmed + 1,
  unresolved = false,
  last_error = 'acknowledged, and the card is still stopped',
  claimed_until = clock_timestamp()
    + least($5::float8, $4::float8 * 2 ^ least(unconfirmed, 30)) * interval '1 millisecond',
  state = CASE WHEN unconfirmed + 1 >= $6::integer THEN 'failed' ELSE state END,
  ended_at = CASE WHEN unconfirmed + 1 >= $6::integer THEN clock_timestamp() END
WHERE card_id = $1::bigint AND run_id = $2::uuid AND state = 'waiting' AND attempts = $3::integer
RETURNING state = 'failed' AS gave_up, greatest(0, extract(epoch FROM claimed_until - clock_timestamp()) * 1000)::bigint
  AS retry_in_ms

-- name: resumes.abandon
-- Ends a claim without an effect. $1 card id, $2 run, $3 attempt, $4 error, $5 whether the gateway refused the card,
-- $6 refusals at most.
UPDATE card_resumes SET
  claimed_until = NULL,
  unresolved = false,
  last_error = $4,
  refused = refused + $5::boolean::integer,
  state = CASE WHEN $5::boolean AND refused + 1 >= $6::integer THEN 'failed' ELSE state END,
  ended_at = CASE WHEN $5::boolean AND refused + 1 >= $6::integer THEN clock_timestamp() END
WHERE card_id = $1::bigint AND run_id = $2::uuid AND state = 'waiting' AND attempts = $3::integer
RETURNING state = 'failed' AS gave_up, 0 AS retry_in_ms

-- name: resumes.due
-- Cards that are to be resumed and due; they are due again after a pause. A card that was removed from the fleet ends as
-- failed. $1 cards at most, $2 pause in ms.
WITH due AS MATERIALIZED (
  SELECT r.run_id, r.card_id, c.card_id IS NULL AS removed, c.carrier_id, c.real_name_verified
  FROM card_resumes r LEFT JOIN cards c ON c.card_id = r.card_id
  WHERE r.state = 'waiting' AND r.due_at <= clock_timestamp()
  ORDER BY r.due_at
  LIMIT $1::integer
  FOR UPDATE OF r SKIP LOCKED
), later AS (
  UPDATE card_resumes r SET
    due_at = clock_timestamp() + $2::float8 * interval '1 millisecond',
    state = CASE WHEN removed THEN 'failed' ELSE r.state END,
    last_error = CASE WHEN removed THEN 'the card was removed' ELSE r.last_error END,
    ended_at = CASE WHEN removed THEN clock_timestamp() END
  FROM due
  WHERE r.run_id = due.run_id AND r.card_id = due.card_id
)
SELECT card_id, carrier_id, real_name_verified FROM due WHERE NOT removed
