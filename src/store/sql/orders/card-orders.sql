-- Loads the facts that decide about the stops and resumes of cards, and writes the decisions (src/domain/orders). Contains no
-- rule. Times are passed as epoch milliseconds with fractions, so that reading and writing does not change them.

-- part: stop
json_build_object(
  'month', to_char(s.month, 'YYYY-MM'), 'version', s.xmin::text, 'iccid', s.iccid, 'usedMb', s.used_mb,
  'allowanceMb', s.allowance_mb, 'readingMb', s.reading_mb, 'state', s.state, 'authority', s.authority,
  'orderedBy', s.ordered_by, 'reason', s.reason, 'heldBy', s.held_by, 'requestedAt', extract(epoch FROM s.requested_at) * 1000,
  'dueAt', extract(epoch FROM s.due_at) * 1000, 'claimedUntil', extract(epoch FROM s.claimed_until) * 1000,
  'unresolved', s.unresolved, 'attempts', s.attempts, 'chargedAt', extract(epoch FROM s.charged_at) * 1000,
  'acknowledgedAt', extract(epoch FROM s.acknowledged_at) * 1000, 'unconfirmed', s.unconfirmed, 'lastError', s.last_error,
  'completedAt', extract(epoch FROM s.completed_at) * 1000, 'resumedAt', extract(epoch FROM s.resumed_at) * 1000,
  'stopAgain', s.stop_again, 'resumeRun', s.resume_run, 'pendingSince', extract(epoch FROM s.pending_since) * 1000,
  'pendingUntil', extract(epoch FROM s.pending_until) * 1000)

-- part: usage
json_build_object(
  'month', to_char(u.month, 'YYYY-MM'), 'usedMb', u.used_mb, 'isSuspected', u.suspected_mb IS NOT NULL, 'closed', u.closed,
  'readAt', extract(epoch FROM u.read_at) * 1000, 'iccid', u.iccid, 'lastReadingMb', u.last_reading_mb,
  'previousReadingMb', u.previous_reading_mb)

-- part: stopColumns
card_id bigint, month date, version text, iccid text, used_mb float8, allowance_mb float8, reading_mb float8, state text,
  authority text, ordered_by text, reason text, held_by text, requested_at float8, due_at float8, claimed_until float8,
  unresolved boolean, attempts integer, charged_at float8, acknowledged_at float8, unconfirmed integer, last_error text,
  completed_at float8, resumed_at float8, stop_again boolean, resume_run uuid, pending_since float8, pending_until float8

-- part: stopValues
iccid, used_mb, allowance_mb, reading_mb, state, authority, ordered_by, reason, held_by, to_timestamp(requested_at / 1000),
  to_timestamp(due_at / 1000), to_timestamp(claimed_until / 1000), unresolved, attempts, to_timestamp(charged_at / 1000),
  to_timestamp(acknowledged_at / 1000), unconfirmed, last_error, to_timestamp(completed_at / 1000),
  to_timestamp(resumed_at / 1000), stop_again, resume_run, to_timestamp(pending_since / 1000), to_timestamp(pending_until / 1000)

-- part: stopNames
iccid, used_mb, allowance_mb, reading_mb, state, authority, ordered_by, reason, held_by, requested_at, due_at, claimed_until,
  unresolved, attempts, charged_at, acknowledged_at, unconfirmed, last_error, completed_at, resumed_at, stop_again, resume_run,
  pending_since, pending_until

-- part: control
json_build_object(
    'mode', control.mode, 'counts', json_build_object(
      'minute', control.minute, 'byMinute', control.by_minute, 'byQuarter', control.by_quarter, 'unwatchedLeft', control.unwatched_left),
    'watchedUntil', extract(epoch FROM control.watched_until) * 1000,
    'jump', json_build_object(
      'since', extract(epoch FROM control.jump_since) * 1000, 'carrierId', control.jump_carrier, 'acceptedAt', extract(epoch FROM control.jump_accepted_at) * 1000,
      'overAt', extract(epoch FROM control.jump_over_at) * 1000,
      'doubtfulUntil', extract(epoch FROM control.jump_doubtful_until) * 1000))

