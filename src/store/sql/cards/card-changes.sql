-- The change feed of cards; migrations/0.2/0001_cards.sql explains the snapshots.

-- name: card_changes.snapshot
SELECT pg_current_snapshot()::text AS mark

-- name: card_changes.between
-- The source of changed and removed: the rows of {table} whose transactions committed between two snapshots. $1 lower snapshot,
-- $2 upper snapshot, $3 and $4 position, $5 rows at most, as in changed. The lower snapshot misses the transactions that were
-- running then, and later ones. They are looked up by id: a walk from the oldest running one would read all changes since its
-- start, in each pass, for as long as it runs.
(
  SELECT c.*
  FROM pg_snapshot_xip($1::pg_snapshot) AS late (xid) CROSS JOIN LATERAL (
    SELECT * FROM {table}
    WHERE changed_xid = late.xid AND card_id > CASE WHEN late.xid = $3::xid8 THEN $4::bigint ELSE 0 END
    ORDER BY card_id
    LIMIT $5::integer
  ) AS c
  WHERE late.xid >= $3::xid8 AND pg_visible_in_snapshot(late.xid, $2::pg_snapshot)
) UNION ALL (
  SELECT * FROM {table}
  WHERE (changed_xid, card_id) > (greatest($3::xid8, pg_snapshot_xmax($1::pg_snapshot)),
      CASE WHEN $3::xid8 < pg_snapshot_xmax($1::pg_snapshot) THEN 0 ELSE $4::bigint END)
    AND changed_xid < pg_snapshot_xmax($2::pg_snapshot)
    AND pg_visible_in_snapshot(changed_xid, $2::pg_snapshot)
  ORDER BY changed_xid, card_id
  LIMIT $5::integer
)

-- name: card_changes.changed
-- One page of the cards whose last change committed between two snapshots, in (changed_xid, card_id) order. $1 lower snapshot, $2
-- upper snapshot, $3 and $4 position after which the page starts (a window's first page starts at the lower snapshot's xmin:
-- nothing older can be missing from it), $5 rows at most. A card that changed again after the upper snapshot is left to the next
-- window.
SELECT changed_xid || '.' || card_id AS position, card_id, carrier_id, real_name_verified
FROM ({cards}) AS c
ORDER BY c.changed_xid, card_id
LIMIT $5::integer

-- name: card_changes.removed
-- One page of the cards whose removal committed between two snapshots, in (changed_xid, card_id) order. $1 to $5: $1 and $2
-- snapshots, $3 and $4 position, $5 rows, as in changed. `present` is true for a card that was added again: this is not a
-- removal, but the caller needs its position to page on.
SELECT r.changed_xid || '.' || r.card_id AS position, r.card_id,
  EXISTS (SELECT FROM cards c WHERE c.card_id = r.card_id) AS present
FROM ({removals}) AS r
ORDER BY r.changed_xid, r.card_id
LIMIT $5::integer
