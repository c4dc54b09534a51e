-- Adds cards to the buckets of a ring.
-- KEYS: 1 ring, 2.. buckets: first those of the generation in use, then those of the one being built
-- ARGV: 1 generation and 2 building generation the buckets belong to, 3 number of buckets of the generation in use,
--       then per bucket: number of ids, ids
-- Returns: how many ids were new to the generation in use; nothing when the generations are others by now.
-- Atomic because the member counts must equal the sizes of the buckets.
local state = redis.call('HMGET', KEYS[1], 'generation', 'building_generation')
if state[1] ~= ARGV[1] or state[2] ~= ARGV[2] then
  return false
end

local in_use, at, added, added_building = tonumber(ARGV[3]), 4, 0, 0
for i = 2, #KEYS do
  local count = tonumber(ARGV[at])
  local new = redis.call('SADD', KEYS[i], unpack(ARGV, at + 1, at + count))
  at = at + 1 + count
  if i - 1 <= in_use then
    added = added + new
  else
    added_building = added_building + new
  end
end
if added > 0 then
  redis.call('HINCRBY', KEYS[1], 'members', added)
end
if added_building > 0 then
  redis.call('HINCRBY', KEYS[1], 'building_members', added_building)
end
return added
