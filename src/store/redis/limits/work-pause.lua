-- Pauses claiming. A new pause of the gateway can only prolong the gateway's pause in force; an operator's pause
-- replaces an operator's. Neither kind changes the other.
-- KEYS: 1 pauses
-- ARGV: 1 source (gateway or operator), 2 length (ms, whole), 3 details (JSON)
-- Atomic because two workers may pause at once.
local now = now_ms()
local since, until_ms = now, now + tonumber(ARGV[2])
local in_force = ARGV[1] == 'gateway' and redis.call('HGET', KEYS[1], ARGV[1])
if in_force then
  local began, ends = string.match(in_force, '^(%S+) (%S+)')
  if tonumber(ends) >= until_ms then
    return 0
  end
  if tonumber(ends) > now then
    since = tonumber(began)
  end
end
redis.call('HSET', KEYS[1], ARGV[1], exact(since) .. ' ' .. exact(until_ms) .. ' ' .. ARGV[3])
redis.call('PEXPIRE', KEYS[1], exact(math.max(1, pause_left(KEYS[1], now))))
return 1
