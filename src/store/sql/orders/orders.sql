-- The queue of orders: requested stops, and cards that wait in a run to be resumed.

-- part: stopsAtMost
-- No stop is taken while stops are only observed.
(SELECT CASE WHEN coalesce(mode, $4) = 'observe' THEN 0 ELSE $2::integer END FROM stop_control)

-- part: ownAtMost
-- Nor is a stop by cardpoll's own decision that would wait, after the status call, until readings are compared.
(SELECT CASE
    WHEN coalesce(mode, $4) = 'observe' THEN 0
    WHEN watched_until > clock_timestamp() AND jump_accepted_at IS NULL THEN least($2::integer, greatest(0, unwatched_left))
    ELSE $2::integer END
  FROM stop_control)

-- name: orders.due
-- The number of due orders. $1 at most, $2 stops and $3 resumes that are counted at most, $4 mode unless one was set.
SELECT least($1::integer, stops.due + resumes.due) AS due
FROM (
  -- Not clock_timestamp(), which cannot be used for an index search.
  SELECT (SELECT count(*) FROM (
      SELECT FROM card_stops WHERE state = 'requested' AND authority = 'operator' AND due_at <= statement_timestamp() LIMIT {stopsAtMost}
    ) AS ordered)
    + (SELECT count(*) FROM (
      SELECT FROM card_stops WHERE state = 'requested' AND authority = 'released' AND due_at <= statement_timestamp() LIMIT {stopsAtMost}
    ) AS released)
    + (SELECT count(*) FROM (
      SELECT FROM card_stops WHERE state = 'requested' AND authority IS NULL AND due_at <= statement_timestamp() LIMIT {ownAtMost}
    ) AS over_package) AS due
) AS stops, (
  SELECT count(*) AS due FROM (
    SELECT FROM card_resumes WHERE state = 'waiting' AND due_at <= statement_timestamp() LIMIT $3::integer
  ) AS found
) AS resumes

-- name: orders.take
-- Takes orders. $1 at most, $2 stops and $3 resumes at most, $4 mode unless one was set, $5 resumes that come first, $6 lease in
-- ms. Locks more rows than it takes, for the time of the statement. The resume of a card that was removed from the fleet ends as
-- failed.
WITH ordered AS MATERIALIZED (
  SELECT ctid AS place, card_id, due_at FROM card_stops
  WHERE state = 'requested' AND authority = 'operator' AND due_at <= statement_timestamp()
  ORDER BY due_at LIMIT {stopsAtMost} FOR UPDATE SKIP LOCKED
), released AS MATERIALIZED (
  SELECT ctid AS place, card_id, due_at FROM card_stops
  WHERE state = 'requested' AND authority = 'released' AND due_at <= statement_timestamp()
  ORDER BY due_at LIMIT {stopsAtMost} FOR UPDATE SKIP LOCKED
), over_package AS MATERIALIZED (
  SELECT ctid AS place, card_id, due_at FROM card_stops
  WHERE state = 'requested' AND authority IS NULL AND due_at <= statement_timestamp()
  ORDER BY due_at LIMIT {ownAtMost} FOR UPDATE SKIP LOCKED
), resumes AS MATERIALIZED (
  SELECT ctid AS place, card_id, due_at FROM card_resumes
  WHERE state = 'waiting' AND due_at <= statement_timestamp()
  ORDER BY due_at LIMIT $3::integer FOR UPDATE SKIP LOCKED
), turns AS (
  SELECT 'stop' AS kind, true AS is_operators, place, card_id, 0 AS turn FROM ordered
  UNION ALL SELECT 'stop', true, place, card_id, row_number() OVER (ORDER BY due_at) FROM released
  UNION ALL SELECT 'stop', false, place, card_id, row_number() OVER (ORDER BY due_at) FROM over_package
  UNION ALL SELECT 'resume', true, place, card_id, CASE WHEN n <= $5::integer THEN -1 ELSE $1::integer + n END
  FROM (SELECT *, row_number() OVER (ORDER BY due_at) AS n FROM resumes) AS waiting
), taken AS MATERIALIZED (
  SELECT turns.*, c.iccid, c.vendor_id, c.carrier_id, c.real_name_verified, c.card_id IS NOT NULL AS is_known
  FROM (SELECT * FROM turns ORDER BY turn LIMIT $1::integer) AS turns
  LEFT JOIN cards c ON c.card_id = turns.card_id
), later_stops AS (
  UPDATE card_stops SET due_at = clock_timestamp() + $6::float8 * interval '1 millisecond'
  -- By their places, because a join that is planned for few rows could read all of them for each.
  WHERE ctid = ANY (ARRAY(SELECT place FROM taken WHERE kind = 'stop'))
), later_resumes AS (
  UPDATE card_resumes SET due_at = clock_timestamp() + $6::float8 * interval '1 millisecond'
  WHERE ctid = ANY (ARRAY(SELECT place FROM taken WHERE kind = 'resume' AND is_known))
), gone AS (
  UPDATE card_resumes SET state = 'failed', last_error = 'the card was removed', ended_at = clock_timestamp()
  WHERE ctid = ANY (ARRAY(SELECT place FROM taken WHERE kind = 'resume' AND NOT is_known))
)
SELECT kind, is_operators, card_id, iccid, vendor_id, carrier_id, real_name_verified FROM taken WHERE is_known ORDER BY turn
