-- Results of polls.

-- name: results.write
-- Writes a batch of poll outcomes in one statement, so that a batch is durable as a whole or not at all.
--   $1-$4   polls:    card ids (distinct, ascending); realname, carddata, package poll times (epoch ms or NULL)
--   $5-$7   flags:    card ids (distinct, ascending); verified; stopped (NULL keeps)
--   $8-$14  readings: card ids (distinct, ascending); month; used MB; reading MB; suspected MB or NULL; read at; based on
--           (epoch ms or NULL)
-- Returns the card ids whose reading was not accepted because a newer state exists. Cards that are gone are ignored.
--
-- A reading is accepted if the newest usage row of the card is the one it was computed from: in the same month by
-- comparing read_at under the row's lock; at a month change by closing the old row likewise, then opening the new one.
WITH polled AS (
  INSERT INTO card_polls AS p (card_id, realname_at, carddata_at, package_at)
  SELECT o.card_id, to_timestamp(o.realname_ms / 1000.0), to_timestamp(o.carddata_ms / 1000.0),
    to_timestamp(o.package_ms / 1000.0)
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
    AS o (card_id, realname_ms, carddata_ms, package_ms)
  WHERE EXISTS (SELECT FROM cards c WHERE c.card_id = o.card_id)
  ORDER BY o.card_id
  ON CONFLICT (card_id) DO UPDATE SET
    realname_at = greatest(p.realname_at, excluded.realname_at),
    carddata_at = greatest(p.carddata_at, excluded.carddata_at),
    package_at = greatest(p.package_at, excluded.package_at)
), flagged AS (
  UPDATE cards c SET
    real_name_verified = coalesce(f.verified, c.real_name_verified),
    stopped = coalesce(f.stopped, c.stopped)
  FROM unnest($5::bigint[], $6::boolean[], $7::boolean[]) AS f (card_id, verified, stopped)
  WHERE c.card_id = f.card_id AND (f.verified <> c.real_name_verified OR f.stopped <> c.stopped)
), reading AS MATERIALIZED (
  SELECT r.card_id, r.month, r.used_mb, r.reading_mb, r.suspected_mb,
    to_timestamp(r.read_ms / 1000.0) AS read_at, to_timestamp(r.based_on_ms / 1000.0) AS based_on
  FROM unnest($8::bigint[], $9::date[], $10::float8[], $11::float8[], $12::float8[], $13::bigint[], $14::bigint[])
    AS r (card_id, month, used_mb, reading_mb, suspected_mb, read_ms, based_on_ms)
  WHERE EXISTS (SELECT FROM cards c WHERE c.card_id = r.card_id)
), grown AS (
  UPDATE card_usage u SET used_mb = r.used_mb, last_reading_mb = r.reading_mb, suspected_mb = r.suspected_mb,
    read_at = r.read_at
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
  RETURNING u.card_id
), opened AS (
  INSERT INTO card_usage (card_id, month, used_mb, last_reading_mb, suspected_mb, read_at)
  SELECT f.card_id, f.month, f.used_mb, f.reading_mb, f.suspected_mb, f.read_at
  FROM fresh f
  WHERE f.card_id IN (SELECT card_id FROM closing)
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
SELECT card_id FROM reading
EXCEPT ALL
SELECT card_id FROM accepted
