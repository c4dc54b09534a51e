-- Adds cards to buckets of one generation of a ring, removes them, or checks which of them are there.
-- KEYS: 1 ring, 2.. buckets
-- ARGV: 1 generation and 2 building generation that the caller read, 3 `building_` or nothing: the generation of the
--       buckets, 4 command: SADD, SREM or SMISMEMBER, then per bucket: number, number of ids, ids
-- Returns: the number of ids added or removed, or 1 or 0 for every id, in order; nothing when generations or buckets have
-- changed since the caller read them.
-- Atomic because the member counts must equal the sizes of the buckets, and because a switch of generations, or a split,
-- removes the buckets that the caller named.
local prefix, command = ARGV[3], ARGV[4]
local state = redis.call('HMGET', KEYS[1], 'generation', 'building_generation', prefix .. 'buckets', prefix .. 'split')
if state[1] ~= ARGV[1] or state[2] ~= ARGV[2] then
  return false
end
local begins, at, buckets, split = {}, 5, tonumber(state[3]), tonumber(state[4])
for i = 2, #KEYS do
  if not is_bucket(tonumber(ARGV[at]), buckets, split) then
    return false
  end
  begins[i] = at
  at = at + 2 + tonumber(ARGV[at + 1])
end

local changed, found = 0, {}
for i = 2, #KEYS do
  local first = begins[i] + 2
  local reply = redis.call(command, KEYS[i], unpack(ARGV, first, first - 1 + tonumber(ARGV[first - 1])))
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
