-- Safeguards of stops: a budget for the fleet, observe mode, stops that wait for an operator, the way back, and the promise of
-- cardpoll as a number (docs/stops.md, docs/decisions/0032-safeguards-of-stops.md). Columns without a rewrite; the indexes of card_stops
-- take seconds with millions of stops, which wait meanwhile.

ALTER TABLE card_stops
  DROP CONSTRAINT card_stops_state_check,
  ADD CONSTRAINT card_stops_state_check
    CHECK (state IN ('requested', 'done', 'held', 'observed', 'dismissed', 'resumed')) NOT VALID,
  -- An operator may stop a card without a limit.
  ALTER COLUMN allowance_mb DROP NOT NULL,
  -- NULL: cardpoll's own decision, which the budget limits. released: an operator let a held stop go on. operator: an operator
  -- stops the card, whatever it has used.
  ADD COLUMN authority text CHECK (authority IN ('released', 'operator')),
  ADD COLUMN ordered_by text,
  ADD COLUMN reason text,
  ADD COLUMN held_by text,
  ADD CONSTRAINT card_stops_held_by_check
    CHECK (held_by IN ('usage_jump', 'budget_hour', 'budget_day', 'reading_fell')) NOT VALID,
  -- When the present claim was counted in the budget; NULL: it is not counted.
  ADD COLUMN charged_at timestamptz,
  -- When a stop with an authority is given to the queue (again).
  ADD COLUMN due_at timestamptz,
  ADD COLUMN resumed_at timestamptz,
  -- The card was resumed, and may be stopped again in the month by a reading taken after that.
  ADD COLUMN stop_again boolean NOT NULL DEFAULT false,
  ADD COLUMN reading_mb double precision,
  -- The run that resumed the card: it takes the card again should the stop take effect late.
  ADD COLUMN resume_run uuid;
COMMENT ON COLUMN card_stops.reading_mb IS 'The highest reading when the stop was judged.';
CREATE INDEX card_stops_at ON card_stops ((coalesce(completed_at, requested_at)) DESC, card_id);
CREATE INDEX card_stops_waiting ON card_stops (state, card_id) WHERE state IN ('held', 'observed');
CREATE INDEX card_stops_due ON card_stops (due_at) WHERE state = 'requested' AND authority IS NOT NULL;
CREATE INDEX card_stops_resumed ON card_stops (resumed_at) WHERE resumed_at IS NOT NULL;
-- The stops that operators released or ordered, by the time of their call: they are no surge.
CREATE INDEX card_stops_ordered ON card_stops (charged_at) WHERE authority IS NOT NULL;

-- The mode of all stops, the number of recent ones, whether the readings of the whole fleet have jumped, and how far the walk of cards
-- that are over their package is.
CREATE TABLE stop_control (
  only_row             boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- NULL: the setting stops.mode of each instance.
  mode                 text CHECK (mode IN ('enforce', 'observe')),
  mode_since           timestamptz,
  mode_by              text,
  mode_reason          text,
  -- Stops called in the minute `minute` (epoch minutes) and the 60 before it, and in its quarter of an hour and the 96 before.
  minute               bigint NOT NULL DEFAULT 0,
  by_minute            integer[] NOT NULL DEFAULT array_fill(0, ARRAY[61]),
  by_quarter           integer[] NOT NULL DEFAULT array_fill(0, ARRAY[97]),
  jump_since           timestamptz,
  jump_factor          double precision,
  jump_baseline        double precision,
  jump_recent          double precision,
  jump_accepted_at     timestamptz,
  -- When the growth of the fleet was last found to be as before a jump.
  jump_over_at         timestamptz,
  -- Stops that a jump held until then wait for an operator: it did not end by growth as before it.
  jump_doubtful_until  timestamptz,
  -- The month that the walk of now counts; NULL: it did not begin at the first card in this month.
  over_running_month   date,
  -- When a walk of this month last ended; NULL: none has, so the number is not known.
  over_running_at      timestamptz
);
COMMENT ON COLUMN stop_control.jump_baseline IS 'Median growth of the readings before the jump, MB per hour.';
INSERT INTO stop_control DEFAULT VALUES;

