-- Merges the last split buckets of one generation of a ring: the reverse of ring-split.lua.
-- KEYS: 1 ring, then per bucket: the merged bucket, its first half, its second half
-- ARGV: 1 `building_` or nothing: the generation of the buckets, 2 generation, 3 buckets, 4 split: the shape for which
--       the steps were planned
-- Returns: the ring's state, unchanged when its shape has changed since (a call that is sent twice merges once);
-- nothing when there is no such ring.
-- Atomic because a card that is in no bucket would never be polled, and one that is in two would be polled twice.
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
  -- The cursor is between the two halves. An enabled ring will soon be past them; in a disabled ring the first half is
  -- due again.
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
