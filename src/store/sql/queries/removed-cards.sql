-- One page of the cards whose removal committed between two snapshots, in (changed_xid, card_id) order.
-- Parameters as in changed-cards.sql. `present` is true for a card that was added again: it is no removal, but the
-- caller needs its position to page on.
SELECT r.changed_xid::text AS changed_xid, r.card_id,
  EXISTS (SELECT FROM cards c WHERE c.card_id = r.card_id) AS present
FROM card_removals r
WHERE (r.changed_xid, r.card_id) > ($3::xid8, $4::bigint)
  AND r.changed_xid < pg_snapshot_xmax($2::pg_snapshot)
  AND NOT pg_visible_in_snapshot(r.changed_xid, $1::pg_snapshot)
  AND pg_visible_in_snapshot(r.changed_xid, $2::pg_snapshot)
ORDER BY r.changed_xid, r.card_id
LIMIT $5::integer
