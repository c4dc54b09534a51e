-- Records that an instance is alive.
-- KEYS: 1 workers
-- ARGV: 1 instance id, 2 time to live (ms), 3 details (JSON)
-- Returns: the time, in milliseconds
-- Atomic because Redis' clock decides when the heartbeat expires.
local now = now_ms()
local expires = now + tonumber(ARGV[2])
-- Later than any heartbeat expires: the clock was set back. Its instance, if it is alive, has the usual time for the next one.
local workers = redis.call('HGETALL', KEYS[1])
for i = 1, #workers, 2 do
  local other, details = string.match(workers[i + 1], '^(%S+) (.*)$')
  if tonumber(other) > expires then
    redis.call('HSET', KEYS[1], workers[i], exact(expires) .. ' ' .. details)
  end
end
redis.call('HSET', KEYS[1], ARGV[1], exact(expires) .. ' ' .. ARGV[3])
return exact(now)
