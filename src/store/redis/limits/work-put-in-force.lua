-- Puts the recorded values into force, unless a value has changed since they were read.
-- KEYS: 1 inForce, 2 limit, 3 effectiveLimit, 4 pauses
-- ARGV: 1 to 4 what work-in-force.lua read: in force, limit, effectiveLimit, the operators' pause; 5 limit, 6 effectiveLimit ('': none),
--       7 how long workers get to hold the slots of calls in flight that this life of the server lacks (ms),
--       8 the operators' pause: `kept`, `ended`, or what is left of it, 9 its length (both ms, whole), 10 its details (JSON)
-- Returns: 1, or 0 when something has changed, or workers still have time
-- Atomic because an operator may set the same in this moment: the later look at the record wins.
local values, now = in_force_values(), now_ms()
for i = 1, 4 do
  if values[i] ~= ARGV[i] then
    return 0
  end
end
if values[1] == '0' and tonumber(ARGV[7]) > 0 then
  -- Kept here: when the data is lost once more, the time begins again.
  local began = tonumber(string.match(redis.call('GET', KEYS[1]) or '', '^' .. life() .. ' (%d+)$'))
  if not began or now < began then
    redis.call('SET', KEYS[1], life() .. ' ' .. exact(now))
    return 0
  elseif now - began < tonumber(ARGV[7]) then
    return 0
  end
end
redis.call('SET', KEYS[2], ARGV[5])
if ARGV[6] == '' then
  redis.call('DEL', KEYS[3])
else
  redis.call('SET', KEYS[3], ARGV[6])
end
if ARGV[8] == 'ended' then
  redis.call('HDEL', KEYS[4], 'operator')
elseif ARGV[8] ~= 'kept' then
  local ends = now + tonumber(ARGV[8])
  redis.call('HSET', KEYS[4], 'operator', exact(ends - tonumber(ARGV[9])) .. ' ' .. exact(ends) .. ' ' .. ARGV[10])
  redis.call('PEXPIRE', KEYS[4], exact(math.max(1, pause_left(KEYS[4], now))))
end
redis.call('SET', KEYS[1], life())
return 1
