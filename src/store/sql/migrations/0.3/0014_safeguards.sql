-- Safeguards of stops: a budget for the fleet, observe mode, stops that wait for an operator, and the way back.

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
  ADD COLUMN held_by text CHECK (held_by IN ('usage_jump', 'budget_hour', 'budget_day')),
  -- When the present claim was counted in the budget; NULL: it is not counted.
  ADD COLUMN charged_at timestamptz,
  -- When a stop with an authority is given to the queue (again).
  ADD COLUMN due_at timestamptz,
  ADD COLUMN resumed_at timestamptz;
CREATE INDEX card_stops_at ON card_stops ((coalesce(completed_at, requested_at)) DESC, card_id);
CREATE INDEX card_stops_waiting ON card_stops (state, card_id) WHERE state IN ('held', 'observed');
CREATE INDEX card_stops_due ON card_stops (due_at) WHERE state = 'requested' AND authority IS NOT NULL;
CREATE INDEX card_stops_resumed ON card_stops (resumed_at) WHERE resumed_at IS NOT NULL;

-- Alert rules that watch held stops.
INSERT INTO rule_types (rule_type, task_type) VALUES ('stops_held', 'package');

-- The mode of all stops, the number of recent ones, and whether the readings of the whole fleet have jumped.
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
  jump_accepted_at     timestamptz
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

-- Decides on one call of a stop and counts it: granted, or observed, usage_jump, budget_hour, budget_day. Stops with an
-- authority are counted and not limited. `charged_at`: when an earlier call of the same stop was counted; it is counted
-- now instead. A function, because each of its queries sees what was committed before it: the row's lock orders all claims
-- of the fleet, so no number of instances exceeds the budget.
CREATE FUNCTION judge_stop(
  authority text, charged_at timestamptz, mode_setting text, max_per_hour integer, max_per_day integer
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  control stop_control;
BEGIN
  -- The first look takes no lock: stops that are held do not wait for each other.
  FOR look IN 1..2 LOOP
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

-- Cards that an operator, or the beginning of a month, resumes: one run, and its cards.
CREATE TABLE resume_runs (
  id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  reason       text NOT NULL,
  created_by   text NOT NULL,
  created_role text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  cancelled_at timestamptz,
  -- Number of cards of the list that it was made from; NULL: it was made from a condition.
  listed       integer,
  -- The month that began, of a run that cardpoll made for it; there is one such run a month.
  month        date UNIQUE
);
CREATE INDEX resume_runs_at ON resume_runs (created_at DESC);

CREATE TABLE card_resumes (
  run_id        uuid NOT NULL REFERENCES resume_runs ON DELETE CASCADE,
  card_id       bigint NOT NULL,
  state         text NOT NULL DEFAULT 'waiting'
    CHECK (state IN ('waiting', 'resumed', 'already_running', 'failed', 'cancelled')),
  not_before    timestamptz NOT NULL DEFAULT clock_timestamp(),
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
  PRIMARY KEY (run_id, card_id)
);
-- A card waits in one run at most.
CREATE UNIQUE INDEX card_resumes_waiting ON card_resumes (card_id) WHERE state = 'waiting';
CREATE INDEX card_resumes_due ON card_resumes (due_at) WHERE state = 'waiting';

INSERT INTO cleanup_configs (id, target, retention_days) VALUES (10, 'card_resumes', 365);

-- The cards of a run: known cards of a list, or those that cardpoll stopped since a time and that are stopped now; the stop
-- that an operator ordered is not cardpoll's. Cards that wait in another run are left out.
CREATE FUNCTION cards_to_resume(card_ids bigint[], since timestamptz, carrier integer) RETURNS SETOF bigint
LANGUAGE sql STABLE AS $$
  (
    SELECT c.card_id FROM cards c WHERE c.card_id = ANY (card_ids)
    UNION
    SELECT s.card_id
    FROM card_stops s JOIN cards c ON c.card_id = s.card_id
    WHERE coalesce(s.completed_at, s.requested_at) >= since AND s.state = 'done' AND c.stopped
      AND s.authority IS DISTINCT FROM 'operator' AND c.carrier_id = coalesce(carrier, c.carrier_id)
  )
  -- Not an anti-join: a plan made for few rows would read all that wait for each card.
  EXCEPT
  SELECT card_id FROM card_resumes WHERE state = 'waiting'
$$;
