-- The settings of every new connection.

-- name: record_store.begin
-- Bounds of every wait, $1 to $3 ms; as parameters of the connection itself a pooler would refuse them.
-- Statements are short look-ups by key over arrays of keys. Planned for the arrays' real lengths, PostgreSQL likes to read
-- whole tables of cards for ten thousand keys; planned once for any length, it uses the keys.
-- Times are read as text (sql/client/rows.ts): in one style, whatever the server's is.
-- Says also whether the server takes writes: a standby does not, nor one that is set to read only.
SELECT set_config('statement_timeout', ($1::integer)::text, false), set_config('lock_timeout', ($2::integer)::text, false),
  set_config('idle_in_transaction_session_timeout', ($3::integer)::text, false),
  set_config('datestyle', 'ISO', false), set_config('jit', 'off', false), set_config('plan_cache_mode', 'force_generic_plan', false),
  current_setting('transaction_read_only')::boolean AS read_only, pg_backend_pid() AS pid

-- name: record_store.backend
-- The process of the server that serves this connection.
SELECT pg_backend_pid() AS pid
