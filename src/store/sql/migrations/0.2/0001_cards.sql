-- Cards, and how every change to them can be followed without missing a late commit.
--
-- changed_xid is the transaction that last changed a card in a way that matters to its rings or to a cache. A reader
-- that remembers a snapshot asks for "not visible then, visible now" (queries/changed-cards.sql). Timestamps could
-- not do that: a transaction that started earlier may commit later than one already read. The triggers make plain
-- SQL edits by anybody as visible as cardpoll's own writes.

CREATE TABLE cards (
  card_id            bigint PRIMARY KEY CHECK (card_id BETWEEN 1 AND 9007199254740991),
  iccid              text NOT NULL UNIQUE CHECK (iccid ~ '^[0-9]{18,22}$'),
  carrier_id         integer NOT NULL DEFAULT 0,
  status             integer NOT NULL DEFAULT 1,
  allowance_mb       double precision CHECK (allowance_mb >= 0),
  real_name_verified boolean NOT NULL DEFAULT false,
  stopped            boolean NOT NULL DEFAULT false,
  created_at         timestamptz NOT NULL DEFAULT now(),
  updated_at         timestamptz NOT NULL DEFAULT now(),
  changed_xid        xid8 NOT NULL DEFAULT pg_current_xact_id()
);
COMMENT ON COLUMN cards.allowance_mb IS 'Package allowance per calendar month in MB; NULL is unlimited.';

-- With card_id, so that a million cards changed by one transaction can be read page by page.
CREATE INDEX cards_changed ON cards (changed_xid, card_id);

CREATE TABLE card_removals (
  changed_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  card_id     bigint NOT NULL,
  removed_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (changed_xid, card_id)
);

-- When each card was last polled, per task type; one row a card, rewritten by every poll. UNLOGGED on purpose: with
-- tens of millions of cards the WAL of a value that is replaced within one polling interval would cost more than
-- everything else together, and after a crash of the server it is whole again after one interval. The free space in
-- each page and the absence of further indexes keep the rewrites heap-only (HOT).
CREATE UNLOGGED TABLE card_polls (
  card_id     bigint PRIMARY KEY,
  realname_at timestamptz,
  carddata_at timestamptz,
  package_at  timestamptz
) WITH (fillfactor = 70);

CREATE FUNCTION cards_mark_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.updated_at := clock_timestamp();
  NEW.changed_xid := pg_current_xact_id();
  IF NEW.card_id <> OLD.card_id THEN
    INSERT INTO card_removals (card_id) VALUES (OLD.card_id) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NEW;
END
$$;

CREATE TRIGGER cards_changed BEFORE UPDATE ON cards FOR EACH ROW
WHEN ((OLD.card_id, OLD.iccid, OLD.carrier_id, OLD.status, OLD.allowance_mb, OLD.real_name_verified, OLD.stopped)
  IS DISTINCT FROM
  (NEW.card_id, NEW.iccid, NEW.carrier_id, NEW.status, NEW.allowance_mb, NEW.real_name_verified, NEW.stopped))
EXECUTE FUNCTION cards_mark_changed();

CREATE FUNCTION cards_record_removals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO card_removals (card_id) SELECT card_id FROM removed ON CONFLICT DO NOTHING;
  DELETE FROM card_polls p USING removed r WHERE p.card_id = r.card_id;
  RETURN NULL;
END
$$;

CREATE TRIGGER cards_removed AFTER DELETE ON cards
REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION cards_record_removals();

CREATE FUNCTION cards_refuse_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'cards cannot be truncated: running workers would not learn that the cards are gone'
    USING HINT = 'DELETE FROM cards instead.';
END
$$;

CREATE TRIGGER cards_truncated BEFORE TRUNCATE ON cards
FOR EACH STATEMENT EXECUTE FUNCTION cards_refuse_truncate();
