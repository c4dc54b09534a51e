-- What holds until the transaction ends.

-- name: transaction_bounds.limitStatements
-- No statement takes longer. $1 ms; 0: as long as it takes.
SELECT set_config('statement_timeout', ($1::integer)::text, true)

-- name: transaction_bounds.limitLockWaits
-- No lock is waited for longer. $1 ms.
SELECT set_config('lock_timeout', ($1::integer)::text, true)

-- name: transaction_bounds.lock
-- Whoever asks for the same key waits. $1 key.
SELECT pg_advisory_xact_lock($1::bigint)
