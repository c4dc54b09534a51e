-- Records that an instance is alive.
-- KEYS: 1 workers
-- ARGV: 1 instance id, 2 time to live (ms), 3 details (JSON)
-- Returns: the time, in milliseconds
-- Atomic because Redis' clock decides when the heartbeat expires.
local now = now_ms()
redis.call('HSET', KEYS[1], ARGV[1], exact(now + tonumber(ARGV[2])) .. ' ' .. ARGV[3])
return exact(now)
