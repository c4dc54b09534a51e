-- Results of polls.

-- name: results.write
-- Writes a batch of poll outcomes in one statement, so that a batch is durable as a whole or not at all.
--   $1-$4   flags:    card ids (ascending); ICCID that was called; verified; stopped (NULL keeps)
--   $5-$15  readings: card ids (ascending); ICCID; month; used MB; reading MB; suspected MB or NULL; reading and usage
--           before a jump, and when it was read, or NULLs; read at; based on (epoch ms or NULL)
--   $16-$20 polls:    card ids (ascending); ICCID; when each was polled (epoch ms or NULL), an array a task type in the
--           order of TASK_TYPES
-- A card comes once with each ICCID. What is of another ICCID than the card has is not written; NULL is that of the card.
-- Returns the card ids whose reading was not accepted because a newer state exists (is_other false), and those that have another
-- ICCID (is_other true). Cards that are gone are ignored.
--
-- A reading is accepted if the newest usage row of the card is the one it was computed from: in the same month by
-- comparing read_at under the row's lock; at a month change by closing the old row likewise, then opening the new one.
-- A reading more than an hour ahead of this server's clock comes from a wrong clock and is not accepted.
WITH polled AS (
  INSERT INTO card_polls AS p (card_id, realname_at, carddata_at, package_at)
  SELECT o.card_id, to_timestamp(o.realname_ms / 1000.0), to_timestamp(o.carddata_ms / 1000.0),
    to_timestamp(o.package_ms / 1000.0)
  FROM unnest($16::bigint[], $17::text[], $18::bigint[], $19::bigint[], $20::bigint[])
    AS o (card_id, iccid, realname_ms, carddata_ms, package_ms)
  WHERE EXISTS (SELECT FROM cards c WHERE c.card_id = o.card_id AND c.iccid = coalesce(o.iccid, c.iccid))
  ORDER BY o.card_id
  ON CONFLICT (card_id) DO UPDATE SET
    realname_at = greatest(p.realname_at, excluded.realname_at),
    carddata_at = greatest(p.carddata_at, excluded.carddata_at),
    package_at = greatest(p.package_at, excluded.package_at)
), flagged AS (
  UPDATE cards c SET
    real_name_verified = coalesce(f.real_name_verified, c.real_name_verified),
    stopped = coalesce(f.stopped, c.stopped)
  FROM unnest($1::bigint[], $2::text[], $3::boolean[], $4::boolean[]) AS f (card_id, iccid, real_name_verified, stopped)
  WHERE c.card_id = f.card_id AND c.iccid = coalesce(f.iccid, c.iccid)
    AND (f.real_name_verified <> c.real_name_verified OR f.stopped <> c.stopped)
), given AS MATERIALIZED (
  SELECT r.card_id, coalesce(r.iccid, c.iccid) AS iccid, r.month, r.used_mb, r.reading_mb, r.suspected_mb, r.jump_from_mb, r.jump_from_used_mb,
    to_timestamp(r.jump_ms / 1000.0) AS jump_at, to_timestamp(r.read_ms / 1000.0) AS read_at,
    to_timestamp(r.based_on_ms / 1000.0) AS based_on
  FROM unnest($5::bigint[], $6::text[], $7::date[], $8::float8[], $9::float8[], $10::float8[], $11::float8[], $12::float8[],
      $13::bigint[], $14::bigint[], $15::bigint[])
    AS r (card_id, iccid, month, used_mb, reading_mb, suspected_mb, jump_from_mb, jump_from_used_mb, jump_ms, read_ms, based_on_ms)
  JOIN cards c ON c.card_id = r.card_id AND c.iccid = coalesce(r.iccid, c.iccid)
), reading AS (
  SELECT * FROM given WHERE read_at <= clock_timestamp() + interval '1 hour'
), grown AS (
  UPDATE card_usage u SET used_mb = r.used_mb, last_reading_mb = r.reading_mb, suspected_mb = r.suspected_mb,
    jump_from_mb = r.jump_from_mb, jump_from_used_mb = r.jump_from_used_mb, jump_at = r.jump_at, read_at = r.read_at,
    iccid = r.iccid,
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
    read_at, iccid, previous_reading_mb)
  SELECT f.card_id, f.month, f.used_mb, f.reading_mb, f.suspected_mb, f.jump_from_mb, f.jump_from_used_mb, f.jump_at,
    f.read_at, f.iccid, c.previous_reading_mb
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
(
  SELECT card_id, false AS is_other FROM given
  EXCEPT ALL
  SELECT card_id, false FROM accepted
)
UNION
SELECT o.card_id, true
FROM unnest($16::bigint[], $17::text[]) AS o (card_id, iccid)
JOIN cards c ON c.card_id = o.card_id AND c.iccid <> o.iccid

-- name: results.latestReading
-- Epoch ms of the latest reading that is accepted now.
SELECT extract(epoch FROM clock_timestamp() + interval '1 hour') * 1000 AS at_ms

-- name: results.foldBack
-- Moves usage that a clock ahead counted in future months to the current month: removes the rows of those months, opens the
-- current one again (or creates it) with their usage, and continues from the newest reading. A repeated call has no effect. $1
-- current month, $2 last month that has begun in any time zone, $3 card id after which, $4 rows at most.
-- Returns the card ids. Reads only the partitions of later months, which are usually empty: the condition names their first day,
-- or the partition of $2 would be read as well.
--
-- The current row gets a time of reading that no writer knows: a writer that computed from the removed row comes too late.
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
  RETURNING u.card_id, u.month, u.used_mb, u.last_reading_mb, u.suspected_mb, u.read_at, u.iccid, u.previous_reading_mb
), newest AS (
  SELECT DISTINCT ON (card_id) *, sum(used_mb) OVER (PARTITION BY card_id) AS all_used_mb
  FROM removed
  ORDER BY card_id, month DESC
), reopened AS (
  INSERT INTO card_usage AS u (card_id, month, used_mb, last_reading_mb, suspected_mb, read_at, iccid, previous_reading_mb)
  SELECT card_id, $1::date, all_used_mb, last_reading_mb, suspected_mb,
    date_trunc('milliseconds', least(read_at, clock_timestamp())) - interval '1 millisecond', iccid,
    previous_reading_mb
  FROM newest
  ORDER BY card_id
  ON CONFLICT (card_id, month) DO UPDATE SET used_mb = u.used_mb + excluded.used_mb,
    last_reading_mb = excluded.last_reading_mb, suspected_mb = excluded.suspected_mb, read_at = excluded.read_at,
    iccid = excluded.iccid, previous_reading_mb = excluded.previous_reading_mb, closed = false,
    -- The value that either month would revert to is wrong for the two together.
    jump_from_mb = NULL, jump_from_used_mb = NULL, jump_at = NULL
), early_stops AS (
  DELETE FROM card_stops s USING newest n
  WHERE s.card_id = n.card_id AND s.month >= ($2::date + interval '1 month')::date
  RETURNING s.card_id, s.month, s AS stop
), stops AS (
  -- Otherwise the card would not be stopped when that month comes. As a record with another month, so that no column can be
  -- forgotten.
  INSERT INTO card_stops
  SELECT (jsonb_populate_record(stop, jsonb_build_object('month', $1::date))).*
  FROM (SELECT DISTINCT ON (card_id) stop FROM early_stops ORDER BY card_id, month DESC) AS last
  ON CONFLICT (card_id, month) DO NOTHING
)
SELECT card_id FROM newest ORDER BY card_id
