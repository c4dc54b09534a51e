-- A made change is found by the key alone, so that a key that is used for another request is noticed. Rows of before are not found
-- any more, and are removed within a day.
COMMENT ON COLUMN made_changes.key IS 'SHA-256 of token and Idempotency-Key, and the number of the change in the request.';
COMMENT ON COLUMN made_changes.result IS 'SHA-256 of method, path and body of the request, and what the change returned, as JSON.';
