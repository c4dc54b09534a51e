-- Cards that are over their package, run, and have nothing open: the promise of cardpoll as a number
-- (docs/stops.md, "The promise as a number"). The leader's walk over all cards keeps the list.

CREATE TABLE cards_over_running (
  card_id bigint PRIMARY KEY,
  month date NOT NULL,
  -- When the walk saw it first without a gap. A card that is being stopped is here for some seconds: readers wait ten minutes.
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

ALTER TABLE stop_control
  -- The month that the walk of now counts; NULL: it did not begin at the first card in this month.
  ADD COLUMN over_running_month date,
  -- When a walk of this month last ended; NULL: none has, so the number is not known.
  ADD COLUMN over_running_at timestamptz;

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

INSERT INTO rule_types (rule_type, task_type) VALUES ('over_running', 'package');
