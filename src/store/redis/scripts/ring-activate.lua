-- Switches a ring to the generation being built; the one in use goes to the trash.
-- KEYS: 1 ring, 2 trash
-- ARGV: 1 config id
-- Returns: the ring's state, or nothing when there is no such ring.
-- Atomic because generation, buckets and cursor must change together.
local state = redis.call('HMGET', KEYS[1], 'generation', 'buckets', 'cursor', 'anchor_ms', 'building_generation',
  'building_buckets', 'building_members')
if not state[1] then
  return false
end
if state[5] == '0' then
  return ring_state(KEYS[1])
end

-- A bucket of the old generation is a run of buckets of the new one, or a part of one: the scaled cursor is due at
-- the same instant, or, when a ring shrinks, at most one bucket earlier.
local cursor, anchor = 0, now_ms()
if state[1] ~= '0' then
  cursor = math.floor(tonumber(state[3]) * tonumber(state[6]) / tonumber(state[2]))
  anchor = state[4]
  redis.call('HSET', KEYS[2], ARGV[1] .. ':' .. state[1], state[2])
end
redis.call('HSET', KEYS[1], 'generation', state[5], 'buckets', state[6], 'cursor', cursor, 'anchor_ms', anchor,
  'members', state[7], 'building_generation', 0, 'building_buckets', 0, 'building_members', 0)
return ring_state(KEYS[1])
