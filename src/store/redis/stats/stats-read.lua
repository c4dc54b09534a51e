-- Reads the statistics of a task type.
-- KEYS: 1 statistics, 2 window
-- Returns: {now (ms), since (ms), total, succeeded, failed, window as field, value ..., 429 and 503, timeouts,
-- duration of successful polls (ms), claims that found the limit reached, duration of all polls (ms)}
-- Atomic so that the numbers are consistent, and because Redis' clock decides what is in the window.
local stats = redis.call('HMGET', KEYS[1], 'since_ms', 'total', 'succeeded', 'failed', 'backpressure', 'timeouts',
  'succeeded_ms', 'limit_reached', 'duration_ms')
return { exact(now_ms()), stats[1], stats[2], stats[3], stats[4], redis.call('HGETALL', KEYS[2]),
  stats[5], stats[6], stats[7], stats[8], stats[9] }
