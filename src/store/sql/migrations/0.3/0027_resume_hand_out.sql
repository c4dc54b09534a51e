-- Runs that resume cards hand their cards out as these are resumed, as manual triggers do. A stop that was called and is not
-- confirmed belongs to them, and its late effect does not outlast them.

-- Cards of cancelled runs that were not marked yet.
UPDATE card_resumes r SET state = 'cancelled', ended_at = clock_timestamp()
FROM resume_runs run
WHERE run.id = r.run_id AND run.cancelled_at IS NOT NULL AND r.state = 'waiting';
UPDATE resume_runs SET steps_left = false WHERE cancelled_at IS NOT NULL;

-- The ended cards of a run that were counted: resume_runs has their numbers, so that progress is cheap to read. Only the
-- leader writes them, so workers do not wait for each other. What is neither resumed, running nor failed is cancelled.
DROP TRIGGER card_resumes_counted ON card_resumes;
DROP FUNCTION count_resumes();
ALTER TABLE resume_runs RENAME COLUMN filled TO handed_out;
ALTER TABLE resume_runs
  ADD COLUMN resumed integer NOT NULL DEFAULT 0,
  ADD COLUMN already_running integer NOT NULL DEFAULT 0,
  ADD COLUMN failed integer NOT NULL DEFAULT 0,
  ADD COLUMN last_ended_at timestamptz;
ALTER TABLE card_resumes DROP COLUMN not_before, ADD COLUMN counted boolean NOT NULL DEFAULT false;
UPDATE resume_runs run SET resumed = counts.resumed, already_running = counts.already_running, failed = counts.failed,
  last_ended_at = counts.last_at
FROM (
  SELECT run_id, max(last_at) AS last_at,
    coalesce(sum(cards) FILTER (WHERE state = 'resumed'), 0) AS resumed,
    coalesce(sum(cards) FILTER (WHERE state = 'already_running'), 0) AS already_running,
    coalesce(sum(cards) FILTER (WHERE state = 'failed'), 0) AS failed
  FROM resume_counts
  GROUP BY run_id
) AS counts
WHERE run.id = counts.run_id;
UPDATE card_resumes SET counted = true WHERE state <> 'waiting';
DROP TABLE resume_counts;
CREATE INDEX card_resumes_open ON card_resumes (run_id) WHERE NOT counted;
COMMENT ON COLUMN resume_runs.steps_left IS 'Cards are still to be handed out. The walk goes on from walked_at and walked_to.';
COMMENT ON COLUMN resume_runs.walked_to IS 'Place in card_ids, or the card id of the last stop at walked_at.';

-- What was not resumed, with the reason.
DROP INDEX card_resumes_failed;
CREATE INDEX card_resumes_not_resumed ON card_resumes (run_id, card_id)
  WHERE state IN ('failed', 'cancelled') AND last_error IS NOT NULL;

-- The run that resumed the card: it takes the card again should the stop take effect late.
ALTER TABLE card_stops ADD COLUMN resume_run uuid;

-- Runs that were being filled walk anew, in the other direction; their cards are not handed out twice.
UPDATE resume_runs SET walked_at = since, walked_to = CASE WHEN since IS NULL THEN walked_to ELSE 9007199254740992 END
WHERE steps_left;

-- Whether cardpoll stopped the card or may have: it was called, and no poll has seen the effect yet.
CREATE FUNCTION may_be_stopped(s card_stops) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT (s.state = 'done' OR s.state = 'requested' AND (s.claimed_until IS NOT NULL OR s.unresolved))
    AND s.authority IS DISTINCT FROM 'operator'
$$;

DROP FUNCTION resume_candidates(bigint[], timestamptz, integer, date, timestamptz, bigint, integer);

-- One step of the walk over what a run chooses its cards from, `step` rows at most: a list, by place; or stops, by time
-- (of the usage of one month, if it is given). A stop that is confirmed meanwhile moves forward, so the walk meets it.
-- is_chosen: a known card that waits in no run, and of stops those of its SIM that cardpoll made or may have made, and that are in effect or may be. What
-- was decided after the run was ordered stays: a stop, or what an operator ordered for a card of a list.
CREATE FUNCTION resume_candidates(
  card_ids bigint[], carrier integer, stop_month date, ordered_at timestamptz, from_at timestamptz, from_place bigint, step integer
) RETURNS TABLE (card_id bigint, walked_at timestamptz, walked_to bigint, is_chosen boolean)
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY
  SELECT looked.id, looked.at, looked.place,
    looked.is_wanted AND c.card_id IS NOT NULL AND waits.run_id IS NULL
      AND (looked.at IS NULL OR (c.stopped OR looked.is_open) AND c.iccid = looked.iccid AND c.carrier_id = coalesce(carrier, c.carrier_id))
  FROM (
    SELECT listed.id, NULL::timestamptz AS at, from_place + listed.n AS place, false AS is_open, NULL::text AS iccid,
      -- By order and limit, since a plan that was made for few stops could read all for each card.
      NOT coalesce((
        SELECT s.authority = 'operator' AND s.state IN ('requested', 'done') AND s.requested_at >= ordered_at
        FROM card_stops s
        WHERE s.card_id = listed.id
        ORDER BY s.card_id DESC, s.month DESC
        LIMIT 1), false) AS is_wanted
    -- Where it is a card id, it may be too large for a place, which a plan may notice.
    FROM unnest(card_ids[least(from_place, 1000000000) + 1 : least(from_place, 1000000000) + step]) WITH ORDINALITY AS listed (id, n)
    UNION ALL
    SELECT stop.id, stop.at, stop.id, stop.state = 'requested', stop.iccid,
      stop.may_be_stopped AND stop.requested_at < ordered_at AND stop.month = coalesce(stop_month, stop.month)
        -- A card with stops of several months is taken with the latest.
        AND NOT EXISTS (
          SELECT FROM card_stops later
          WHERE later.card_id = stop.id AND later.month > stop.month AND may_be_stopped(later) AND stop_month IS NULL)
    FROM (
      (
        SELECT s.card_id AS id, coalesce(s.completed_at, s.requested_at) AS at, s.month, s.state, s.iccid, s.requested_at, may_be_stopped(s)
        FROM card_stops s
        WHERE coalesce(s.completed_at, s.requested_at) = from_at AND s.card_id < from_place
        ORDER BY s.card_id DESC
        LIMIT step
      )
      UNION ALL
      (
        SELECT s.card_id, coalesce(s.completed_at, s.requested_at), s.month, s.state, s.iccid, s.requested_at, may_be_stopped(s)
        FROM card_stops s
        WHERE coalesce(s.completed_at, s.requested_at) > from_at
        ORDER BY coalesce(s.completed_at, s.requested_at), s.card_id DESC
        LIMIT step
      )
      ORDER BY at, id DESC
      LIMIT step
    ) AS stop
  ) AS looked
  -- Limit and order allow one plan only: card by card, by the index on the card id. Another one could read all that wait
  -- for each card; it looks as cheap while the table is empty, and a plan is kept.
  LEFT JOIN LATERAL (
    SELECT cards.card_id, cards.stopped, cards.iccid, cards.carrier_id
    FROM cards
    WHERE cards.card_id BETWEEN looked.id AND looked.id
    ORDER BY cards.card_id
    LIMIT 1
  ) AS c ON true
  LEFT JOIN LATERAL (
    SELECT r.run_id
    FROM card_resumes r
    WHERE r.card_id BETWEEN looked.id AND looked.id AND r.state = 'waiting'
    ORDER BY r.card_id
    LIMIT 1
  ) AS waits ON true;
END
$$;
