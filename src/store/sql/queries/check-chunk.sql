-- What import-chunk.sql would do, and nothing done (import-candidates.sql stands in front). Returns the same row.
SELECT count(*) FILTER (WHERE NOT known AND NOT conflicts) AS inserted,
  count(*) FILTER (WHERE differs AND NOT conflicts) AS updated,
  string_agg(card_id::text, ',' ORDER BY position) FILTER (WHERE conflicts) AS conflict_ids,
  string_agg(iccid, ',' ORDER BY position) FILTER (WHERE conflicts) AS conflict_iccids
FROM candidate
