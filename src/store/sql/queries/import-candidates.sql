-- What the rows of the temporary table import_rows mean for the cards: begins import-chunk.sql and check-chunk.sql.
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
)
