-- Manual triggers; migrations/0.2/0007_triggers.sql explains how a card counts once.

-- part: trigger
trigger_id, kind, task_type, status,
  CASE kind WHEN 'by_condition' THEN json_build_object('carrierId', carrier_id, 'status', card_status) END AS selection,
  total, total_estimated, succeeded, failed, created_at, finished_at

-- name: triggers.create
-- Records a manual trigger and hands out its first cards, atomically. $1 trigger id, $2 task type, $3 its cards as JSON: a list,
-- or a selection with its number, $4 cards of a list to hand out at most.
-- Returns the trigger's row. A trigger without cards is completed.
WITH given AS MATERIALIZED (
  SELECT kind, (selection ->> 'carrier_id')::integer AS carrier_id, (selection ->> 'status')::integer AS card_status,
    coalesce(total, cardinality(card_ids)) AS total, coalesce(total_estimated, false) AS total_estimated, card_ids,
    coalesce(card_ids[1 : $4::integer], '{}') AS first_ids, coalesce(cardinality(card_ids) > $4::integer, true) AS more
  FROM jsonb_to_record($3::jsonb)
    AS cards (kind text, card_ids bigint[], selection jsonb, total bigint, total_estimated boolean)
), owed AS (
  INSERT INTO manual_trigger_cards (trigger_id, card_id) SELECT $1::text, unnest(first_ids) FROM given
)
INSERT INTO manual_triggers (trigger_id, kind, task_type, carrier_id, card_status, total, total_estimated, card_ids,
  handed_out, feeding, status, finished_at)
SELECT $1::text, kind, $2::text, carrier_id, card_status, total, total_estimated, CASE WHEN more THEN card_ids END,
  cardinality(first_ids), more,
  CASE WHEN more OR total > 0 THEN 'queued' ELSE 'completed' END,
  CASE WHEN NOT more AND total = 0 THEN clock_timestamp() END
FROM given
RETURNING {trigger}

-- name: triggers.find
-- $1 trigger id. Returns the trigger's row.
SELECT {trigger}
FROM manual_triggers
WHERE trigger_id = $1

-- name: triggers.page
-- One page of the triggers, the newest first. $1 offset, $2 rows at most.
SELECT {trigger}
FROM manual_triggers
ORDER BY sequence DESC
OFFSET $1::bigint
LIMIT $2::integer

-- name: triggers.countAll
SELECT count(*) AS total FROM manual_triggers

-- name: triggers.countOpen
SELECT count(*) AS open FROM manual_triggers WHERE finished_at IS NULL

-- name: triggers.countOpenConditions
-- $1 task type.
SELECT count(*) AS open FROM manual_triggers
WHERE finished_at IS NULL AND kind = 'by_condition' AND task_type = $1::text

-- name: triggers.openTotals
-- $1 task type, NULL for all.
SELECT count(*) AS triggers, coalesce(sum(total - succeeded - failed), 0)::bigint AS cards FROM manual_triggers
WHERE finished_at IS NULL AND ($1::text IS NULL OR task_type = $1::text)

-- name: triggers.openFor
-- Unfinished manual triggers that still need a poll of one card: it is handed out, or will be. $1 card id, $2 carrier, $3 status
-- of the card, $4 most triggers. Neither half reads finished triggers: the owed cards are some thousand rows for any number of
-- triggers, and triggers with cards to hand out have their own index.
SELECT {trigger}
FROM manual_triggers t
-- An array, not IN: without statistics the planner would join with all triggers ever made.
WHERE t.status IN ('queued', 'running') AND t.trigger_id = ANY (ARRAY(
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
))
ORDER BY t.sequence DESC
LIMIT $4::integer

-- name: triggers.selectedCards
-- The cards that a by-condition trigger selects, for bounded-count.ts. $1 carrier, $2 status (NULL: any).
SELECT FROM cards
WHERE ($1::integer IS NULL OR carrier_id = $1::integer) AND ($2::integer IS NULL OR status = $2::integer)

-- name: triggers.knownCards
-- The given cards that exist. $1 card ids.
SELECT card_id FROM cards WHERE card_id = ANY ($1::bigint[])

-- name: triggers.cancel
-- $1 trigger id. Returns the trigger's row; no row for a finished trigger.
UPDATE manual_triggers SET status = 'cancelled', finished_at = clock_timestamp(), feeding = true, card_ids = NULL
WHERE trigger_id = $1 AND status IN ('queued', 'running')
RETURNING {trigger}

