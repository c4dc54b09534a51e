-- Unfinished manual triggers that still ask for a poll of one card: those that owe it, and those that will hand it out.
-- $1 card id, $2 carrier, $3 status of the card, $4 most triggers.
-- Neither looks at finished triggers: what is owed is some thousand rows however many triggers there are, and triggers
-- with cards to hand out have an index of their own.
SELECT t.trigger_id, t.kind, t.task_type, t.status, t.carrier_id, t.card_status, t.total, t.total_estimated,
  t.succeeded, t.failed, (extract(epoch FROM t.created_at) * 1000)::bigint AS created_at_ms,
  NULL::bigint AS finished_at_ms
FROM manual_triggers t
WHERE t.status IN ('queued', 'running') AND t.trigger_id IN (
  SELECT owed.trigger_id FROM manual_trigger_cards owed WHERE owed.card_id = $1::bigint
  UNION
  SELECT f.trigger_id
  FROM manual_triggers f
  WHERE f.feeding AND CASE f.kind
    WHEN 'by_condition' THEN f.last_card_id < $1::bigint
      AND coalesce(f.carrier_id, $2::integer) = $2::integer
      AND coalesce(f.card_status, $3::integer) = $3::integer
    ELSE $1::bigint = ANY (f.card_ids[f.handed_out + 1 :])
  END
)
ORDER BY t.sequence DESC
LIMIT $4::integer
