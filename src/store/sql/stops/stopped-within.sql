-- Cards that cardpoll stopped and that are now within their package: the list cards_stopped_within. The rule is in
-- src/domain/orders; a card of the list is judged again before any action.

-- name: stopped_within.counted
-- $1 cards counted at most, $2 card ids at most. Excludes cards that run again, wait in a run, or were changed, and stops of a
-- former month while the run of this month hands out its cards. No row: unknown.
SELECT control.over_running_at AS at, found.count, found.card_ids
FROM stop_control control CROSS JOIN LATERAL (
  SELECT count(*) AS count, coalesce(array_to_json((array_agg(card_id ORDER BY card_id))[:$2::integer]), '[]') AS card_ids
  FROM (
    SELECT w.card_id
    FROM cards_stopped_within w
    -- The limit permits only one plan: card by card. Another one could read all cards.
    CROSS JOIN LATERAL (
      SELECT FROM cards c JOIN card_usage u ON u.card_id = c.card_id AND u.month = control.over_running_month
      WHERE c.card_id = w.card_id AND c.stopped AND u.used_mb <= coalesce(c.allowance_mb, 'Infinity')
      LIMIT 1
    ) AS still_so
    WHERE NOT EXISTS (SELECT FROM card_resumes r WHERE r.card_id = w.card_id AND r.state = 'waiting')
      AND NOT (w.month < control.over_running_month
        AND EXISTS (SELECT FROM resume_runs run WHERE run.month = control.over_running_month AND run.steps_left))
    LIMIT $1::integer
  ) AS cut_off
) AS found
WHERE control.over_running_at IS NOT NULL

-- name: stopped_within.candidates
-- The given cards $1 that are stopped now and were stopped by cardpoll. $2 current month.
SELECT c.card_id
FROM unnest($1::bigint[]) AS asked (card_id) JOIN cards c ON c.card_id = asked.card_id AND c.stopped
JOIN card_usage u ON u.card_id = c.card_id AND u.month = $2::date AND u.used_mb <= coalesce(c.allowance_mb, 'Infinity')
WHERE EXISTS (SELECT FROM card_stops s WHERE s.card_id = c.card_id AND s.state = 'done')

-- name: stopped_within.note
-- $1 judged cards, $2 those that match, $3 the months of their stops.
WITH gone AS (
  DELETE FROM cards_stopped_within WHERE card_id = ANY ($1::bigint[]) AND card_id <> ALL ($2::bigint[])
)
INSERT INTO cards_stopped_within AS w (card_id, month)
SELECT * FROM unnest($2::bigint[], $3::date[])
ON CONFLICT (card_id) DO UPDATE SET month = excluded.month, tried_at = NULL
WHERE w.month <> excluded.month

-- name: stopped_within.page
-- Cards of the list. $1 card id after which, $2 carrier or NULL, $3 cards at most, $4 how long a card is skipped after an
-- attempt, milliseconds; NULL: skips none.
SELECT w.card_id
FROM cards_stopped_within w JOIN cards c ON c.card_id = w.card_id AND c.stopped
WHERE w.card_id > $1::bigint AND ($2::integer IS NULL OR c.carrier_id = $2::integer)
  AND ($4::float8 IS NULL OR w.tried_at IS NULL OR w.tried_at < clock_timestamp() - $4::float8 * interval '1 millisecond')
ORDER BY w.card_id
LIMIT $3::integer

-- name: stopped_within.noteTried
-- $1 card ids.
UPDATE cards_stopped_within SET tried_at = clock_timestamp() WHERE card_id = ANY ($1::bigint[])
