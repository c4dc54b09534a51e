-- Begins a new generation of a ring; an unfinished one goes to the trash.
-- KEYS: 1 ring, 2 generation numbers, 3 trash
-- ARGV: 1 config id, 2 buckets, 3 activate (1 or 0), 4 generation and 5 building generation that the caller read,
--       6 selection that it is built for
-- Returns: the ring's state, unchanged when it has changed since the caller read it (a call that is sent twice begins
-- one generation); nothing when there is no such ring.
-- Atomic because generation, buckets and cursor must change together.
local state = redis.call('HMGET', KEYS[1], 'generation', 'building_generation', 'building_buckets', 'building_split',
  'buckets', 'split', 'cursor', 'anchor_ms', 'stagger_ms')
if not state[1] then
  return false
end
if state[1] ~= ARGV[4] or state[2] ~= ARGV[5] then
  return ring_state(KEYS[1])
end

if state[2] ~= '0' then
  redis.call('HSET', KEYS[3], ARGV[1] .. ':' .. state[2], numbers_end(tonumber(state[3]), tonumber(state[4])))
end
local generation = redis.call('HINCRBY', KEYS[2], ARGV[1], 1)
if ARGV[3] == '1' then
  local buckets, cursor, anchor = tonumber(ARGV[2]), 0, now_ms() + tonumber(state[9] or 0)
  if state[1] ~= '0' then
    local old_buckets, old_split = tonumber(state[5]), tonumber(state[6])
    redis.call('HSET', KEYS[3], ARGV[1] .. ':' .. state[1], numbers_end(old_buckets, old_split))
    cursor, anchor = math.floor(tonumber(state[7]) * buckets / steps_of(old_buckets, old_split)), state[8]
  end
  redis.call('HSET', KEYS[1], 'generation', generation, 'buckets', buckets, 'split', 0, 'members', 0,
    'selection', ARGV[6], 'loaded', 0, 'cursor', exact(cursor), 'anchor_ms', anchor, 'building_generation', 0,
    'building_buckets', 0, 'building_split', 0, 'building_members', 0, 'building_selection', '')
else
  redis.call('HSET', KEYS[1], 'building_generation', generation, 'building_buckets', ARGV[2], 'building_split', 0,
    'building_members', 0, 'building_selection', ARGV[6])
end
return ring_state(KEYS[1])
