-- Removes cards from buckets of one generation of a ring.
-- KEYS: 1 ring, 2.. buckets
-- ARGV: 1 generation and 2 building generation that the caller read, 3 `building_` or nothing: the generation of the
--       buckets, then per bucket: number, number of ids, ids
-- Returns: the number of ids removed; nothing when generations or buckets have changed since the caller read them.
-- Atomic because the member counts must equal the sizes of the buckets.
if not named_buckets_exist() then
  return false
end

local at, removed = 4, 0
for i = 2, #KEYS do
  local count = tonumber(ARGV[at + 1])
  removed = removed + redis.call('SREM', KEYS[i], unpack(ARGV, at + 2, at + 1 + count))
  at = at + 2 + count
end
if removed > 0 then
  redis.call('HINCRBY', KEYS[1], ARGV[3] .. 'members', -removed)
end
return removed
