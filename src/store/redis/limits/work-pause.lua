-- Pauses claiming, as the gateway asks. A new pause can only prolong the one in force; an operator's pause is another one.
-- KEYS: 1 pauses
-- ARGV: 1 length (ms, whole), 2 details (JSON)
-- Atomic because two workers may pause at once.
local now = now_ms()
local since, until_ms = now, now + tonumber(ARGV[1])
local in_force = redis.call('HGET', KEYS[1], 'gateway')
if in_force then
  local began, ends = string.match(in_force, '^(%S+) (%S+)')
  if tonumber(ends) >= until_ms then
    return 0
  end
  if tonumber(ends) > now then
    since = tonumber(began)
  end
end
redis.call('HSET', KEYS[1], 'gateway', exact(since) .. ' ' .. exact(until_ms) .. ' ' .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], exact(math.max(1, pause_left(KEYS[1], now))))
return 1
