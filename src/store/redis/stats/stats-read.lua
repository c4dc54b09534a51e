-- Reads the statistics of a task type.
-- KEYS: 1 stats, 2 statsWindow
-- ARGV: fields of the statistics
-- Returns: {now (ms), window as field, value ..., the values of the fields}
-- Atomic so that the numbers are consistent, and because Redis' clock decides what is in the window.
return { exact(now_ms()), redis.call('HGETALL', KEYS[2]), redis.call('HMGET', KEYS[1], unpack(ARGV)) }
