-- Results of changes by requests that may be sent again.

-- name: made_changes.find
-- $1 key.
SELECT result FROM made_changes WHERE key = $1 AND made_at > now() - interval '24 hours'

-- name: made_changes.forget
DELETE FROM made_changes WHERE made_at <= now() - interval '24 hours'

-- name: made_changes.add
-- $1 key, $2 result.
INSERT INTO made_changes (key, result) VALUES ($1, $2)
