-- The change feed of cards; migrations/0.2/0001_cards.sql explains the snapshots.

-- name: card_changes.snapshot
SELECT pg_current_snapshot()::text AS mark

-- name: card_changes.changed
-- One page of the cards whose last change committed between two snapshots, in (changed_xid, card_id) order.
-- $1 lower snapshot, $2 upper snapshot, $3 and $4 position after which the page starts (a window's first page starts
-- at the lower snapshot's xmin: nothing older can be missing from it), $5 rows at most.
-- A card that changed again after the upper snapshot is left to the next window.
SELECT changed_xid || '.' || card_id AS position, card_id, carrier_id, real_name_verified
FROM cards
WHERE (changed_xid, card_id) > ($3::xid8, $4::bigint)
  AND changed_xid < pg_snapshot_xmax($2::pg_snapshot)
  AND NOT pg_visible_in_snapshot(changed_xid, $1::pg_snapshot)
  AND pg_visible_in_snapshot(changed_xid, $2::pg_snapshot)
ORDER BY cards.changed_xid, card_id
LIMIT $5::integer

-- name: card_changes.removed
-- One page of the cards whose removal committed between two snapshots, in (changed_xid, card_id) order.
-- $1 to $5 as in changed. `present` is true for a card that was added again: it is no removal, but the
-- caller needs its position to page on.
SELECT r.changed_xid || '.' || r.card_id AS position, r.card_id,
  EXISTS (SELECT FROM cards c WHERE c.card_id = r.card_id) AS present
FROM card_removals r
WHERE (r.changed_xid, r.card_id) > ($3::xid8, $4::bigint)
  AND r.changed_xid < pg_snapshot_xmax($2::pg_snapshot)
  AND NOT pg_visible_in_snapshot(r.changed_xid, $1::pg_snapshot)
  AND pg_visible_in_snapshot(r.changed_xid, $2::pg_snapshot)
ORDER BY r.changed_xid, r.card_id
LIMIT $5::integer
