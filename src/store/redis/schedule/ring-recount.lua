-- Corrects the member count of a ring's generation in use.
-- KEYS: 1 ring
-- ARGV: 1 generation, 2 buckets, 3 split, 4 members, all as they were when the count began, 5 members counted
-- Atomic because a count during which cards were added or removed must be dropped.
local state = redis.call('HMGET', KEYS[1], 'generation', 'buckets', 'split', 'members')
if state[1] == ARGV[1] and state[2] == ARGV[2] and state[3] == ARGV[3] and state[4] == ARGV[4] then
  redis.call('HSET', KEYS[1], 'members', ARGV[5])
end
