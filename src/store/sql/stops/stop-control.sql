-- The one row that decides about all stops, and the counts beside it.

-- name: stop_control.read
-- $1 rows that are counted at most.
SELECT c.mode, c.mode_since, c.mode_by, c.mode_reason,
  c.jump_since, c.jump_factor, c.jump_baseline, c.jump_recent, c.jump_accepted_at,
  (SELECT sum(n) FROM unnest(c.by_minute) n) AS done_hour,
  (SELECT sum(n) FROM unnest(c.by_quarter) n) AS done_day,
  (SELECT count(*) FROM (SELECT FROM card_stops WHERE state = 'held' LIMIT $1::integer) AS found) AS held,
  (SELECT count(*) FROM (SELECT FROM card_stops WHERE state = 'observed' LIMIT $1::integer) AS found) AS observed,
  (SELECT count(*) FROM (
    SELECT FROM card_stops WHERE resumed_at > clock_timestamp() - interval '1 day' LIMIT $1::integer
  ) AS found) AS resumed_day
FROM (SELECT (stop_control_now(stop_control)).* FROM stop_control) AS c

-- name: stop_control.setMode
-- Mode enforce also accepts a jump that has begun. $1 mode, $2 by whom, $3 reason.
UPDATE stop_control SET mode = $1, mode_since = clock_timestamp(), mode_by = $2, mode_reason = $3,
  jump_accepted_at = CASE WHEN $1 = 'enforce' AND jump_since IS NOT NULL
    THEN coalesce(jump_accepted_at, clock_timestamp()) ELSE jump_accepted_at END

-- name: stop_control.jump
SELECT jump_since, jump_factor, jump_baseline, jump_recent, jump_accepted_at
FROM stop_control
WHERE jump_since IS NOT NULL

-- name: stop_control.beginJump
-- $1 factor, $2 baseline, $3 recent growth, MB per hour. Returns a row if there was no jump.
UPDATE stop_control SET jump_since = clock_timestamp(), jump_factor = $1, jump_baseline = $2, jump_recent = $3,
  jump_accepted_at = NULL
WHERE jump_since IS NULL
RETURNING jump_since

-- name: stop_control.endJump
-- Returns a row if there was a jump.
UPDATE stop_control SET jump_since = NULL, jump_accepted_at = NULL
WHERE jump_since IS NOT NULL
RETURNING only_row