-- name: triggers.cancelAll
-- $1 task type, NULL for all. Returns the triggers and the number of their cards without a result.
-- They are locked first, in the order of the code that counts results: two writers wait, and cannot deadlock.
WITH locked AS MATERIALIZED (
  SELECT trigger_id FROM manual_triggers
  WHERE finished_at IS NULL AND ($1::text IS NULL OR task_type = $1::text)
  ORDER BY trigger_id
  FOR UPDATE
)
UPDATE manual_triggers t SET status = 'cancelled', finished_at = clock_timestamp(), feeding = true, card_ids = NULL
FROM locked
WHERE t.trigger_id = locked.trigger_id
RETURNING t.trigger_id, t.task_type, t.total - t.succeeded - t.failed AS cards

-- name: triggers.feeding
-- Triggers that need the leader: cancelled ones first, then those that got least, then the oldest. $1 cancelled triggers of each
-- task type at most, and as many others: triggers of a type that is held back must not delay the others, and thousands that were
-- cancelled together must not delay a new one.
SELECT f.trigger_id, f.task_type, f.status
FROM task_types AS k CROSS JOIN (VALUES (true), (false)) AS c (cancelled) CROSS JOIN LATERAL (
  SELECT * FROM manual_triggers AS t
  WHERE t.feeding AND t.task_type = k.task_type AND (t.status = 'cancelled') = c.cancelled
  ORDER BY t.handed_out, t.sequence
  LIMIT $1::integer
) AS f
ORDER BY f.status <> 'cancelled', f.handed_out, f.sequence