-- part: factsOfCards
SELECT asked.card_id, c.carrier_id, c.real_name_verified, CASE WHEN asked.place = 1 THEN {control} END AS control,
  (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
  CASE WHEN c.card_id IS NOT NULL THEN json_build_object(
    'cardId', c.card_id, 'carrierId', c.carrier_id, 'iccid', c.iccid, 'vendorId', c.vendor_id, 'allowanceMb', c.allowance_mb, 'stopped', c.stopped,
    'iccidChangedAt', extract(epoch FROM c.iccid_changed_at) * 1000,
    'allowanceChangedAt', extract(epoch FROM c.allowance_changed_at) * 1000) END AS card,
  present.usage, newest.usage AS newest_usage,
  (SELECT (extract(epoch FROM p.carddata_at) * 1000)::float8 FROM card_polls p WHERE p.card_id = asked.card_id) AS polled_at,
  stops.stops, resumes.resumes
FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (card_id, place)
CROSS JOIN stop_control control
LEFT JOIN cards c ON c.card_id = asked.card_id
LEFT JOIN LATERAL (
  SELECT {usage} AS usage FROM card_usage u WHERE u.card_id = asked.card_id AND u.month = $2::date
) AS present ON true
LEFT JOIN LATERAL (
  -- Walks the monthly partitions from the newest and stops at the first row.
  SELECT {usage} AS usage FROM card_usage u WHERE u.card_id = asked.card_id ORDER BY u.month DESC LIMIT 1
) AS newest ON true
CROSS JOIN LATERAL (
  SELECT coalesce(json_agg({stop} ORDER BY s.month DESC), '[]') AS stops FROM card_stops s WHERE s.card_id = asked.card_id
) AS stops
CROSS JOIN LATERAL (
  SELECT coalesce(json_agg(json_build_object(
    'runId', r.run_id, 'version', r.xmin::text, 'state', r.state, 'dueAt', extract(epoch FROM r.due_at) * 1000,
    'claimedUntil', extract(epoch FROM r.claimed_until) * 1000, 'unresolved', r.unresolved, 'attempts', r.attempts,
    'unconfirmed', r.unconfirmed, 'refused', r.refused, 'lastError', r.last_error,
    'endedAt', extract(epoch FROM r.ended_at) * 1000, 'counted', r.counted,
    'pendingSince', extract(epoch FROM r.pending_since) * 1000, 'pendingUntil', extract(epoch FROM r.pending_until) * 1000, 'run', json_build_object(
      'createdAt', extract(epoch FROM run.created_at) * 1000, 'createdBy', run.created_by, 'createdRole', run.created_role,
      'reason', run.reason, 'stopAgain', run.stop_again, 'isOfMonth', run.month IS NOT NULL))), '[]') AS resumes
  FROM (
    -- Two parts, one for each index.
    SELECT w.xmin, w.* FROM card_resumes w WHERE w.card_id = asked.card_id AND w.state = 'waiting'
    UNION ALL
    SELECT w.xmin, w.* FROM card_resumes w
    WHERE w.card_id = asked.card_id AND w.state = 'cancelled' AND w.claimed_until IS NOT NULL
    UNION ALL
    SELECT w.xmin, w.* FROM card_stops s JOIN card_resumes w ON w.run_id = s.resume_run AND w.card_id = s.card_id
    WHERE s.card_id = asked.card_id AND w.state IN ('resumed', 'already_running')
  ) AS r
  JOIN resume_runs run ON run.id = r.run_id
) AS resumes

-- name: card_orders.control
-- The single row that decides about all stops.
SELECT {control} AS control FROM stop_control control

-- name: card_orders.facts
-- $1 card ids, $2 current month; NULL: the newest month of each card. One row has the facts that decide about all stops.
{factsOfCards}

-- name: card_orders.lockedFacts
-- The same, and locks the row that decides about all stops until the transaction ends: the budget is read and counted under this
-- lock, so that no number of instances exceeds it. $1 card ids, $2 current month or NULL.
{factsOfCards}
FOR UPDATE OF control

-- name: card_orders.saveStops
-- $1 stops as JSON, $2 cards whose stop explains that they run over their package. A stop that changed since it was read is not
-- written. $3 epoch minutes, $4 and $5 counts by slot of time, $6 left until the watch; NULL: nothing was counted. Returns the
-- card ids of the written stops.
WITH given AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS given ({stopColumns})
), present AS MATERIALIZED (
  SELECT s.ctid AS place, g.* FROM given g JOIN card_stops s ON s.card_id = g.card_id AND s.month = g.month
  WHERE s.xmin::text = g.version
  -- In card order, so that instances with the same cards cannot deadlock.
  ORDER BY g.card_id
  FOR UPDATE OF s
), changed AS (
  UPDATE card_stops s SET ({stopNames}) = (SELECT {stopValues} FROM present p WHERE p.place = s.ctid)
  WHERE s.ctid = ANY (ARRAY(SELECT place FROM present))
  RETURNING s.card_id
), begun AS (
  INSERT INTO card_stops (card_id, month, {stopNames})
  SELECT card_id, month, {stopValues} FROM given WHERE version IS NULL ORDER BY card_id
  ON CONFLICT DO NOTHING
  RETURNING card_id
), explained AS (
  DELETE FROM cards_over_running WHERE card_id = ANY ($2::bigint[])
), counted AS (
  UPDATE stop_control SET minute = $3::bigint, by_minute = $4::integer[], by_quarter = $5::integer[],
    unwatched_left = $6::integer
  WHERE $3::bigint IS NOT NULL
)
SELECT card_id FROM changed UNION ALL SELECT card_id FROM begun

