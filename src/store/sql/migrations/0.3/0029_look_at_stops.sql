-- A stop can be judged without being counted (docs/decisions/0032-safeguards-of-stops.md, "Looking is not taking").

DROP FUNCTION judge_stop(text, timestamptz, text, integer, integer);

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
