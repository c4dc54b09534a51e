-- Tells which cards are in the generation in use of a ring.
-- KEYS: 1 ring, 2.. buckets of the generation in use
-- ARGV: 1 generation and 2 building generation the caller saw, 3 number of buckets, then per bucket: number of ids, ids
-- Returns: 1 or 0 for every id, in order; nothing when the generations are others by now.
-- Atomic because a switch of generations removes the buckets the caller named.
local state = redis.call('HMGET', KEYS[1], 'generation', 'building_generation')
if state[1] ~= ARGV[1] or state[2] ~= ARGV[2] then
  return false
end

local at, found = 4, {}
for i = 2, #KEYS do
  local count = tonumber(ARGV[at])
  local part = redis.call('SMISMEMBER', KEYS[i], unpack(ARGV, at + 1, at + count))
  at = at + 1 + count
  for j = 1, #part do
    found[#found + 1] = part[j]
  end
end
return found