-- name: card_orders.dropStops
-- $1 stops as JSON. Removes only stops that are unchanged since they were read. Returns the card ids of the removed ones.
DELETE FROM card_stops s
USING jsonb_to_recordset($1::jsonb) AS given (card_id bigint, month date, version text)
WHERE s.card_id = given.card_id AND s.month = given.month AND s.xmin::text = given.version
RETURNING s.card_id

-- name: card_orders.saveResumes
-- $1 cards of runs as JSON. As saveStops.
UPDATE card_resumes r SET state = given.state, due_at = to_timestamp(given.due_at / 1000),
  claimed_until = to_timestamp(given.claimed_until / 1000), unresolved = given.unresolved, attempts = given.attempts,
  unconfirmed = given.unconfirmed, refused = given.refused, last_error = given.last_error,
  ended_at = to_timestamp(given.ended_at / 1000), counted = given.counted,
  pending_since = to_timestamp(given.pending_since / 1000), pending_until = to_timestamp(given.pending_until / 1000)
FROM jsonb_to_recordset($1::jsonb) AS given (card_id bigint, run_id uuid, version text, state text, due_at float8,
  claimed_until float8, unresolved boolean, attempts integer, unconfirmed integer, refused integer, last_error text,
  ended_at float8, counted boolean, pending_since float8, pending_until float8)
WHERE r.card_id = given.card_id AND r.run_id = given.run_id AND r.xmin::text = given.version
RETURNING r.card_id

-- name: card_orders.uncountOfRun
-- $1 run, $2 resumed and $3 running cards to subtract from its counts.
UPDATE resume_runs SET resumed = resumed - $2::integer, already_running = already_running - $3::integer WHERE id = $1::uuid

-- name: card_orders.saveCard
-- $1 card id, $2 ICCID, $3 whether it is stopped.
UPDATE cards SET stopped = $3::boolean WHERE card_id = $1::bigint AND iccid = $2 AND stopped <> $3::boolean
