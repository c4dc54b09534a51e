-- Results of polls.

-- name: results.write
-- Writes a batch of poll outcomes in one statement, so that a batch is durable as a whole or not at all.
--   $1-$3   flags:    card ids (distinct, ascending); verified; stopped (NULL keeps)
--   $4-$13  readings: card ids (distinct, ascending); month; used MB; reading MB; suspected MB or NULL; reading and usage
--           before a jump, and when it was read, or NULLs; read at; based on (epoch ms or NULL)
--   $14-$17 polls:    card ids (distinct, ascending); when each was polled (epoch ms or NULL), an array a task type in the
--           order of TASK_TYPES
-- Returns the card ids whose reading was not accepted because a newer state exists. Cards that are gone are ignored.
--
-- A reading is accepted if the newest usage row of the card is the one it was computed from: in the same month by
-- comparing read_at under the row's lock; at a month change by closing the old row likewise, then opening the new one.
-- A reading more than an hour ahead of this server's clock comes from a wrong clock and is not accepted.
WITH polled AS (
  INSERT INTO card_polls AS p (card_id, realname_at, carddata_at, package_at)
  SELECT o.card_id, to_timestamp(o.realname_ms / 1000.0), to_timestamp(o.carddata_ms / 1000.0),
    to_timestamp(o.package_ms / 1000.0)
  FROM unnest($14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[])
    AS o (card_id, realname_ms, carddata_ms, package_ms)
  WHERE EXISTS (SELECT FROM cards c WHERE c.card_id = o.card_id)
  ORDER BY o.card_id
  ON CONFLICT (card_id) DO UPDATE SET
    realname_at = greatest(p.realname_at, excluded.realname_at),
    carddata_at = greatest(p.carddata_at, excluded.carddata_at),
    package_at = greatest(p.package_at, excluded.package_at)
), flagged AS (
  UPDATE cards c SET
    real_name_verified = coalesce(f.real_name_verified, c.real_name_verified),
    stopped = coalesce(f.stopped, c.stopped)
  FROM unnest($1::bigint[], $2::boolean[], $3::boolean[]) AS f (card_id, real_name_verified, stopped)
  WHERE c.card_id = f.card_id AND (f.real_name_verified <> c.real_name_verified OR f.stopped <> c.stopped)
), given AS MATERIALIZED (
  SELECT r.card_id, r.month, r.used_mb, r.reading_mb, r.suspected_mb, r.jump_from_mb, r.jump_from_used_mb,
    to_timestamp(r.jump_ms / 1000.0) AS jump_at, to_timestamp(r.read_ms / 1000.0) AS read_at,
    to_timestamp(r.based_on_ms / 1000.0) AS based_on
  FROM unnest($4::bigint[], $5::date[], $6::float8[], $7::float8[], $8::float8[], $9::float8[], $10::float8[],
      $11::bigint[], $12::bigint[], $13::bigint[])
    AS r (card_id, month, used_mb, reading_mb, suspected_mb, jump_from_mb, jump_from_used_mb, jump_ms, read_ms, based_on_ms)
  WHERE EXISTS (SELECT FROM cards c WHERE c.card_id = r.card_id)
), reading AS (
  SELECT * FROM given WHERE read_at <= clock_timestamp() + interval '1 hour'
), grown AS (
  UPDATE card_usage u SET used_mb = r.used_mb, last_reading_mb = r.reading_mb, suspected_mb = r.suspected_mb,
    jump_from_mb = r.jump_from_mb, jump_from_used_mb = r.jump_from_used_mb, jump_at = r.jump_at, read_at = r.read_at,
    previous_reading_mb = CASE WHEN r.reading_mb = u.last_reading_mb THEN u.previous_reading_mb ELSE u.last_reading_mb END
  FROM reading r
  WHERE u.card_id = r.card_id AND u.month = r.month AND u.read_at = r.based_on AND NOT u.closed
  RETURNING u.card_id
), fresh AS MATERIALIZED (
  SELECT r.*
  FROM reading r
  WHERE NOT EXISTS (SELECT FROM card_usage u WHERE u.card_id = r.card_id AND u.month = r.month)
), closing AS (
  UPDATE card_usage u SET closed = true
  FROM fresh f
  WHERE u.card_id = f.card_id AND u.month < f.month AND u.read_at = f.based_on AND NOT u.closed
  RETURNING u.card_id,
    CASE WHEN f.reading_mb = u.last_reading_mb THEN u.previous_reading_mb ELSE u.last_reading_mb END AS previous_reading_mb
), opened AS (
  INSERT INTO card_usage (card_id, month, used_mb, last_reading_mb, suspected_mb, jump_from_mb, jump_from_used_mb, jump_at,
    read_at, previous_reading_mb)
  SELECT f.card_id, f.month, f.used_mb, f.reading_mb, f.suspected_mb, f.jump_from_mb, f.jump_from_used_mb, f.jump_at,
    f.read_at, c.previous_reading_mb
  FROM fresh f
  LEFT JOIN closing c ON c.card_id = f.card_id
  WHERE c.card_id IS NOT NULL
    OR (f.based_on IS NULL AND NOT EXISTS (SELECT FROM card_usage u WHERE u.card_id = f.card_id))
  ON CONFLICT DO NOTHING
  RETURNING card_id
), accepted AS MATERIALIZED (
  SELECT card_id FROM grown UNION ALL SELECT card_id FROM opened
), recorded AS (
  INSERT INTO usage_records (card_id, month, recorded_at, reading_mb, used_mb)
  SELECT r.card_id, r.month, r.read_at, coalesce(r.suspected_mb, r.reading_mb), r.used_mb
  FROM reading r JOIN accepted USING (card_id)
)
SELECT card_id FROM given
EXCEPT ALL
SELECT card_id FROM accepted

