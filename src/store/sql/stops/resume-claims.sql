-- The claims to resume the cards of runs, and what became of them. The number of the attempt is the fence.

-- name: resume_claims.claim
-- $1 card id, $2 iccid whose status was read, $3 whether it is shown stopped, $4 lease in ms, $5 ms in which a call that stops
-- the card shows its effect, $6 pause in ms until a card that runs is looked at again, $7 its vendor id. Returns the answer as JSON (ResumeClaim
-- of the port); no row when the card waits in no run. claimed also while a call of an earlier run may be under way that the
-- card was taken out of. settling: a call of a stop may still take effect. That it was seen once proves the last call only if
-- there was no other.
WITH stop AS MATERIALIZED (
  SELECT
    coalesce(bool_or(state = 'requested' AND claimed_until > clock_timestamp() AND charged_at > coalesce(acknowledged_at, '-infinity')),
      false) AS is_called,
    coalesce(bool_or((state = 'requested' OR state = 'done' AND attempts > 1)
      AND charged_at > clock_timestamp() - $5::float8 * interval '1 millisecond'), false) AS may_follow
  FROM card_stops
  WHERE card_id = $1::bigint AND iccid = $2 AND state IN ('requested', 'done')
), waiting AS MATERIALIZED (
  SELECT r.run_id, CASE
    WHEN NOT EXISTS (SELECT FROM cards c WHERE c.card_id = $1::bigint AND c.iccid = $2
      AND c.vendor_id IS NOT DISTINCT FROM $7::text) THEN 'other_iccid'
    WHEN NOT $3::boolean AND (stop.is_called OR stop.may_follow) THEN 'settling'
    WHEN NOT $3::boolean THEN 'running'
    WHEN stop.is_called THEN 'stopping'
    WHEN r.claimed_until > clock_timestamp() OR EXISTS (
      SELECT FROM card_resumes
      WHERE card_id = $1::bigint AND state = 'cancelled' AND claimed_until > clock_timestamp()
        -- After a call without effect the claim is only a pause.
        AND (unconfirmed = 0 OR unresolved)
    ) THEN CASE WHEN r.unconfirmed > 0 THEN 'unconfirmed' ELSE 'claimed' END
    ELSE 'free' END AS state
  FROM card_resumes r, stop
  WHERE r.card_id = $1::bigint AND r.state = 'waiting'
), claimed AS (
  UPDATE card_resumes r SET
    claimed_until = clock_timestamp() + $4::float8 * interval '1 millisecond',
    unresolved = r.claimed_until IS NOT NULL,
    attempts = attempts + 1
  FROM waiting
  WHERE card_id = $1::bigint AND r.state = 'waiting' AND waiting.state = 'free'
    AND (claimed_until IS NULL OR claimed_until <= clock_timestamp())
  RETURNING r.run_id, unresolved, attempts
), later AS (
  UPDATE card_resumes r SET due_at = least(due_at, clock_timestamp() + $6::float8 * interval '1 millisecond')
  FROM waiting
  WHERE card_id = $1::bigint AND r.state = 'waiting' AND waiting.state = 'settling'
)
SELECT json_build_object(
  'state', CASE WHEN unresolved THEN 'unresolved' ELSE 'granted' END, 'runId', run_id, 'attempt', attempts) AS claim
FROM claimed
UNION ALL
SELECT json_build_object('state', CASE state WHEN 'free' THEN 'claimed' ELSE state END, 'runId', run_id)
FROM waiting
WHERE NOT EXISTS (SELECT FROM claimed)