-- name: triggers.count
-- Counts the results of triggered cards. $1 trigger ids, $2 card ids, $3 whether the poll succeeded. A card that is not owed (any
-- more) does not count. The last result completes its trigger; results for a cancelled trigger are counted and change nothing
-- else.
WITH result AS (
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::boolean[]) AS r (trigger_id, card_id, succeeded)
), locked AS MATERIALIZED (
  -- Locked first, and in one order, so that writers of several triggers wait and cannot deadlock.
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

-- name: triggers.owed
-- One page of the cards that were handed out a while ago and have no result yet. $1 task type, $2 ms ago, $3 trigger and $4 card
-- after which it begins, $5 cards at most.
SELECT c.trigger_id, c.card_id
FROM manual_trigger_cards c JOIN manual_triggers t USING (trigger_id)
WHERE t.task_type = $1::text AND t.status IN ('queued', 'running')
  AND c.handed_out_at < clock_timestamp() - $2::float8 * interval '1 millisecond'
  AND (c.trigger_id, c.card_id) > ($3::text, $4::bigint)
ORDER BY c.trigger_id, c.card_id
LIMIT $5::integer

-- name: triggers.handOutAgain
-- $1 triggers and $2 their cards. Returns the cards that are still owed. The triggers are locked first, as when results are
-- counted: two writers of the same cards wait, and cannot deadlock.
WITH locked AS MATERIALIZED (
  SELECT trigger_id FROM manual_triggers WHERE trigger_id = ANY ($1::text[]) ORDER BY trigger_id FOR UPDATE
)
UPDATE manual_trigger_cards c SET handed_out_at = clock_timestamp()
FROM unnest($1::text[], $2::bigint[]) AS again (trigger_id, card_id) JOIN locked USING (trigger_id)
WHERE c.trigger_id = again.trigger_id AND c.card_id = again.card_id
RETURNING c.trigger_id, c.card_id

-- name: triggers.defer
-- Cards that were claimed too early to be polled: they are owed again after a wait. $1 triggers, $2 their cards, $3 ms.
WITH locked AS MATERIALIZED (
  SELECT trigger_id FROM manual_triggers WHERE trigger_id = ANY ($1::text[]) ORDER BY trigger_id FOR UPDATE
)
UPDATE manual_trigger_cards c SET handed_out_at = early.until, early_until = early.until
FROM (
  SELECT trigger_id, card_id, statement_timestamp() + wait_ms * interval '1 millisecond' AS until
  FROM unnest($1::text[], $2::bigint[], $3::float8[]) AS waiting (trigger_id, card_id, wait_ms) JOIN locked USING (trigger_id)
) AS early
WHERE c.trigger_id = early.trigger_id AND c.card_id = early.card_id

-- name: triggers.early
-- How many cards of triggers may not be polled yet, and until when the last of them waits. $1 triggers, $2 most cards to count of
-- each: a trigger may have millions.
SELECT t.trigger_id, e.cards, e.until_at
FROM unnest($1::text[]) AS t (trigger_id) CROSS JOIN LATERAL (
  SELECT count(*) AS cards, max(last.early_until) AS until_at
  FROM (
    SELECT c.early_until FROM manual_trigger_cards c
    WHERE c.trigger_id = t.trigger_id AND c.early_until > statement_timestamp()
    ORDER BY c.early_until DESC
    LIMIT $2::integer
  ) AS last
) AS e
WHERE e.cards > 0

-- name: triggers.earlyOf
-- The given cards that were too early for an unfinished trigger and have no result yet. $1 task type, $2 cards.
SELECT c.trigger_id, c.card_id
FROM manual_trigger_cards c JOIN manual_triggers t USING (trigger_id)
WHERE c.early_until IS NOT NULL AND c.card_id = ANY ($2::bigint[])
  AND t.task_type = $1::text AND t.status IN ('queued', 'running')

-- name: triggers.lock
-- $1 trigger id.
SELECT FROM manual_triggers WHERE trigger_id = $1 FOR UPDATE

-- name: triggers.takeBackCards
-- $1 trigger id, $2 its running cards.
DELETE FROM manual_trigger_cards WHERE trigger_id = $1 AND card_id <> ALL ($2::bigint[])

-- name: triggers.endFeeding
-- Ends the hand-out of a cancelled trigger without outstanding cards. $1 trigger id.
UPDATE manual_triggers SET feeding = false
WHERE trigger_id = $1 AND status = 'cancelled'
  AND NOT EXISTS (SELECT FROM manual_trigger_cards WHERE trigger_id = $1)

-- name: triggers.handOut
-- Hands out the next cards of a trigger: records them as owed and moves the trigger's cursor behind them. The lock of its row
-- serialises several callers. $1 trigger, $2 most cards, $3 most cards to scan for a by-condition trigger.
-- Returns the cards (as JSON, in their order) and whether there may be more; no row for a trigger that is finished, or handed out
-- in full. Scanning a bounded range in id order needs no index on the selected columns, and every call is short however few cards
-- match.
WITH trigger AS MATERIALIZED (
  SELECT kind, carrier_id, card_status, card_ids, last_card_id, total, total_estimated, handed_out
  FROM manual_triggers
  WHERE trigger_id = $1::text AND feeding AND status IN ('queued', 'running')
  FOR UPDATE
), piece AS MATERIALIZED (
  SELECT p.card_id, (t.carrier_id IS NULL OR p.carrier_id = t.carrier_id)
    AND (t.card_status IS NULL OR p.status = t.card_status) AS matches
  FROM trigger t CROSS JOIN LATERAL (
    SELECT card_id, carrier_id, status
    FROM cards
    WHERE card_id > t.last_card_id
    ORDER BY card_id
    LIMIT $3::integer
  ) AS p
  WHERE t.kind = 'by_condition'
), next AS MATERIALIZED (
  SELECT l.card_id, l.position
  FROM trigger t, unnest(t.card_ids[t.handed_out + 1:t.handed_out + $2::integer]) WITH ORDINALITY AS l (card_id, position)
  WHERE t.kind <> 'by_condition'
  UNION ALL
  (SELECT card_id, card_id FROM piece WHERE matches ORDER BY card_id LIMIT $2::integer)
), owed AS (
  INSERT INTO manual_trigger_cards (trigger_id, card_id) SELECT $1::text, card_id FROM next ORDER BY position
), moved AS (
  SELECT t.total, t.total_estimated, t.handed_out + next.cards AS handed_out,
    CASE WHEN t.kind <> 'by_condition' THEN t.handed_out + next.cards < t.total
      -- A full hand may have left matching cards of the piece behind.
      ELSE next.cards = $2::integer OR piece.cards = $3::integer END AS more,
    CASE WHEN t.kind = 'by_condition' AND next.cards = $2::integer THEN next.last_card_id
      ELSE coalesce(piece.last_card_id, t.last_card_id) END AS last_card_id
  FROM trigger t,
    (SELECT count(*) AS cards, max(card_id) AS last_card_id FROM next) AS next,
    (SELECT count(*) AS cards, max(card_id) AS last_card_id FROM piece) AS piece
), counted AS (
  SELECT moved.*, new_total, CASE WHEN more THEN 0 ELSE new_total - handed_out END AS gone
  FROM moved, LATERAL (
    SELECT CASE WHEN total_estimated AND NOT more THEN handed_out ELSE greatest(total, handed_out) END AS new_total
  ) AS exact
)
UPDATE manual_triggers t SET
  feeding = c.more, last_card_id = c.last_card_id, handed_out = c.handed_out, total = c.new_total,
  total_estimated = c.total_estimated AND c.more, card_ids = CASE WHEN c.more THEN t.card_ids END,
  -- Cards that were counted when the trigger was made and were removed before their turn.
  failed = t.failed + c.gone,
  status = CASE WHEN NOT c.more AND t.succeeded + t.failed + c.gone = c.new_total THEN 'completed' ELSE t.status END,
  finished_at = CASE WHEN NOT c.more AND t.succeeded + t.failed + c.gone = c.new_total THEN clock_timestamp() END
FROM counted c
WHERE t.trigger_id = $1::text
RETURNING (SELECT coalesce(json_agg(card_id ORDER BY position), '[]') FROM next) AS card_ids, t.feeding AS more
