-- Records a manual trigger and hands out its first cards, as one. $1 trigger id, $2 kind, $3 task type, $4 carrier,
-- $5 status (NULL: open), $6 total, $7 whether that is an estimate, $8 all cards of a list that is not handed out in
-- full here, otherwise NULL, $9 the cards handed out, $10 whether there may be more.
-- Returns the trigger's row (trigger-row.ts). A trigger without cards is completed.
WITH owed AS (
  INSERT INTO manual_trigger_cards (trigger_id, card_id) SELECT $1::text, unnest($9::bigint[])
)
INSERT INTO manual_triggers (trigger_id, kind, task_type, carrier_id, card_status, total, total_estimated, card_ids,
  handed_out, feeding, status, finished_at)
SELECT $1::text, $2::text, $3::text, $4::integer, $5::integer, $6::bigint, $7::boolean, $8::bigint[],
  cardinality($9::bigint[]), $10::boolean,
  CASE WHEN over THEN 'completed' ELSE 'queued' END, CASE WHEN over THEN clock_timestamp() END
FROM (SELECT NOT $10::boolean AND $6::bigint = 0 AS over) AS trigger
RETURNING trigger_id, kind, task_type, status, carrier_id, card_status, total, total_estimated, succeeded, failed,
  (extract(epoch FROM created_at) * 1000)::bigint AS created_at_ms,
  (extract(epoch FROM finished_at) * 1000)::bigint AS finished_at_ms
