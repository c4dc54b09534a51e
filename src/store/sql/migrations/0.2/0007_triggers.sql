-- Manual triggers, and which of their cards the workers owe a result.
--
-- A trigger's cards are handed out in id order (a batch's in the order given), a chunk at a time: in one transaction
-- the chunk goes into manual_trigger_cards and the cursor behind it. Each result deletes its card's row there and, in
-- the same statement, adds to the counters; a result that comes twice finds no row and counts nothing. So always
--   handed_out = succeeded + failed + rows in manual_trigger_cards        (while neither vanished nor cancelled)
-- and what a lost live store has to get again is what still stands in manual_trigger_cards.

CREATE TABLE manual_triggers (
  trigger_id      text PRIMARY KEY CHECK (trigger_id <> '' AND trigger_id !~ ':'),
  -- Newest first is by this: instants may be equal.
  sequence        bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  kind            text NOT NULL CHECK (kind IN ('single', 'batch', 'by_condition')),
  task_type       text NOT NULL CHECK (task_type IN ('realname', 'carddata', 'package')),
  status          text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'completed', 'cancelled')),
  -- The selection of a by-condition trigger; NULL leaves the attribute open.
  carrier_id      integer,
  card_status     integer,
  -- The cards of a single or batch trigger until all are handed out, then NULL.
  card_ids        bigint[],
  -- The cursor of a by-condition trigger.
  last_card_id    bigint NOT NULL DEFAULT 0,
  total           bigint NOT NULL CHECK (total >= 0),
  total_estimated boolean NOT NULL DEFAULT false,
  handed_out      bigint NOT NULL DEFAULT 0,
  succeeded       bigint NOT NULL DEFAULT 0,
  failed          bigint NOT NULL DEFAULT 0,
  -- The leader has work with it: cards to hand out or, when cancelled, handed-out cards to take back.
  feeding         boolean NOT NULL DEFAULT true,
  created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at     timestamptz CHECK ((finished_at IS NULL) = (status IN ('queued', 'running')))
) WITH (fillfactor = 50); -- its counters are rewritten several times a second

CREATE INDEX manual_triggers_feeding ON manual_triggers (sequence) WHERE feeding;
CREATE INDEX manual_triggers_finished ON manual_triggers (finished_at) WHERE finished_at IS NOT NULL;

-- Some thousand rows at a time, however large the triggers are. Without a foreign key: it would cost as much as the
-- rest of an insert, and a trigger goes only after its rows are gone.
CREATE TABLE manual_trigger_cards (
  trigger_id    text NOT NULL,
  card_id       bigint NOT NULL,
  -- When it was last put into the manual list.
  handed_out_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (trigger_id, card_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