-- name: results.latestReading
-- Epoch ms up to which readings are accepted now.
SELECT extract(epoch FROM clock_timestamp() + interval '1 hour') * 1000 AS at_ms

-- name: results.foldBack
-- Usage that a clock ahead counted in months that have not begun goes to the present month: the rows of those months are
-- removed, the present one is opened again (or made) with what they counted, and goes on from the newest reading. Sent
-- twice it finds nothing the second time.
-- $1 present month, $2 last month that has begun in any time zone, $3 card id after which, $4 rows at most.
-- Returns the card ids. Looks only into the partitions of later months, which are empty otherwise: the condition names their
-- first day, or the partition of $2 would be read as well.
--
-- The present row gets a time of reading that no writer knows: one who computed from the removed row comes too late.
WITH early AS MATERIALIZED (
  SELECT card_id, month
  FROM card_usage
  WHERE month >= ($2::date + interval '1 month')::date AND card_id > $3::bigint
  ORDER BY card_id, month
  LIMIT $4::integer
  FOR UPDATE
), removed AS (
  DELETE FROM card_usage u USING early e
  WHERE u.card_id = e.card_id AND u.month = e.month AND u.month >= ($2::date + interval '1 month')::date
  RETURNING u.card_id, u.month, u.used_mb, u.last_reading_mb, u.suspected_mb, u.read_at, u.previous_reading_mb
), newest AS (
  SELECT DISTINCT ON (card_id) *, sum(used_mb) OVER (PARTITION BY card_id) AS all_used_mb
  FROM removed
  ORDER BY card_id, month DESC
), reopened AS (
  INSERT INTO card_usage AS u (card_id, month, used_mb, last_reading_mb, suspected_mb, read_at, previous_reading_mb)
  SELECT card_id, $1::date, all_used_mb, last_reading_mb, suspected_mb,
    date_trunc('milliseconds', least(read_at, clock_timestamp())) - interval '1 millisecond', previous_reading_mb
  FROM newest
  ORDER BY card_id
  ON CONFLICT (card_id, month) DO UPDATE SET used_mb = u.used_mb + excluded.used_mb,
    last_reading_mb = excluded.last_reading_mb, suspected_mb = excluded.suspected_mb, read_at = excluded.read_at,
    previous_reading_mb = excluded.previous_reading_mb, closed = false,
    -- What either month would go back to is not what the two would together.
    jump_from_mb = NULL, jump_from_used_mb = NULL, jump_at = NULL
), early_stops AS (
  DELETE FROM card_stops s USING newest n
  WHERE s.card_id = n.card_id AND s.month >= ($2::date + interval '1 month')::date
  RETURNING s.*
), stops AS (
  -- Or the card would not be stopped when that month comes.
  INSERT INTO card_stops (card_id, month, iccid, used_mb, allowance_mb, state, requested_at, claimed_until, completed_at,
    unresolved, attempts, last_error, unconfirmed, acknowledged_at, authority, ordered_by, reason, held_by, charged_at,
    due_at, resumed_at, reading_mb)
  SELECT DISTINCT ON (card_id) card_id, $1::date, iccid, used_mb, allowance_mb, state, requested_at, claimed_until,
    completed_at, unresolved, attempts, last_error, unconfirmed, acknowledged_at, authority, ordered_by, reason, held_by,
    charged_at, due_at, resumed_at, reading_mb
  FROM early_stops
  ORDER BY card_id, month DESC
  ON CONFLICT (card_id, month) DO NOTHING
)
SELECT card_id FROM newest ORDER BY card_id
