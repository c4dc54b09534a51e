-- Removes a ring; its buckets go to the trash.
-- KEYS: 1 ring, 2 set of ring ids, 3 trash
-- ARGV: 1 config id
-- Atomic because buckets that are named by no ring and no trash entry would never be removed.
local state = redis.call('HMGET', KEYS[1], 'generation', 'buckets', 'split', 'building_generation', 'building_buckets',
  'building_split')
for i = 1, 4, 3 do
  if state[i] and state[i] ~= '0' then
    local numbers = numbers_end(tonumber(state[i + 1]), tonumber(state[i + 2]))
    redis.call('HSET', KEYS[3], ARGV[1] .. ':' .. state[i], numbers)
  end
end
redis.call('DEL', KEYS[1])
redis.call('SREM', KEYS[2], ARGV[1])
return 1