-- name: resume_claims.complete
-- The gateway shows the card running: the card ended, is not stopped any more, and the audit trail has it, together. Its stop
-- is resumed, or it gets one that is if it is over its package; whether it may be stopped again is for the latest run to say.
-- The entry says whether the card was stopped before, at the gateway or as recorded.
-- $1 card id, $2 iccid that is shown running, $3 run, $4 month of the audit entry, $5 its vendor id.
WITH ended AS (
  UPDATE card_resumes r SET
    -- A claim that was not given back is a call that may have done it.
    state = CASE WHEN claimed_until IS NOT NULL OR unconfirmed > 0 THEN 'resumed' ELSE 'already_running' END,
    claimed_until = NULL, ended_at = clock_timestamp(), counted = false
  FROM resume_runs run
  WHERE card_id = $1::bigint AND run_id = $3::uuid AND run.id = r.run_id
    AND (state = 'waiting' OR state = 'cancelled' AND claimed_until IS NOT NULL)
    AND EXISTS (SELECT FROM cards c WHERE c.card_id = $1::bigint AND c.iccid = $2
      AND c.vendor_id IS NOT DISTINCT FROM $5::text)
  RETURNING run.*, r.state
), stop AS (
  UPDATE card_stops s SET state = 'resumed', resumed_at = clock_timestamp(), claimed_until = NULL,
    stop_again = ended.stop_again, resume_run = ended.id
  FROM ended
  WHERE s.card_id = $1::bigint
    -- A stop that was requested before the run must not follow the resume.
    AND (s.state IN ('done', 'resumed') AND s.month = (SELECT max(month) FROM card_stops WHERE card_id = $1::bigint)
      OR s.state = 'requested' AND s.requested_at < ended.created_at)
  RETURNING s.month, s.used_mb, s.allowance_mb
), spared AS (
  -- Somebody else had stopped the card, which is over its package: without a stop it would be stopped in the next moment, and one that
  -- is held, or was dismissed for a smaller package, would follow later. It counts as seen, so that it is not taken for a late one (reopen).
  INSERT INTO card_stops (card_id, month, iccid, used_mb, allowance_mb, reading_mb, state, attempts, requested_at, completed_at,
    resumed_at, stop_again, resume_run)
  SELECT c.card_id, u.month, c.iccid, u.used_mb, c.allowance_mb, u.last_reading_mb, 'resumed', 0, ended.created_at, ended.created_at,
    clock_timestamp(), ended.stop_again, ended.id
  FROM ended
  JOIN cards c ON c.card_id = $1::bigint
  CROSS JOIN LATERAL (
    SELECT * FROM card_usage WHERE card_usage.card_id = c.card_id ORDER BY month DESC LIMIT 1
  ) u
  WHERE ended.state = 'resumed' AND u.used_mb > c.allowance_mb AND NOT u.closed
    AND NOT EXISTS (SELECT FROM stop WHERE stop.month = u.month)
  ON CONFLICT (card_id, month) DO UPDATE SET
    (iccid, used_mb, allowance_mb, reading_mb) = (
      SELECT excluded.iccid, excluded.used_mb, excluded.allowance_mb, excluded.reading_mb),
    (state, held_by, completed_at, resumed_at, stop_again, resume_run) = (
      SELECT 'resumed', NULL, excluded.completed_at, excluded.resumed_at, excluded.stop_again, excluded.resume_run)
  WHERE card_stops.state IN ('held', 'observed', 'dismissed')
  RETURNING card_id
), awaited AS (
  -- A stop that was ordered meanwhile waits for this call no longer, but for that of a later run.
  UPDATE card_stops SET claimed_until = NULL, due_at = clock_timestamp()
  WHERE card_id = $1::bigint AND state = 'requested' AND claimed_until IS NOT NULL AND charged_at IS NULL
    AND requested_at >= (SELECT created_at FROM ended)
    AND NOT EXISTS (
      SELECT FROM card_resumes other
      WHERE other.card_id = $1::bigint AND other.run_id <> $3::uuid AND other.claimed_until > clock_timestamp()
    )
  RETURNING card_id
), running AS (
  UPDATE cards SET stopped = false
  WHERE card_id = $1::bigint AND stopped AND EXISTS (SELECT FROM ended)
    -- Always true; has the stop locked before the card, as claims do, so that the two cannot deadlock.
    AND (SELECT count(*) FROM stop) + (SELECT count(*) FROM spared) + (SELECT count(*) FROM awaited) >= 0
  RETURNING card_id
)
INSERT INTO audit (month, at, actor, role, action, object, before, after)
SELECT $4::date, clock_timestamp(), ended.created_by, ended.created_role, 'card.resume', 'card ' || $1::bigint,
  jsonb_build_object('stopped', ended.state = 'resumed' OR EXISTS (SELECT FROM running)),
  jsonb_build_object('stopped', false, 'iccid', $2::text, 'run_id', ended.id, 'reason', ended.reason, 'outcome', ended.state,
    'used_mb', stop.used_mb, 'allowance_mb', stop.allowance_mb)
    || CASE WHEN ended.stop_again THEN '{"stop_again": true}' ELSE '{}' END::jsonb
FROM ended
LEFT JOIN (SELECT * FROM stop ORDER BY month DESC LIMIT 1) AS stop ON true
RETURNING at, actor AS name, role, address, request_id, action, object, before, after

-- name: resume_claims.reopen
-- The gateway shows a card stopped that a run ended as running, and whose stop was never seen before: its late effect. The card
-- waits in that run again, unless it waits in another one, and the stop is requested again, for stop_claims.complete.
-- $1 card id, $2 iccid, $3 ms after the resume in which it is taken for that, $4 vendor id. Returns a row if so.
WITH late AS (
  UPDATE card_stops SET state = 'requested', resumed_at = NULL, claimed_until = clock_timestamp()
  WHERE card_id = $1::bigint AND iccid = $2 AND state = 'resumed' AND completed_at IS NULL
    AND resumed_at > clock_timestamp() - $3::float8 * interval '1 millisecond'
    AND month = (SELECT max(month) FROM card_stops WHERE card_id = $1::bigint)
    AND NOT EXISTS (SELECT FROM cards c WHERE c.card_id = $1::bigint AND c.iccid = $2 AND c.vendor_id IS DISTINCT FROM $4::text)
  RETURNING card_id, resume_run
), ended AS MATERIALIZED (
  SELECT r.run_id, r.state, r.counted
  FROM late JOIN card_resumes r ON r.run_id = late.resume_run AND r.card_id = late.card_id
  WHERE r.state IN ('resumed', 'already_running')
    AND NOT EXISTS (SELECT FROM card_resumes other WHERE other.card_id = $1::bigint AND other.state = 'waiting')
  FOR UPDATE OF r
), again AS (
  UPDATE card_resumes r SET state = 'waiting', counted = false, ended_at = NULL, due_at = clock_timestamp(), unconfirmed = 0
  FROM ended
  WHERE r.run_id = ended.run_id AND r.card_id = $1::bigint
), uncounted AS (
  UPDATE resume_runs run SET resumed = resumed - (ended.state = 'resumed')::integer,
    already_running = already_running - (ended.state = 'already_running')::integer
  FROM ended
  WHERE run.id = ended.run_id AND ended.counted
)
SELECT card_id FROM late

-- name: resume_claims.acknowledge
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

-- name: resume_claims.abandon
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
