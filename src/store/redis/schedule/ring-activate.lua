-- Called when all cards of a ring are loaded. Switches to the generation being built, if there is one; the generation
-- that was in use goes to the trash.
-- KEYS: 1 ring, 2 trash
-- ARGV: 1 config id
-- Returns: the ring's state, or nothing when there is no such ring.
-- Atomic because generation, buckets and cursor must change together.
local state = redis.call('HMGET', KEYS[1], 'generation', 'buckets', 'split', 'cursor', 'anchor_ms',
  'building_generation', 'building_buckets', 'building_split', 'building_members', 'building_selection',
  'stagger_ms')
if not state[1] then
  return false
end
if state[6] == '0' then
  if state[1] ~= '0' then
    redis.call('HSET', KEYS[1], 'loaded', 1)
  end
  return ring_state(KEYS[1])
end

-- The scaled cursor is due at the same instant or, at the beginning of a coarser bucket, a little earlier.
local buckets, split, cursor, anchor = tonumber(state[7]), tonumber(state[8]), 0, now_ms() + tonumber(state[11] or 0)
if state[1] ~= '0' then
  local old_buckets, old_split = tonumber(state[2]), tonumber(state[3])
  cursor = math.floor(tonumber(state[4]) * steps_of(buckets, split) / steps_of(old_buckets, old_split))
  cursor = bucket_begin(cursor, buckets, split)
  anchor = state[5]
  redis.call('HSET', KEYS[2], ARGV[1] .. ':' .. state[1], numbers_end(old_buckets, old_split))
end
redis.call('HSET', KEYS[1], 'generation', state[6], 'buckets', buckets, 'split', split, 'members', state[9],
  'selection', state[10], 'loaded', 1, 'cursor', exact(cursor), 'anchor_ms', anchor, 'building_generation', 0,
  'building_buckets', 0, 'building_split', 0, 'building_members', 0, 'building_selection', '')
return ring_state(KEYS[1])
