-- Runs that resume cards are filled in steps and count their cards, and may allow that a card is stopped again.

ALTER TABLE resume_runs
  -- What its cards are chosen from: a list (NULL once all are placed), or the stops since a time.
  ADD COLUMN card_ids bigint[],
  ADD COLUMN since timestamptz,
  ADD COLUMN carrier_id integer,
  ADD COLUMN spread_ms double precision NOT NULL DEFAULT 0,
  -- Cards that were counted before the run was made, and those that are in it.
  ADD COLUMN expected integer NOT NULL DEFAULT 0,
  ADD COLUMN filled integer NOT NULL DEFAULT 0,
  -- Cards are to be placed, or, when the run is cancelled, marked. The steps walk on from this place.
  ADD COLUMN steps_left boolean NOT NULL DEFAULT false,
  ADD COLUMN walked_at timestamptz,
  ADD COLUMN walked_to bigint NOT NULL DEFAULT 0,
  -- Its cards may be stopped again in the month.
  ADD COLUMN stop_again boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN resume_runs.spread_ms IS 'Its cards are due at random times of so many milliseconds after it was made.';
COMMENT ON COLUMN resume_runs.walked_to IS 'Place in card_ids, or the card id of the last stop at walked_at; when cancelled, the last card id marked.';
CREATE INDEX resume_runs_steps ON resume_runs (created_at) WHERE steps_left;

ALTER TABLE card_stops
  -- The card was resumed, and may be stopped again in the month by a reading taken after that.
  ADD COLUMN stop_again boolean NOT NULL DEFAULT false;

-- How many cards of a run have ended, by state: rows by the server process that ended them, so that workers do not wait for
-- each other. Cards that wait are not counted.
CREATE TABLE resume_counts (
  run_id  uuid NOT NULL REFERENCES resume_runs ON DELETE CASCADE,
  state   text NOT NULL,
  shard   integer NOT NULL,
  cards   integer NOT NULL,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (run_id, state, shard)
);

UPDATE resume_runs run SET filled = (SELECT count(*) FROM card_resumes r WHERE r.run_id = run.id);
INSERT INTO resume_counts (run_id, state, shard, cards, last_at)
SELECT run_id, state, 0, count(*), max(ended_at) FROM card_resumes WHERE state <> 'waiting' GROUP BY run_id, state;

-- A trigger, so that no statement that ends cards can forget to count them. The order of rows keeps two statements from
-- waiting for each other.
CREATE FUNCTION count_resumes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO resume_counts AS counted (run_id, state, shard, cards, last_at)
  SELECT run_id, state, pg_backend_pid() % 16, sum(cards), clock_timestamp()
  FROM (
    SELECT run_id, state, count(*) AS cards FROM cards_after GROUP BY run_id, state
    UNION ALL
    SELECT run_id, state, -count(*) FROM cards_before GROUP BY run_id, state
  ) AS change
  WHERE state <> 'waiting'
  GROUP BY run_id, state
  HAVING sum(cards) <> 0
  ORDER BY run_id, state
  ON CONFLICT (run_id, state, shard) DO UPDATE SET cards = counted.cards + excluded.cards, last_at = excluded.last_at;
  RETURN NULL;
END
$$;
CREATE TRIGGER card_resumes_counted AFTER UPDATE ON card_resumes
  REFERENCING OLD TABLE AS cards_before NEW TABLE AS cards_after
  FOR EACH STATEMENT EXECUTE FUNCTION count_resumes();

-- The last error of a run is one of few rows.
CREATE INDEX card_resumes_failed ON card_resumes (run_id) WHERE last_error IS NOT NULL;

DROP FUNCTION cards_to_resume(bigint[], timestamptz, integer);

-- One step of the walk over what a run chooses its cards from, `step` rows at most: a list, by place; or stops, from the
-- latest back to `since` (of the usage of one month, if it is given). is_chosen: a known card that waits in no other run, and
-- of stops what cardpoll stopped and what is stopped now; the stop that an operator ordered is not cardpoll's. freed_at: the
-- place in card_resumes where the card still waits in a run that was cancelled. See resumes.sql on its plan.
CREATE FUNCTION resume_candidates(
  card_ids bigint[], since timestamptz, carrier integer, stop_month date, from_at timestamptz, from_place bigint, step integer
) RETURNS TABLE (card_id bigint, walked_at timestamptz, walked_to bigint, is_chosen boolean, freed_at tid)
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY
  SELECT looked.id, looked.at, looked.place,
    looked.is_stop AND c.card_id IS NOT NULL AND (looked.at IS NULL OR c.stopped AND c.carrier_id = coalesce(carrier, c.carrier_id))
      AND (waits.run_id IS NULL OR waits.is_cancelled),
    CASE WHEN waits.is_cancelled THEN waits.place END
  FROM (
    SELECT listed.id, NULL::timestamptz AS at, from_place + listed.n AS place, true AS is_stop
    FROM unnest(card_ids[from_place + 1 : from_place + step]) WITH ORDINALITY AS listed (id, n)
    UNION ALL
    SELECT stop.id, stop.at, stop.id,
      stop.state = 'done' AND stop.authority IS DISTINCT FROM 'operator'
        AND stop.month = coalesce(stop_month, stop.month)
        -- A card with stops of several months is taken with the latest.
        AND NOT EXISTS (
          SELECT FROM card_stops later
          WHERE later.card_id = stop.id AND later.month > stop.month AND later.state = 'done'
            AND later.authority IS DISTINCT FROM 'operator' AND stop_month IS NULL)
    FROM (
      (
        SELECT s.card_id AS id, coalesce(s.completed_at, s.requested_at) AS at, s.month, s.state, s.authority
        FROM card_stops s
        WHERE coalesce(s.completed_at, s.requested_at) = from_at AND s.card_id > from_place AND from_at >= since
        ORDER BY s.card_id
        LIMIT step
      )
      UNION ALL
      (
        SELECT s.card_id, coalesce(s.completed_at, s.requested_at), s.month, s.state, s.authority
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
