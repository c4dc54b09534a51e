-- Reads card records: one, a page, a filtered range, or their number. {*} and {c.*} are their columns, {filter from $4} is the
-- condition of their lists (card-columns.ts).

-- name: cards.page
-- The fields that decide the rings of the next cards in id order. $1 card id to start after, $2 rows at most.
SELECT card_id, carrier_id, real_name_verified
FROM cards
WHERE card_id > $1::bigint
ORDER BY card_id
LIMIT $2::integer

-- name: cards.byIds
-- Cards with the newest month of usage. $1 card ids. One row per known card, in no particular order.
-- The lateral query walks the monthly partitions from the newest and stops at the first row.
SELECT {c.*},
  to_char(u.month, 'YYYY-MM') AS "usage.month", u.used_mb AS "usage.used_mb", u.last_reading_mb AS "usage.last_reading_mb",
  u.suspected_mb AS "usage.suspected_mb", u.read_at AS "usage.read_at",
  CASE WHEN NOT reading_is_of_sim(c, u.iccid, u.read_at) THEN true END AS "usage.of_former_iccid", u.jump_from_mb AS "usage.jump.from_mb",
  u.jump_from_used_mb AS "usage.jump.from_used_mb", u.jump_at AS "usage.jump.at"
FROM cards c
LEFT JOIN LATERAL (
  SELECT month, used_mb, last_reading_mb, suspected_mb, read_at, iccid, jump_from_mb, jump_from_used_mb, jump_at
  FROM card_usage
  WHERE card_usage.card_id = c.card_id
  ORDER BY month DESC
  LIMIT 1
) u ON true
WHERE c.card_id = ANY ($1::bigint[])

-- name: cards.idOf
-- The id of a card. $1 its id or its iccid.
SELECT CASE WHEN length($1::text) < 18 THEN $1::text::bigint ELSE (SELECT card_id FROM cards WHERE iccid = $1::text) END AS card_id

-- name: cards.lastPolls
-- When a card was polled last, by task type: all columns of card_polls except the key are such times, `<task_type>_at`. $1 card
-- id. The table is unlogged, because every poll writes it, and a crash of PostgreSQL empties it.
SELECT json_object_agg(regexp_replace(poll.key, '_at$', ''),
  round(extract(epoch FROM poll.value::timestamptz) * 1000)) AS polls
FROM card_polls p, jsonb_each_text(to_jsonb(p) - 'card_id') AS poll
WHERE p.card_id = $1::bigint AND poll.value IS NOT NULL

-- name: cards.lastPollsOf
-- When cards were polled last for one task type. $1 task type, $2 card ids. No row for a card that was never polled.
SELECT p.card_id, (to_jsonb(p) ->> ($1::text || '_at'))::timestamptz AS at
FROM card_polls p
WHERE p.card_id = ANY ($2::bigint[]) AND to_jsonb(p) ->> ($1::text || '_at') IS NOT NULL

-- name: cards.monthlyUsage
-- The newest months of a card. $1 card id, $2 months at most.
SELECT to_char(month, 'YYYY-MM') AS month, used_mb
FROM card_usage
WHERE card_id = $1::bigint
ORDER BY card_usage.month DESC
LIMIT $2::integer

-- name: cards.allowanceChangedAt
-- When a card got its current allowance, epoch ms. $1 card id.
SELECT extract(epoch FROM allowance_changed_at)::float8 * 1000 FROM cards WHERE card_id = $1::bigint

-- name: cards.count
SELECT count(*) AS count FROM cards

-- name: cards.estimate
-- The number of cards: counted for a small table, otherwise estimated by the rows per page of the last analysis. $1 pages that
-- are counted, $2 rows per page of a table that was never analysed, or last analysed during its first insert (0 rows, yet pages).
-- $3 whether to trust the walk over all cards, if one has ended: after an import that writes all cards, twice as many pages hold
-- as many cards.
SELECT CASE WHEN pages <= $1::integer THEN (SELECT count(*) FROM cards)
  WHEN $3::boolean AND walk.fleet_cards IS NOT NULL THEN walk.fleet_cards
  ELSE round(pages * CASE WHEN reltuples > 0 AND relpages > 0 THEN reltuples / relpages ELSE $2::integer END) END AS cards
FROM stop_control walk, pg_class, LATERAL (SELECT pg_relation_size(oid) / current_setting('block_size')::integer AS pages) AS present
WHERE oid = 'cards'::regclass

-- name: cards.lastId
SELECT max(card_id) AS last FROM cards

-- name: cards.stretch
-- A range of the cards in id order, filtered. $1 card id to start after, $2 cards to scan, $3 cards to return at most, from $4 on
-- the filter (NULL: any).
-- Returns the matching cards, each with the id to start after next (NULL: there are no more cards); one row without a card if
-- none matches. A full range may have left matching cards behind its last one; otherwise everything up to the last id was
-- scanned. Scanning a bounded range in id order needs no index on the filtered columns.
WITH looked AS MATERIALIZED (
  SELECT {*}
  FROM cards
  WHERE card_id > $1::bigint
  ORDER BY card_id
  LIMIT $2::integer
), matching AS (
  SELECT * FROM looked
  WHERE {filter from $4}
  ORDER BY card_id
  LIMIT $3::integer
)
SELECT e.next_after_id, m.*
FROM (
  SELECT CASE WHEN found.cards = $3::integer THEN found.last_id WHEN scanned.cards = $2::integer THEN scanned.last_id
    END AS next_after_id
  FROM (SELECT max(card_id) AS last_id, count(*) AS cards FROM looked) AS scanned,
    (SELECT max(card_id) AS last_id, count(*) AS cards FROM matching) AS found
) e LEFT JOIN matching m ON true
ORDER BY m.card_id
