-- Counts the results of triggered cards. $1 trigger ids, $2 card ids, $3 whether the poll succeeded.
-- A card that is not owed (any more) counts nothing. The last result completes its trigger; results that come in for a
-- cancelled one are counted and change nothing else.
WITH result AS (
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::boolean[]) AS r (trigger_id, card_id, succeeded)
), locked AS MATERIALIZED (
  -- In one order and before everything else: writers that meet on several triggers wait, and cannot deadlock.
  SELECT trigger_id FROM manual_triggers
  WHERE trigger_id = ANY ($1::text[])
  ORDER BY trigger_id
  FOR UPDATE
), accounted AS (
  DELETE FROM manual_trigger_cards c
  USING result r JOIN locked USING (trigger_id)
  WHERE c.trigger_id = r.trigger_id AND c.card_id = r.card_id
  RETURNING c.trigger_id, r.succeeded
), news AS (
  SELECT trigger_id, count(*) FILTER (WHERE succeeded) AS succeeded, count(*) FILTER (WHERE NOT succeeded) AS failed
  FROM accounted
  GROUP BY trigger_id
)
UPDATE manual_triggers t SET
  succeeded = t.succeeded + n.succeeded,
  failed = t.failed + n.failed,
  status = CASE
    WHEN t.status = 'cancelled' THEN 'cancelled'
    WHEN NOT t.feeding AND t.succeeded + t.failed + n.succeeded + n.failed = t.total THEN 'completed'
    ELSE 'running' END,
  finished_at = CASE
    WHEN t.status = 'cancelled' THEN t.finished_at
    WHEN NOT t.feeding AND t.succeeded + t.failed + n.succeeded + n.failed = t.total THEN clock_timestamp() END
FROM news n
WHERE t.trigger_id = n.trigger_id