-- Counts by slot of time, the newest last, moved on by so many slots. A clock that was set back moves nothing: what was
-- counted stays in the window for longer.
CREATE FUNCTION counts_moved_on(counts integer[], slots bigint) RETURNS integer[] LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN slots <= 0 THEN counts
    ELSE counts[least(slots, cardinality(counts))::integer + 1 : ]
      || array_fill(0, ARRAY[least(slots, cardinality(counts))::integer])
  END
$$;

-- The row of stop_control with its counts moved on to the present minute.
CREATE FUNCTION stop_control_now(control stop_control) RETURNS stop_control LANGUAGE plpgsql AS $$
DECLARE
  present bigint := floor(extract(epoch FROM clock_timestamp()) / 60);
BEGIN
  control.by_minute := counts_moved_on(control.by_minute, present - control.minute);
  control.by_quarter := counts_moved_on(control.by_quarter, present / 15 - control.minute / 15);
  control.minute := present;
  RETURN control;
END
$$;

-- The same row with one stop less, that was counted at the given time. A time outside the windows changes nothing.
CREATE FUNCTION stop_uncounted(control stop_control, charged_at timestamptz) RETURNS stop_control LANGUAGE plpgsql AS $$
DECLARE
  charged bigint := floor(extract(epoch FROM charged_at) / 60);
  slot integer;
BEGIN
  slot := 61 - greatest(0, least(61, control.minute - charged));
  IF slot >= 1 THEN control.by_minute[slot] := greatest(0, control.by_minute[slot] - 1); END IF;
  slot := 97 - greatest(0, least(97, control.minute / 15 - charged / 15));
  IF slot >= 1 THEN control.by_quarter[slot] := greatest(0, control.by_quarter[slot] - 1); END IF;
  RETURN control;
END
$$;

