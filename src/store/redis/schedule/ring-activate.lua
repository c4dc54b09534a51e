-- Called when all cards of a ring are loaded. Switches to the generation being built, if there is one; the generation
-- that was in use goes to the trash.
-- KEYS: 1 ring, 2 trash
-- ARGV: 1 config id
-- Returns: 1, or nothing when there is no such ring.
-- Atomic because generation, buckets and cursor must change together.
local state = redis.call('HMGET', KEYS[1], 'generation', 'buckets', 'split', 'cursor', 'building_generation',
  'building_buckets', 'building_split', 'building_members', 'building_selection')
if not state[1] then
  return false
end
if state[5] == '0' then
  if state[1] ~= '0' then
    redis.call('HSET', KEYS[1], 'loaded', 1)
  end
  return 1
end

-- The scaled cursor is due at the same instant or, at the beginning of a coarser bucket, a little earlier.
local old_buckets, old_split = tonumber(state[2]), tonumber(state[3])
local buckets, split = tonumber(state[6]), tonumber(state[7])
local cursor = math.floor(tonumber(state[4]) * steps_of(buckets, split) / steps_of(old_buckets, old_split))
redis.call('HSET', KEYS[2], ARGV[1] .. ':' .. state[1], numbers_end(old_buckets, old_split))
redis.call('HSET', KEYS[1], 'generation', state[5], 'buckets', buckets, 'split', split, 'members', state[8],
  'selection', state[9], 'loaded', 1, 'cursor', exact(bucket_begin(cursor, buckets, split)), 'building_generation', 0,
  'building_buckets', 0, 'building_split', 0, 'building_members', 0, 'building_selection', '')
return 1
