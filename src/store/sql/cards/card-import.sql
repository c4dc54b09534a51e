-- One chunk of a card import: its rows go into a temporary table, then one statement updates the cards to match them.
-- {attributes} are the columns that an import sets as given (card-columns.ts).

-- name: card_import.createRows
-- Created once per connection, and empty at the start of every transaction.
CREATE TEMPORARY TABLE IF NOT EXISTS import_rows ON COMMIT DELETE ROWS AS
SELECT 0 AS position, {import} FROM cards WITH NO DATA

-- name: card_import.copyNew
COPY cards ({import}) FROM STDIN

-- name: card_import.copyRows
COPY import_rows FROM STDIN

-- name: card_import.insertRows
-- For a driver without COPY. $1 the rows as JSON.
INSERT INTO import_rows SELECT * FROM json_populate_recordset(NULL::import_rows, $1::json)

-- name: card_import.planByKeys
-- Forces look-ups by key: for ten thousand keys the planner would otherwise read all cards for every chunk.
SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)

-- name: card_import.plannedForFewer
-- Whether the planner expects fewer rows in the table than a chunk of $1 rows: a new fleet that PostgreSQL has not analysed yet.
-- A chunk that is planned for ten cards reads all of them for each row.
SELECT reltuples < $1::integer AS planned_for_fewer FROM pg_class WHERE oid = 'cards'::regclass

-- name: card_import.analyze
-- For a role that does not own the table this has no effect but a warning. It waits for no other analysis.
ANALYZE (SKIP_LOCKED) cards

-- name: card_import.heldNumbers
-- The ICCIDs and vendor ids of import_rows that cards have, with the ICCID of the holder. A row that keeps its number is left
-- out.
SELECT 'iccid' AS taken, r.iccid AS value, holder.card_id AS holder, holder.iccid AS holder_iccid
FROM import_rows r JOIN cards holder ON holder.iccid = r.iccid AND holder.card_id <> r.card_id
UNION ALL
SELECT 'vendor_id', r.vendor_id, holder.card_id, holder.iccid
FROM import_rows r JOIN cards holder ON holder.vendor_id = r.vendor_id AND holder.card_id <> r.card_id

-- name: card_import.leaveOut
-- $1 card ids, whose rows are refused.
DELETE FROM import_rows WHERE card_id = ANY ($1::bigint[])

-- name: card_import.exchange
-- Lets the cards of a chunk exchange their numbers until its transaction ends.
SET CONSTRAINTS cards_iccid_key, cards_vendor_id DEFERRED

-- name: card_import.lowered
-- Running cards whose allowance import_rows lower below their usage in the month $1.
SELECT r.card_id
FROM import_rows r
JOIN cards own ON own.card_id = r.card_id AND NOT own.stopped
JOIN card_usage u ON u.card_id = r.card_id AND u.month = $1::date AND u.used_mb > r.allowance_mb
WHERE coalesce(own.allowance_mb > r.allowance_mb, true)
ORDER BY r.card_id

-- name: card_import.raised
-- Stopped cards whose allowance import_rows raise to their usage in the month $1, or above.
SELECT r.card_id
FROM import_rows r
JOIN cards own ON own.card_id = r.card_id AND own.stopped
JOIN card_usage u ON u.card_id = r.card_id AND u.month = $1::date
  AND u.used_mb > own.allowance_mb AND u.used_mb <= coalesce(r.allowance_mb, 'Infinity')
ORDER BY r.card_id

