-- Counts the work of a task type.
-- KEYS: 1 queue, 2 manual list, 3 slots, 4 limit
-- Returns: {queue length, due, slots in use, manual length, limit or nothing}
-- Atomic so that the numbers belong together; writes nothing.
local now = now_ms()
return {
  redis.call('ZCARD', KEYS[1]),
  redis.call('ZCOUNT', KEYS[1], '-inf', now),
  redis.call('ZCOUNT', KEYS[3], '(' .. exact(now), '+inf'),
  redis.call('LLEN', KEYS[2]),
  redis.call('GET', KEYS[4]),
}
