-- Brings the cards in line with the candidates (import-candidates.sql stands in front); touches only what differs.
-- Returns one row: inserted, updated, and the rows left out because their iccid belongs to another card
-- (conflict_ids and conflict_iccids, comma separated; NULL for none).
, updated AS (
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
