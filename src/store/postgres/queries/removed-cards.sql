-- One page of the cards whose removal committed between two snapshots, in (changed_xid, card_id) order.
-- Parameters as in changed-cards.sql. `present` is true for a card that was added again: it is no removal, but the
-- caller needs its position to page on.
WITH page AS MATERIALIZED (
  SELECT changed_xid, card_id
  FROM card_removals
  WHERE changed_xid >= pg_snapshot_xmin($1::pg_snapshot)
    AND changed_xid < pg_snapshot_xmax($2::pg_snapshot)
    AND (changed_xid, card_id) > ($3::xid8, $4::bigint)
    AND NOT pg_visible_in_snapshot(changed_xid, $1::pg_snapshot)
    AND pg_visible_in_snapshot(changed_xid, $2::pg_snapshot)
  ORDER BY changed_xid, card_id
  LIMIT $5::integer
)
SELECT p.changed_xid::text AS changed_xid, p.card_id,
  EXISTS (SELECT FROM cards c WHERE c.card_id = p.card_id) AS present
FROM page p
ORDER BY p.changed_xid, p.card_id
