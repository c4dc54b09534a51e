-- Gives slots back.
-- KEYS: 1 runningCount, 2 slots, 3 retrySlots
-- ARGV: slot member, token, slot member, token ...
-- Returns: the number of slots given back; a slot with another token is left alone.
-- Atomic because the running count must equal the slots held.
local members, tokens, mine = {}, {}, {}
for i = 1, #ARGV, 2 do
  members[#members + 1] = ARGV[i]
  tokens[#tokens + 1] = ARGV[i + 1]
end
for i, is_mine in ipairs(holds(KEYS[2], members, tokens)) do
  if is_mine then
    mine[#mine + 1] = members[i]
  end
end
local released = call_chunked('ZREM', KEYS[2], mine)
if redis.call('EXISTS', KEYS[3]) == 1 then
  call_chunked('ZREM', KEYS[3], mine)
end
write_running(KEYS[1], KEYS[2], now_ms())
return released
