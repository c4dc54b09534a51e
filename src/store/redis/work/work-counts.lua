-- Counts the work of a task type.
-- KEYS: 1 queue, 2 manual list, 3 slots, 4 limit, 5 retry lane, 6 effective limit
-- Returns: {queue length, due, slots in use, manual length, limit or false, retries that are due, retries that wait,
--           effective limit or false}
-- Atomic so that the numbers belong together; writes nothing.
local now = now_ms()
local retry_due = redis.call('ZCOUNT', KEYS[5], '-inf', now)
return {
  redis.call('ZCARD', KEYS[1]),
  redis.call('ZCOUNT', KEYS[1], '-inf', now),
  redis.call('ZCOUNT', KEYS[3], '(' .. exact(now), '+inf'),
  redis.call('LLEN', KEYS[2]),
  redis.call('GET', KEYS[4]),
  retry_due,
  redis.call('ZCARD', KEYS[5]) - retry_due,
  redis.call('GET', KEYS[6]),
}
