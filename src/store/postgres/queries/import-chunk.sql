-- Brings the cards in line with the rows of the temporary table import_rows; touches only what differs.
-- Returns one row: inserted, updated, and the rows left out because their iccid belongs to another card
-- (conflict_ids and conflict_iccids, comma separated; NULL for none).
WITH candidate AS MATERIALIZED (
  SELECT r.*, own.card_id IS NOT NULL AS known,
    own.card_id IS NOT NULL AND (own.iccid, own.carrier_id, own.status, own.allowance_mb, own.real_name_verified)
      IS DISTINCT FROM (r.iccid, r.carrier_id, r.status, r.allowance_mb,
        coalesce(r.real_name_verified, own.real_name_verified)) AS differs,
    -- Held by another card, or, while free, claimed by an earlier row of this chunk.
    holder.card_id IS DISTINCT FROM r.card_id AND (holder.card_id IS NOT NULL
      OR row_number() OVER (PARTITION BY r.iccid ORDER BY r.position) > 1) AS conflicts
  FROM import_rows r
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
  WHERE c.card_id = r.card_id AND r.differs AND NOT r.conflicts
  RETURNING 1
), inserted AS (
  INSERT INTO cards (card_id, iccid, carrier_id, status, allowance_mb, real_name_verified)
  SELECT card_id, iccid, carrier_id, status, allowance_mb, coalesce(real_name_verified, false)
  FROM candidate
  WHERE NOT known AND NOT conflicts
  ORDER BY card_id
  RETURNING 1
)
SELECT (SELECT count(*) FROM inserted) AS inserted, (SELECT count(*) FROM updated) AS updated,
  string_agg(card_id::text, ',' ORDER BY position) AS conflict_ids,
  string_agg(iccid, ',' ORDER BY position) AS conflict_iccids
FROM candidate
WHERE conflicts
