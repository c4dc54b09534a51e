-- The run of a month also has the cards whose stop was called and is not confirmed: the call may have taken effect.

-- One step of the walk over what a run chooses its cards from, `step` rows at most: a list, by place; or stops, from the
-- latest back to `since` (of the usage of one month, if it is given). is_chosen: a known card that waits in no other run, and
-- of stops what cardpoll stopped and what is stopped now; the stop that an operator ordered is not cardpoll's. With a month
-- also is_open: the stop was called, and no poll has seen its effect yet. freed_at: the place in card_resumes where the card
-- still waits in a run that was cancelled. See resumes.sql on its plan.
CREATE OR REPLACE FUNCTION resume_candidates(
  card_ids bigint[], since timestamptz, carrier integer, stop_month date, from_at timestamptz, from_place bigint, step integer
) RETURNS TABLE (card_id bigint, walked_at timestamptz, walked_to bigint, is_chosen boolean, freed_at tid)
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY
  SELECT looked.id, looked.at, looked.place,
    looked.is_stop AND c.card_id IS NOT NULL
      AND (looked.at IS NULL OR (c.stopped OR looked.is_open) AND c.carrier_id = coalesce(carrier, c.carrier_id))
      AND (waits.run_id IS NULL OR waits.is_cancelled),
    CASE WHEN waits.is_cancelled THEN waits.place END
  FROM (
    SELECT listed.id, NULL::timestamptz AS at, from_place + listed.n AS place, true AS is_stop, false AS is_open
    FROM unnest(card_ids[from_place + 1 : from_place + step]) WITH ORDINALITY AS listed (id, n)
    UNION ALL
    SELECT stop.id, stop.at, stop.id,
      (stop.state = 'done' OR stop.is_open) AND stop.authority IS DISTINCT FROM 'operator'
        AND stop.month = coalesce(stop_month, stop.month)
        -- A card with stops of several months is taken with the latest.
        AND NOT EXISTS (
          SELECT FROM card_stops later
          WHERE later.card_id = stop.id AND later.month > stop.month AND later.state = 'done'
            AND later.authority IS DISTINCT FROM 'operator' AND stop_month IS NULL),
      stop.is_open
    FROM (
      (
        SELECT s.card_id AS id, coalesce(s.completed_at, s.requested_at) AS at, s.month, s.state, s.authority,
          stop_month IS NOT NULL AND s.state = 'requested' AND s.claimed_until IS NOT NULL AS is_open
        FROM card_stops s
        WHERE coalesce(s.completed_at, s.requested_at) = from_at AND s.card_id > from_place AND from_at >= since
        ORDER BY s.card_id
        LIMIT step
      )
      UNION ALL
      (
        SELECT s.card_id, coalesce(s.completed_at, s.requested_at), s.month, s.state, s.authority,
          stop_month IS NOT NULL AND s.state = 'requested' AND s.claimed_until IS NOT NULL
        FROM card_stops s
        WHERE coalesce(s.completed_at, s.requested_at) < from_at AND coalesce(s.completed_at, s.requested_at) >= since
        ORDER BY coalesce(s.completed_at, s.requested_at) DESC, s.card_id
        LIMIT step
      )
      ORDER BY at DESC, id
      LIMIT step
    ) AS stop
  ) AS looked
  -- Limit and order allow one plan only: card by card, by the index on the card id. Another one could read all that wait
  -- for each card; it looks as cheap while the table is empty, and a plan is kept.
  LEFT JOIN LATERAL (
    SELECT cards.card_id, cards.stopped, cards.carrier_id
    FROM cards
    WHERE cards.card_id BETWEEN looked.id AND looked.id
    ORDER BY cards.card_id
    LIMIT 1
  ) AS c ON true
  LEFT JOIN LATERAL (
    SELECT r.run_id, r.ctid AS place, run.cancelled_at IS NOT NULL AS is_cancelled
    FROM card_resumes r JOIN resume_runs run ON run.id = r.run_id
    WHERE r.card_id BETWEEN looked.id AND looked.id AND r.state = 'waiting'
    ORDER BY r.card_id
    LIMIT 1
  ) AS waits ON true;
END
$$;
