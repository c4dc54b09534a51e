-- Clears slots, the earliest leases first, makes their work due again, and so fences its holders.
-- KEYS: 1 queue, 2 manual, 3 manualLeases, 4 runningCount, 5 slots, 6 retrySlots
-- ARGV: 1 most slots to clear in this call
-- Returns: {running count found, running count now}
-- Atomic because the holder would keep work whose slot was cleared while the work still has the old token.
local queue, manual, leases, slots = KEYS[1], KEYS[2], KEYS[3], KEYS[5]
local now = now_ms()
local found = redis.pcall('GET', KEYS[4])
found = type(found) == 'string' and tonumber(found) or 0

local held = redis.call('ZPOPMIN', slots, ARGV[1])
local members, cards, entries, tokens = {}, {}, {}, {}
for i = 1, #held, 2 do
  members[#members + 1] = held[i]
  -- Release 0.2.0 writes no token behind it.
  local work = string.match(held[i], '^(.*)@') or held[i]
  local entry = string.match(work, '^m(.*)$')
  if entry then
    entries[#entries + 1] = entry
  else
    cards[#cards + 1] = work
  end
  tokens[entry or work] = tonumber(held[i + 1])
end

local due_pairs = {}
for i, score in ipairs(scores_of(queue, cards)) do
  if score == tokens[cards[i]] then
    due_pairs[#due_pairs + 1] = now
    due_pairs[#due_pairs + 1] = cards[i]
  end
end
call_chunked('ZADD', queue, due_pairs)
call_chunked('ZREM', KEYS[6], members)

for i, score in ipairs(scores_of(leases, entries)) do
  if score == tokens[entries[i]] then
    redis.call('ZREM', leases, entries[i])
    redis.call('LPUSH', manual, entries[i])
  end
end
return { found, write_running(KEYS[4], slots, now) }