-- name: card_import.chunk
-- Updates the cards to match import_rows, and writes only rows that differ. No row may ask for a number that another card keeps.
-- $1 whether to count only, $2 whether a row may replace the verification that polls have found, $3 whether to return former
-- rows, $4 the end of an ICCID that a spreadsheet may have rounded.
-- Returns one row: inserted, updated, and former: the records of the cards before an update (JSON; their verification only if it
-- changes, as a row of an import that undoes this). It also has the ids of cards that get an ICCID which may be wrong, as JSON,
-- and the number of cards that get one (new_iccids): rounded (it ends in $4) and, where nothing is written, twins (another card
-- has it with or without the last digit). When rows are written, the look-ups for twins would take longer than the import.
WITH candidate AS MATERIALIZED (
  SELECT r.position, {r.attributes}, gets.vendor_id, gets.real_name_verified, own, own.card_id IS NOT NULL AS known,
    own.iccid IS DISTINCT FROM r.iccid AS gets_iccid,
    own.card_id IS NOT NULL AND ({own.attributes}, own.vendor_id, own.real_name_verified)
      IS DISTINCT FROM ({r.attributes}, gets.vendor_id, coalesce(gets.real_name_verified, own.real_name_verified)) AS differs
  FROM import_rows r
  LEFT JOIN cards own ON own.card_id = r.card_id
  -- A vendor id belongs to the SIM: without one in the row it stays with the ICCID, and - removes it.
  CROSS JOIN LATERAL (
    SELECT nullif(coalesce(r.vendor_id, CASE WHEN own.iccid = r.iccid THEN own.vendor_id END), '-') AS vendor_id,
      -- A poll's finding about this SIM is newer than a file that is imported twice. NULL keeps the stored value.
      CASE WHEN $2::boolean OR r.real_name_verified AND NOT (own.iccid = r.iccid AND EXISTS (
        SELECT FROM card_polls p
        WHERE p.card_id = own.card_id AND p.realname_at >= coalesce(own.iccid_changed_at, '-infinity')
      )) IS TRUE THEN r.real_name_verified END AS real_name_verified
  ) gets
), updated AS (
  UPDATE cards c SET
    ({attributes}) = ROW({r.attributes}),
    vendor_id = r.vendor_id,
    real_name_verified = coalesce(r.real_name_verified, c.real_name_verified)
  FROM candidate r
  WHERE NOT $1::boolean AND c.card_id = r.card_id AND r.differs
  RETURNING 1
), inserted AS (
  INSERT INTO cards ({attributes}, vendor_id, real_name_verified)
  SELECT {attributes}, vendor_id, coalesce(real_name_verified, false)
  FROM candidate
  WHERE NOT $1::boolean AND NOT known
  ORDER BY card_id
  RETURNING 1
)
SELECT
  CASE WHEN $1::boolean THEN count(*) FILTER (WHERE NOT known)
    ELSE (SELECT count(*) FROM inserted) END AS inserted,
  CASE WHEN $1::boolean THEN count(*) FILTER (WHERE differs)
    ELSE (SELECT count(*) FROM updated) END AS updated,
  count(*) FILTER (WHERE gets_iccid) AS new_iccids,
  coalesce(json_agg(card_id) FILTER (WHERE gets_iccid AND iccid LIKE '%' || $4), '[]') AS rounded,
  coalesce((
    SELECT json_agg(r.card_id)
    FROM candidate r
    WHERE $1::boolean AND r.gets_iccid AND EXISTS (
      SELECT FROM (
        -- ICCIDs that differ only in the last digit are neighbours in the index. The order makes the planner use it.
        SELECT t.card_id, t.iccid FROM cards t
        WHERE t.iccid BETWEEN left(r.iccid, -1) AND r.iccid || '9'
        ORDER BY t.iccid OFFSET 0
      ) twin
      WHERE twin.card_id <> r.card_id AND (twin.iccid = left(r.iccid, -1) OR left(twin.iccid, -1) = r.iccid)
    )
  ), '[]') AS twins,
  CASE WHEN $3::boolean THEN json_agg(to_jsonb(own) || jsonb_build_object(
    'vendor_id', coalesce((own).vendor_id, CASE WHEN vendor_id IS NOT NULL THEN '-' END),
    'real_name_verified', CASE WHEN real_name_verified <> (own).real_name_verified THEN (own).real_name_verified END
  ) ORDER BY position) FILTER (WHERE differs) END AS former
FROM candidate
