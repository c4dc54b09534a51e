-- Adds cards to buckets of one generation of a ring, removes them, or checks which of them are there.
-- KEYS: 1 ring, 2 queue, 3 retry lane, 4 failures, 5.. buckets
-- ARGV: 1 generation and 2 building generation that the caller read, 3 `building_` or nothing: the generation of the
--       buckets, 4 command: SADD, SREM or SMISMEMBER, 5 queue cap (entries) for cards that come too late for a turn that the
--       ring owes; 0: they wait for their next turn. Then per bucket: number, number of ids, ids
-- Returns: the number of ids added or removed, or 1 or 0 for every id, in order; nothing when generations or buckets have
-- changed since the caller read them.
-- Atomic because the member counts must equal the sizes of the buckets, and because a switch of generations, or a split,
-- removes the buckets that the caller named.
local prefix, command, cap = ARGV[3], ARGV[4], tonumber(ARGV[5])
local state = redis.call('HMGET', KEYS[1], 'generation', 'building_generation', prefix .. 'buckets', prefix .. 'split',
  'owed_ms', 'loaded', 'cursor', 'anchor_ms', 'interval_ms')
if state[1] ~= ARGV[1] or state[2] ~= ARGV[2] then
  return false
end
local begins, at, buckets, split = {}, 6, tonumber(state[3]), tonumber(state[4])
for i = 5, #KEYS do
  if not is_bucket(tonumber(ARGV[at]), buckets, split) then
    return false
  end
  begins[i] = at
  at = at + 2 + tonumber(ARGV[at + 1])
end

-- The last time at which this bucket was due and the cursor passed it.
local function last_due(number)
  local steps, cursor = steps_of(buckets, split), tonumber(state[7])
  local index = number >= 2 * buckets and number - 2 * buckets or (number - buckets) * steps / buckets
  return tonumber(state[8]) + (cursor - 1 - (cursor - 1 - index) % steps) * tonumber(state[9]) / steps
end
local owes = command == 'SADD' and prefix == '' and cap > 0 and state[5] and state[6] == '0'

local changed, found = 0, {}
for i = 5, #KEYS do
  local first = begins[i] + 2
  local last = first - 1 + tonumber(ARGV[first - 1])
  local reply = redis.call(command, KEYS[i], unpack(ARGV, first, last))
  if owes and redis.call('ZCARD', KEYS[2]) < cap then
    local due = last_due(tonumber(ARGV[first - 2]))
    if due >= tonumber(state[5]) then
      make_due(KEYS[2], KEYS[3], KEYS[4], { unpack(ARGV, first, last) }, math.floor(due), cap)
    end
  end
  if command == 'SMISMEMBER' then
    for j = 1, #reply do
      found[#found + 1] = reply[j]
    end
  else
    changed = changed + reply
  end
end
if command == 'SMISMEMBER' then
  return found
end
if changed > 0 then
  redis.call('HINCRBY', KEYS[1], prefix .. 'members', command == 'SADD' and changed or -changed)
end
return changed
