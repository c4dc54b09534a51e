-- Merges the last split buckets of one generation of a ring: the reverse of ring-split.lua.
-- KEYS: 1 ring, then per bucket: the bucket to be, its first half, its second half
-- ARGV: 1 `building_` or nothing: of which generation the buckets are, 2 generation, 3 buckets, 4 split: the shape the
--       steps were planned for
-- Returns: the ring's state, unchanged when its shape is another by now (sent twice it merges once); nothing when there
-- is no such ring.
-- Atomic because a card that is in no bucket, or in two, would be polled not at all, or twice.
local prefix = ARGV[1]
local state = redis.call('HMGET', KEYS[1], prefix .. 'generation', prefix .. 'buckets', prefix .. 'split', 'cursor',
  'enabled')
if not state[1] then
  return false
end
if state[1] ~= ARGV[2] or state[2] ~= ARGV[3] or state[3] ~= ARGV[4] then
  return ring_state(KEYS[1])
end

local buckets, split, cursor = tonumber(state[2]), tonumber(state[3]), tonumber(state[4])
for i = 2, #KEYS, 3 do
  if split == 0 then
    buckets, split = buckets / 2, buckets / 2
  end
  -- The cursor stands between the two halves: a ring that turns will soon be past them; in one that is off the first
  -- half comes again.
  if prefix == '' and cursor % (2 * buckets) == 2 * split - 1 then
    if state[5] == '1' then
      if split == buckets then
        buckets, split = 2 * buckets, 0
      end
      break
    end
    cursor = cursor - 1
  end
  redis.call('SUNIONSTORE', KEYS[i], KEYS[i + 1], KEYS[i + 2])
  redis.call('UNLINK', KEYS[i + 1], KEYS[i + 2])
  split = split - 1
  if split == 0 then
    cursor = cursor / 2
  end
end
redis.call('HSET', KEYS[1], prefix .. 'buckets', buckets, prefix .. 'split', split)
if prefix == '' then
  redis.call('HSET', KEYS[1], 'cursor', exact(cursor))
end
return ring_state(KEYS[1])
