-- Claims slots for orders: calls that stop or resume a card count under the limit of the type as polls do.
-- KEYS: 1 queue, 2 manual, 3 runningCount, 4 limit, 5 slots, 6 claims, 7 pauses, 8 retrySlots, 9 effectiveLimit, 10 inForce
-- ARGV: 1 slots wanted, 2 lease (ms), 3 `1` when this is the trickle to a dead interface (work-claim.lua)
-- Returns: in_force (1 or 0), paused_ms (what is left of a pause), token, number of slots
-- Atomic because limit and slots must be judged and changed together.
local slots = KEYS[5]
local now, wanted = now_ms(), tonumber(ARGV[1])
redis.call('ZREMRANGEBYSCORE', slots, '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[8], '-inf', now)
local limit, in_force = limit_in_force(KEYS[4], KEYS[9], KEYS[10])
local paused_ms = pause_left(KEYS[7], now)
local free = paused_ms > 0 and 0 or math.max(0, limit - redis.call('ZCARD', slots))
local take = math.min(wanted, free)
-- Polls that are due have their share of the slots (prelude.lua).
if take > 0 and (redis.call('EXISTS', KEYS[2]) == 1 or redis.call('ZCOUNT', KEYS[1], '-inf', now) > 0) then
  take = math.min(wanted, free - polls_share(free, now))
end
if ARGV[3] == '1' and math.abs(now - tonumber(redis.call('HGET', KEYS[6], '#trickle_at') or 0)) < 1000 then
  take = 0
end
local token = ''
if take > 0 then
  token = exact(now + tonumber(ARGV[2]) + (1 + redis.call('HINCRBY', KEYS[6], '#', 1) % 4095) / 4096)
  if ARGV[3] == '1' then
    redis.call('HSET', KEYS[6], '#trickle_at', exact(now))
  end
  for i = 1, take do
    redis.call('ZADD', slots, token, slot_of('o' .. i, token))
  end
end
-- Marks for a moment that orders wait.
if take < wanted then
  redis.call('HSET', KEYS[6], '#orders_until', exact(now + ORDERS_WAIT_MS))
else
  redis.call('HDEL', KEYS[6], '#orders_until')
end
write_running(KEYS[3], slots, now)
return { in_force, paused_ms, token, take }
