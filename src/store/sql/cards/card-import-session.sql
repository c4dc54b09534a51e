-- One chunk of a card import: its rows go into a temporary table, then one statement updates the cards to match them.

-- name: card_import_session.createRows
-- Created once per connection, and empty at the start of every transaction.
CREATE TEMPORARY TABLE IF NOT EXISTS import_rows (
  position integer, card_id bigint, iccid text, carrier_id integer, status integer,
  allowance_mb double precision, real_name_verified boolean
) ON COMMIT DELETE ROWS

-- name: card_import_session.copyRows
COPY import_rows (position, card_id, iccid, carrier_id, status, allowance_mb, real_name_verified) FROM STDIN

-- name: card_import_session.insertRows
-- For a driver without COPY. $1 positions, $2 card ids, $3 iccids, $4 carriers, $5 statuses, $6 allowances, $7 verified.
INSERT INTO import_rows (position, card_id, iccid, carrier_id, status, allowance_mb, real_name_verified)
SELECT * FROM unnest($1::integer[], $2::bigint[], $3::text[], $4::integer[], $5::integer[], $6::float8[], $7::boolean[])

-- name: card_import_session.planByKeys
-- Forces look-ups by key: for ten thousand keys the planner would otherwise read all cards for every chunk.
SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)

-- name: card_import_session.chunk
-- Updates the cards to match import_rows, and writes only rows that differ. $1 whether to count only, $2 whether a row may
-- take back that a card was found to be verified.
-- Returns one row: inserted, updated, and the rows left out because their iccid belongs to another card
-- (conflict_ids and conflict_iccids, comma separated; NULL for none).
WITH given AS (
  SELECT position, card_id, iccid, carrier_id, status, allowance_mb,
    CASE WHEN real_name_verified OR $2::boolean THEN real_name_verified END AS real_name_verified
  FROM import_rows
), candidate AS MATERIALIZED (
  SELECT r.*, own.card_id IS NOT NULL AS known,
    own.card_id IS NOT NULL AND (own.iccid, own.carrier_id, own.status, own.allowance_mb, own.real_name_verified)
      IS DISTINCT FROM (r.iccid, r.carrier_id, r.status, r.allowance_mb,
        coalesce(r.real_name_verified, own.real_name_verified)) AS differs,
    -- The iccid belongs to another card, or an earlier row of this chunk has claimed it.
    holder.card_id IS DISTINCT FROM r.card_id AND (holder.card_id IS NOT NULL
      OR row_number() OVER (PARTITION BY r.iccid ORDER BY r.position) > 1) AS conflicts
  FROM given r
  LEFT JOIN cards own ON own.card_id = r.card_id
  LEFT JOIN cards holder ON holder.iccid = r.iccid
), updated AS (
  UPDATE cards c SET
    iccid = r.iccid,
    carrier_id = r.carrier_id,
    status = r.status,
    allowance_mb = r.allowance_mb,
    real_name_verified = coalesce(r.real_name_verified, c.real_name_verified)
  FROM candidate r
  WHERE NOT $1::boolean AND c.card_id = r.card_id AND r.differs AND NOT r.conflicts
  RETURNING 1
), inserted AS (
  INSERT INTO cards (card_id, iccid, carrier_id, status, allowance_mb, real_name_verified)
  SELECT card_id, iccid, carrier_id, status, allowance_mb, coalesce(real_name_verified, false)
  FROM candidate
  WHERE NOT $1::boolean AND NOT known AND NOT conflicts
  ORDER BY card_id
  RETURNING 1
)
SELECT
  CASE WHEN $1::boolean THEN count(*) FILTER (WHERE NOT known AND NOT conflicts)
    ELSE (SELECT count(*) FROM inserted) END AS inserted,
  CASE WHEN $1::boolean THEN count(*) FILTER (WHERE differs AND NOT conflicts)
    ELSE (SELECT count(*) FROM updated) END AS updated,
  string_agg(card_id::text, ',' ORDER BY position) FILTER (WHERE conflicts) AS conflict_ids,
  string_agg(iccid, ',' ORDER BY position) FILTER (WHERE conflicts) AS conflict_iccids
FROM candidate
