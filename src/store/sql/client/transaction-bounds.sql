-- Bounds that hold until the transaction ends.

-- name: transaction_bounds.limitStatements
-- Limits every statement. $1 ms; 0: no limit.
SELECT set_config('statement_timeout', ($1::integer)::text, true)

-- name: transaction_bounds.limitLockWaits
-- Limits every wait for a lock. $1 ms.
SELECT set_config('lock_timeout', ($1::integer)::text, true)

-- name: transaction_bounds.walkIndexes
-- Plans made from now on walk indexes, and look up rows by their keys.
SELECT set_config(name, 'off', true)
FROM unnest(ARRAY[
  'enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin', 'enable_material', 'enable_sort', 'jit'
]) AS name

-- name: transaction_bounds.lock
-- Other transactions that ask for the same key wait. $1 key.
SELECT pg_advisory_xact_lock($1::bigint)
