-- Who changed what. Append-only: single rows are neither changed nor removed, by anyone; cleanup drops whole months.
-- Partitions are created ahead by partitions.ts, as those of usage are.

-- Not an identity column: a table that has one cannot be attached as a partition.
CREATE SEQUENCE audit_id;

CREATE TABLE audit (
  id         bigint NOT NULL DEFAULT nextval('audit_id'),
  month      date NOT NULL,
  at         timestamptz NOT NULL,
  actor      text NOT NULL,
  role       text NOT NULL,
  address    text,
  request_id text,
  action     text NOT NULL,
  object     text NOT NULL,
  before     jsonb,
  after      jsonb,
  PRIMARY KEY (id, month)
) PARTITION BY RANGE (month);
ALTER SEQUENCE audit_id OWNED BY audit.id;
CREATE INDEX audit_at ON audit (at, id);
COMMENT ON COLUMN audit.month IS 'First day of the month in the time zone cardpoll is configured for.';

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit trail is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_keep BEFORE TRUNCATE ON audit
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

INSERT INTO cleanup_configs (id, target, retention_days) VALUES (9, 'audit', 400);