-- Decides on one call of a stop and, if it `takes` it, counts it: granted, or observed, usage_jump, budget_hour, budget_day.
-- Otherwise the answer in place of granted is open, nothing is counted, and no lock is taken. Stops with an authority are
-- counted and not limited. `charged_at`: when an earlier call of the same stop was counted; it is counted now instead. A
-- function, because each of its queries sees what was committed before it: the row's lock orders all claims of the fleet, so no
-- number of instances exceeds the budget.
CREATE FUNCTION judge_stop(
  authority text, charged_at timestamptz, mode_setting text, max_per_hour integer, max_per_day integer, takes boolean
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  control stop_control;
BEGIN
  -- The first look takes no lock: stops that are held do not wait for each other.
  FOR look IN 1..CASE WHEN takes THEN 2 ELSE 1 END LOOP
    IF look = 1 THEN SELECT * INTO STRICT control FROM stop_control;
    ELSE SELECT * INTO STRICT control FROM stop_control FOR UPDATE;
    END IF;
    IF coalesce(control.mode, mode_setting) = 'observe' THEN RETURN 'observed'; END IF;
    control := stop_control_now(control);
    IF charged_at IS NOT NULL THEN control := stop_uncounted(control, charged_at); END IF;
    CONTINUE WHEN authority IS NOT NULL;
    IF control.jump_since IS NOT NULL AND control.jump_accepted_at IS NULL THEN RETURN 'usage_jump'; END IF;
    IF (SELECT sum(n) FROM unnest(control.by_minute) n) >= max_per_hour THEN RETURN 'budget_hour'; END IF;
    IF (SELECT sum(n) FROM unnest(control.by_quarter) n) >= max_per_day THEN RETURN 'budget_day'; END IF;
  END LOOP;
  IF NOT takes THEN RETURN 'open'; END IF;
  control.by_minute[61] := control.by_minute[61] + 1;
  control.by_quarter[97] := control.by_quarter[97] + 1;
  UPDATE stop_control SET minute = control.minute, by_minute = control.by_minute, by_quarter = control.by_quarter;
  RETURN 'granted';
END
$$;

-- Takes back the count of a call that certainly had no effect.
CREATE FUNCTION uncount_stop(charged_at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  control stop_control;
BEGIN
  IF charged_at IS NULL THEN RETURN; END IF;
  SELECT * INTO STRICT control FROM stop_control FOR UPDATE;
  control := stop_uncounted(stop_control_now(control), charged_at);
  UPDATE stop_control SET minute = control.minute, by_minute = control.by_minute, by_quarter = control.by_quarter;
END
$$;

-- Whether a stop still decides about a card of this SIM and allowance: it is of the same SIM, and the allowance was not raised
-- since. An allowance that is NULL is unlimited. This function and the next two are one expression each, which PostgreSQL puts in
-- their place: they cost no call.
CREATE FUNCTION stop_is_final(stop card_stops, of_iccid text, of_allowance_mb double precision) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT stop.iccid = of_iccid AND coalesce(of_allowance_mb, 'Infinity') <= coalesce(stop.allowance_mb, 'Infinity')
$$;

-- When the cause of a held stop is over; infinity: while it lasts. NULL: an operator decides. The stops allowed in an hour are
-- free again an hour later, whatever was called before the stop was held.
CREATE FUNCTION hold_over_at(stop card_stops) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT CASE stop.held_by
    WHEN 'budget_hour' THEN stop.requested_at + interval '1 hour'
    WHEN 'usage_jump' THEN (
      SELECT CASE
        WHEN stop.requested_at <= jump_doubtful_until THEN NULL
        WHEN jump_since IS NOT NULL THEN 'infinity'
        ELSE greatest(stop.requested_at, jump_over_at) END
      FROM stop_control)
    END
$$;

-- Whether a stop of the month keeps its card from being stopped for this reading. A stop that was requested keeps it from
-- nothing: its call may be made again. Otherwise a reading decides only if it was taken after what it may decide about: the
-- resume of a card that may be stopped again, or the change of a card whose stop is not final any more. A held stop keeps nothing
-- back any more once its cause is over and the card was read after that. Also a reading that changed nothing is one: the poll
-- says so.
CREATE FUNCTION stop_spares(stop card_stops, card cards, read_at timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT stop.state <> 'requested' AND NOT coalesce(
    CASE WHEN NOT stop_is_final(stop, card.iccid, card.allowance_mb)
        THEN taken_at > greatest(card.iccid_changed_at, card.allowance_changed_at, stop.resumed_at)
      WHEN stop.state = 'held' THEN hold_over_at(stop) < taken_at
      ELSE stop.state = 'resumed' AND stop.stop_again AND taken_at > stop.resumed_at END,
    false)
  FROM (SELECT greatest(read_at, (
    -- One that is further ahead comes from a wrong clock, as for readings: it says nothing.
    SELECT carddata_at FROM card_polls p WHERE p.card_id = stop.card_id AND carddata_at <= now() + interval '1 hour'
  )) AS taken_at) reading
$$;

-- Cards that an operator, or the beginning of a month, resumes: one run, and its cards, which it hands out as these are resumed, as
-- manual triggers do.
CREATE TABLE resume_runs (
  id              uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  reason          text NOT NULL,
  created_by      text NOT NULL,
  created_role    text NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  cancelled_at    timestamptz,
  -- Number of cards of the list that it was made from; NULL: it was made from a condition.
  listed          integer,
  -- The month that began, of a run that cardpoll made for it; there is one such run a month.
  month           date UNIQUE,
  -- What its cards are chosen from: a list (NULL once all are handed out), or the stops since a time.
  card_ids        bigint[],
  since           timestamptz,
  carrier_id      integer,
  spread_ms       double precision NOT NULL DEFAULT 0,
  -- Cards that were counted before the run was made, and those that are in it.
  expected        integer NOT NULL DEFAULT 0,
  handed_out      integer NOT NULL DEFAULT 0,
  steps_left      boolean NOT NULL DEFAULT false,
  walked_at       timestamptz,
  walked_to       bigint NOT NULL DEFAULT 0,
  -- Its cards may be stopped again in the month.
  stop_again      boolean NOT NULL DEFAULT false,
  -- The ended cards of the run that were counted, so that progress is cheap to read. Only the leader writes them, so workers do
  -- not wait for each other. What is neither resumed, running nor failed is cancelled.
  resumed         integer NOT NULL DEFAULT 0,
  already_running integer NOT NULL DEFAULT 0,
  failed          integer NOT NULL DEFAULT 0,
  last_ended_at   timestamptz
);
COMMENT ON COLUMN resume_runs.spread_ms IS 'Its cards are due at random times of so many milliseconds after it was made.';
COMMENT ON COLUMN resume_runs.steps_left IS 'Cards are still to be handed out. The walk goes on from walked_at and walked_to.';
COMMENT ON COLUMN resume_runs.walked_to IS 'Place in card_ids, or the card id of the last stop at walked_at.';
CREATE INDEX resume_runs_at ON resume_runs (created_at DESC);
CREATE INDEX resume_runs_steps ON resume_runs (created_at) WHERE steps_left;

CREATE TABLE card_resumes (
  run_id        uuid NOT NULL REFERENCES resume_runs ON DELETE CASCADE,
  card_id       bigint NOT NULL,
  state         text NOT NULL DEFAULT 'waiting'
    CHECK (state IN ('waiting', 'resumed', 'already_running', 'failed', 'cancelled')),
  -- When the card is given to the queue (again).
  due_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
  claimed_until timestamptz,
  -- The present claim took over from one that ended without an answer.
  unresolved    boolean NOT NULL DEFAULT false,
  attempts      integer NOT NULL DEFAULT 0,
  -- Calls that the gateway acknowledged without effect, and calls that it refused.
  unconfirmed   integer NOT NULL DEFAULT 0,
  refused       integer NOT NULL DEFAULT 0,
  last_error    text,
  ended_at      timestamptz,
  -- The run has counted it.
  counted       boolean NOT NULL DEFAULT false,
  PRIMARY KEY (run_id, card_id)
);
-- A card waits in one run at most.
CREATE UNIQUE INDEX card_resumes_waiting ON card_resumes (card_id) WHERE state = 'waiting';
CREATE INDEX card_resumes_due ON card_resumes (due_at) WHERE state = 'waiting';
-- Cards that were taken out of a run while a call was being made for them: a later run waits for its end.
CREATE INDEX card_resumes_called ON card_resumes (card_id) WHERE state = 'cancelled' AND claimed_until IS NOT NULL;
CREATE INDEX card_resumes_open ON card_resumes (run_id) WHERE NOT counted;
-- What was not resumed, with the reason.
CREATE INDEX card_resumes_not_resumed ON card_resumes (run_id, card_id)
  WHERE state IN ('failed', 'cancelled') AND last_error IS NOT NULL;

INSERT INTO cleanup_configs (id, target, retention_days) VALUES (10, 'card_resumes', 365);

-- Whether cardpoll stopped the card or may have: it was called, and no poll has seen the effect yet.
CREATE FUNCTION may_be_stopped(s card_stops) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT (s.state = 'done' OR s.state = 'requested' AND (s.claimed_until IS NOT NULL OR s.unresolved))
    AND s.authority IS DISTINCT FROM 'operator'
$$;

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

-- Cards that are over their package, run, and have nothing open: the promise of cardpoll as a number
-- (docs/stops.md, "The promise as a number"). The leader's walk over all cards keeps the list.
CREATE TABLE cards_over_running (
  card_id bigint PRIMARY KEY,
  month date NOT NULL,
  -- When the walk saw it first without a gap. A card that is being stopped is here for some seconds: readers wait ten minutes.
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- THE definition. Nothing open: a stop that waits for an operator, was only observed or was spared by an operator explains that
-- the card runs, as does one that the gateway acknowledged, which is a figure of its own. A stop that is done does not, nor one
-- that was requested and never acknowledged: the gateway may refuse it each time. PostgreSQL puts this in the place of its call.
CREATE FUNCTION over_running(of_month date) RETURNS TABLE (card_id bigint) LANGUAGE sql STABLE AS $$
  SELECT c.card_id
  FROM cards c JOIN card_usage u ON u.card_id = c.card_id AND u.month = of_month
  WHERE NOT c.stopped AND u.used_mb > c.allowance_mb AND u.suspected_mb IS NULL AND NOT u.closed
    AND reading_is_of_sim(c, u.iccid, u.read_at)
    AND NOT EXISTS (
      SELECT FROM card_stops s
      WHERE s.card_id = c.card_id AND s.month = u.month
        AND (s.state = 'held' AND stop_is_final(s, c.iccid, c.allowance_mb)
          OR s.state IN ('observed', 'dismissed', 'resumed') AND stop_spares(s, c, u.read_at)
          OR s.state = 'requested' AND s.acknowledged_at IS NOT NULL AND s.iccid = c.iccid)
    )
$$;
