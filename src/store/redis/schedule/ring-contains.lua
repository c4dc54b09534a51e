-- Checks which cards are in the generation in use of a ring.
-- KEYS: 1 ring, 2.. buckets
-- ARGV: 1 generation and 2 building generation the caller saw, 3 nothing (the generation in use), then per bucket:
--       number, number of ids, ids
-- Returns: 1 or 0 for every id, in order; nothing when generations or buckets have changed since the caller read them.
-- Atomic because a switch of generations, or a split, removes the buckets that the caller named.
if not named_buckets_exist() then
  return false
end

local at, found = 4, {}
for i = 2, #KEYS do
  local count = tonumber(ARGV[at + 1])
  local part = redis.call('SMISMEMBER', KEYS[i], unpack(ARGV, at + 2, at + 1 + count))
  at = at + 2 + count
  for j = 1, #part do
    found[#found + 1] = part[j]
  end
end
return found
