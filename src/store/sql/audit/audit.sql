-- The audit trail, and the results of changes by requests that may be sent again.

-- part: entry
id, at, actor AS name, role, address, request_id, action, object, before, after

-- part: matches
at >= coalesce(to_timestamp($1::float8 / 1000), '-infinity')
  AND at < coalesce(to_timestamp($2::float8 / 1000), 'infinity')
  AND ($3::text IS NULL OR actor = $3::text)
  AND ($4::text IS NULL OR action = $4::text OR starts_with(action, $4::text || '.'))
  AND ($5::text IS NULL OR object = $5::text OR starts_with(object, $5::text || ' '))

-- name: audit.append
-- $1 month (its first day), $2 the entries as JSON.
INSERT INTO audit (month, at, actor, role, address, request_id, action, object, before, after)
SELECT $1::date, to_timestamp(at_ms / 1000), name, role, address, request_id, action, object, before, after
FROM jsonb_to_recordset($2::jsonb) AS entry (at_ms float8, name text, role text, address text, request_id text, action text,
  object text, before jsonb, after jsonb)

-- name: audit.page
-- One page of the entries, the newest first. $1 since and $2 until (epoch ms or NULL), $3 actor or NULL, $4 action, or its first
-- words, or NULL, $5 object, or its first word, or NULL, $6 offset, $7 rows at most. Read from the end of audit_at in each month;
-- open bounds are bounds of that index, too.
SELECT {entry}
FROM audit
WHERE {matches}
ORDER BY at DESC, id DESC
OFFSET $6::bigint
LIMIT $7::integer

-- name: audit.changes
-- The changes of operators from $1 to $2 (epoch ms) with one of the actions $3, the newest first; $4 rows at most.
SELECT {entry}
FROM audit
WHERE at >= to_timestamp($1::float8 / 1000) AND at <= to_timestamp($2::float8 / 1000)
  AND action = ANY ($3::text[]) AND role <> 'daemon'
ORDER BY at DESC, id DESC
LIMIT $4::integer

-- name: audit.find
-- $1 id.
SELECT {entry} FROM audit WHERE id = $1

-- name: audit.later
-- The entries after $1 (id, at time $2, epoch ms) about one of the objects $3, or that undo $1. Ids are in order, times are by
-- clocks that may differ: two minutes of slack.
SELECT {entry}
FROM audit
WHERE at >= to_timestamp($2::float8 / 1000) - interval '2 minutes' AND id > $1::bigint
  AND (object = ANY ($3::text[]) OR after ->> 'undoes' = $1::bigint::text)
ORDER BY id

-- name: audit.matching
-- All entries that page selects from, for bounded-count.ts. $1 to $5 as there.
SELECT FROM audit WHERE {matches}

-- name: audit.madeChange
-- $1 key.
SELECT result FROM made_changes WHERE key = $1 AND made_at > now() - interval '24 hours'

-- name: audit.forgetChanges
DELETE FROM made_changes WHERE made_at <= now() - interval '24 hours'

-- name: audit.addChange
-- $1 key, $2 result.
INSERT INTO made_changes (key, result) VALUES ($1, $2)
