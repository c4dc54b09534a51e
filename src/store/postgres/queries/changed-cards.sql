-- One page of the cards whose last change committed between two snapshots, in (changed_xid, card_id) order.
-- $1 lower snapshot, $2 upper snapshot, $3 and $4 position after which the page starts, $5 rows at most.
-- A card that changed again after the upper snapshot is not here: the next window has it.
WITH page AS MATERIALIZED (
  -- Only indexed columns, so that a long open transaction, which holds back the lower bound, costs index pages only.
  SELECT changed_xid, card_id
  FROM cards
  WHERE changed_xid >= pg_snapshot_xmin($1::pg_snapshot)
    AND changed_xid < pg_snapshot_xmax($2::pg_snapshot)
    AND (changed_xid, card_id) > ($3::xid8, $4::bigint)
    AND NOT pg_visible_in_snapshot(changed_xid, $1::pg_snapshot)
    AND pg_visible_in_snapshot(changed_xid, $2::pg_snapshot)
  ORDER BY changed_xid, card_id
  LIMIT $5::integer
)
SELECT p.changed_xid::text AS changed_xid, c.card_id, c.carrier_id, c.real_name_verified
FROM page p JOIN cards c USING (card_id)
ORDER BY p.changed_xid, c.card_id
