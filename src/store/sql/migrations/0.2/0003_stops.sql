-- Stops of cards that exceeded their package: at most one a card and month. A row is written (state requested)
-- before the gateway is called and done after it answered; the claim in between is a lease by this server's clock.

CREATE TABLE card_stops (
  card_id       bigint NOT NULL,
  month         date NOT NULL,
  iccid         text NOT NULL,
  used_mb       double precision NOT NULL,
  allowance_mb  double precision NOT NULL,
  state         text NOT NULL DEFAULT 'requested' CHECK (state IN ('requested', 'done')),
  -- NULL: nobody is at it and nobody's call is in doubt.
  claimed_until timestamptz,
  -- The present claim took over from one that ended without a word.
  unresolved    boolean NOT NULL DEFAULT false,
  attempts      integer NOT NULL DEFAULT 1,
  last_error    text,
  requested_at  timestamptz NOT NULL DEFAULT now(),
  completed_at  timestamptz,
  PRIMARY KEY (card_id, month)
);
