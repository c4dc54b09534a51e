-- The records of a past period, for the report of a shift. Each statement reads a bounded number of rows.

-- part: inTime
fired_at < to_timestamp($2::float8 / 1000) AND coalesce(resolved_at, 'infinity') >= to_timestamp($1::float8 / 1000)

-- name: shift.alerts
-- Alerts that fired before the end of a period and were not resolved before its start, the latest first. $1 from, $2 to (epoch
-- ms, the end excluded), $3 rows at most. Reads alert_history_fired_at backwards from the end of the period.
SELECT id, rule_id, rule_name, rule_type, task_type, comparison, threshold, value, cause, cause_since, earlier_causes, fired_at, resolved_at, resolution,
  resolved_value, acknowledged_by
FROM alert_history
WHERE {inTime}
ORDER BY fired_at DESC, id DESC
LIMIT $3::integer

-- name: shift.countAlerts
-- How many of them fired in the period, were resolved in it, and were firing at its end. $1 from, $2 to (epoch ms).
SELECT count(*) FILTER (WHERE fired_at >= to_timestamp($1::float8 / 1000)) AS fired,
  count(*) FILTER (WHERE resolved_at < to_timestamp($2::float8 / 1000)) AS resolved,
  count(*) FILTER (WHERE coalesce(resolved_at, 'infinity') >= to_timestamp($2::float8 / 1000)) AS open
FROM alert_history
WHERE {inTime}

-- name: shift.changes
-- Changes of a period by action and actor, without imports: operators first, the latest first. $1 from, $2 to (epoch ms, the end
-- excluded), $3 most entries to read, the latest, $4 groups at most. Reads audit_at backwards from the end of the period; the
-- last entry of a group by its key.
WITH entry AS MATERIALIZED (
  SELECT id, at, actor, role, action, object, CASE WHEN jsonb_typeof(after -> 'times') = 'number' THEN (after ->> 'times')::float8 ELSE 1 END AS times
  FROM audit
  WHERE at >= to_timestamp($1::float8 / 1000) AND at < to_timestamp($2::float8 / 1000)
  ORDER BY at DESC, id DESC
  LIMIT $3::integer
), change AS MATERIALIZED (
  SELECT * FROM entry WHERE NOT starts_with(action, 'cards.import.')
), found AS MATERIALIZED (
  SELECT actor, role, action, sum(times) AS count, count(DISTINCT object) AS objects, min(at) AS first_at, max(at) AS last_at,
    max(id) AS last_id
  FROM change
  GROUP BY actor, role, action
  ORDER BY role = 'daemon', max(at) DESC, action
  LIMIT $4::integer
)
SELECT (SELECT coalesce(sum(times), 0) FROM change) AS total,
  (SELECT CASE WHEN count(*) = $3::integer THEN min(at) END FROM entry) AS counted_from,
  g.actor AS "group.actor", g.role AS "group.role", g.action AS "group.action", g.count AS "group.count", g.objects AS "group.objects",
  g.first_at AS "group.first_at", g.last_at AS "group.last_at", g.last_id AS "group.last_id", a.object AS "group.object",
  a.before AS "group.before", a.after AS "group.after"
FROM (SELECT) AS always LEFT JOIN found g ON true
LEFT JOIN LATERAL (SELECT object, before, after FROM audit WHERE id = g.last_id LIMIT 1) AS a ON true
ORDER BY g.role = 'daemon', g.last_at DESC, g.action

-- name: shift.stops
-- Stops of a period by carrier and result, and resumes of that period. $1 from, $2 to (epoch ms, the end excluded), $3 most
-- stops, and most resumes, to read, the latest. Reads card_stops_at and card_stops_resumed backwards from the end of the period.
WITH stop AS MATERIALIZED (
  SELECT card_id, state, completed_at FROM card_stops
  WHERE coalesce(completed_at, requested_at) >= to_timestamp($1::float8 / 1000)
    AND coalesce(completed_at, requested_at) < to_timestamp($2::float8 / 1000)
  ORDER BY coalesce(completed_at, requested_at) DESC, card_id
  LIMIT $3::integer
), resume AS MATERIALIZED (
  SELECT card_id FROM card_stops
  WHERE resumed_at >= to_timestamp($1::float8 / 1000) AND resumed_at < to_timestamp($2::float8 / 1000)
  ORDER BY resumed_at DESC
  LIMIT $3::integer
), event AS (
  -- A card that was stopped and resumed counts twice, each at its time.
  SELECT card_id, CASE WHEN state <> 'resumed' THEN state WHEN completed_at IS NOT NULL THEN 'done' END AS what FROM stop
  UNION ALL
  SELECT card_id, 'resumed' FROM resume
)
SELECT c.carrier_id,
  count(*) FILTER (WHERE what = 'done') AS done, count(*) FILTER (WHERE what = 'requested') AS requested,
  count(*) FILTER (WHERE what = 'held') AS held, count(*) FILTER (WHERE what = 'observed') AS observed,
  count(*) FILTER (WHERE what = 'dismissed') AS dismissed, count(*) FILTER (WHERE what = 'resumed') AS resumed,
  $3::integer IN ((SELECT count(*) FROM stop), (SELECT count(*) FROM resume)) AS is_cut
FROM event LEFT JOIN cards c USING (card_id)
WHERE what IS NOT NULL
GROUP BY c.carrier_id
ORDER BY count(*) DESC, c.carrier_id
