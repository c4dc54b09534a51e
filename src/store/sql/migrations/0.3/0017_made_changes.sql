-- Changes that a request with an Idempotency-Key made, in one transaction with the change: a repeat gets the result instead of
-- making the change again, also when the instance ended, or Redis lost its data, before the answer was kept there. Rows are
-- removed after a day. The version before does not write them.
CREATE TABLE made_changes (
  key text PRIMARY KEY,
  made_at timestamptz NOT NULL DEFAULT now(),
  result text NOT NULL
);
CREATE INDEX made_changes_at ON made_changes (made_at);
COMMENT ON COLUMN made_changes.key IS 'SHA-256 of key, token, method, path and body of the request, and the number of the change in it.';
COMMENT ON COLUMN made_changes.result IS 'What the change returned, as JSON.';
