-- Counts calls in flight again, until the leases end that they had, in a life of the server that may have lost their slots. Otherwise
-- changes nothing: slots that are missing then were reset.
-- KEYS: 1 runningCount, 2 slots, 3 retrySlots, 4 inForce
-- ARGV: for every call: `retry` or another lane, member of slots (prelude.lua), token
-- Atomic because the running count must equal the slots held.
if is_in_force(KEYS[4]) then
  return 0
end
for i = 1, #ARGV, 3 do
  local lane, slot, token = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  redis.call('ZADD', KEYS[2], token, slot)
  if lane == 'retry' then
    redis.call('ZADD', KEYS[3], token, slot)
  end
end
write_running(KEYS[1], KEYS[2], now_ms())
return 1
