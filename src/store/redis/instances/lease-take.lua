-- Takes or renews a named lease.
-- KEYS: 1 lease
-- ARGV: 1 holder, 2 time to live (ms)
-- Returns: the fencing token, or nothing while another holder has the lease.
-- Atomic because two holders must never get it at once.
--
-- The token of a new holder is at least the current time, so it is also greater than tokens that Redis has lost.
local lease = redis.call('HMGET', KEYS[1], 'holder', 'fence', 'expires_ms')
local now = now_ms()
local expires = now + tonumber(ARGV[2])
if lease[1] and tonumber(lease[3]) > now then
  if lease[1] ~= ARGV[1] then
    -- Later than any lease ends: the clock was set back. Its holder, if it is alive, has a lease's time to renew it.
    if tonumber(lease[3]) > expires then
      redis.call('HSET', KEYS[1], 'expires_ms', expires)
    end
    return false
  end
  redis.call('HSET', KEYS[1], 'expires_ms', expires)
  return lease[2]
end
local fence = exact(math.max(now, tonumber(lease[2] or 0) + 1))
redis.call('HSET', KEYS[1], 'holder', ARGV[1], 'fence', fence, 'expires_ms', expires)
return fence
