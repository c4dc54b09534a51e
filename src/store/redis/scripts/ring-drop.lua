-- Removes a ring; its buckets go to the trash.
-- KEYS: 1 ring, 2 set of ring ids, 3 trash
-- ARGV: 1 config id
-- Atomic because buckets that no ring and no trash entry names would stay for ever.
local state = redis.call('HMGET', KEYS[1], 'generation', 'buckets', 'building_generation', 'building_buckets')
for i = 1, 3, 2 do
  if state[i] and state[i] ~= '0' then
    redis.call('HSET', KEYS[3], ARGV[1] .. ':' .. state[i], state[i + 1])
  end
end
redis.call('DEL', KEYS[1])
redis.call('SREM', KEYS[2], ARGV[1])
return 1
