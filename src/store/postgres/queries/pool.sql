-- What every connection begins with.

-- name: pool.planning
-- Statements are short look-ups by key over arrays of keys. Planned for the arrays' real lengths, PostgreSQL likes to read
-- whole tables of cards for ten thousand keys; planned once for any length, it uses the keys.
SELECT set_config('jit', 'off', false), set_config('plan_cache_mode', 'force_generic_plan', false)
