-- Splits the next buckets of one generation of a ring into their two halves of the interval.
-- KEYS: 1 ring, then per bucket: the bucket, its first half, its second half
-- ARGV: 1 `building_` or nothing: the generation of the buckets, 2 generation, 3 buckets, 4 split: the shape for which
--       the steps were planned
-- Returns: the ring's state, unchanged when its shape has changed since (a call that is sent twice splits once);
-- nothing when there is no such ring.
-- Atomic because a card that is in no bucket would never be polled, and one that is in two would be polled twice.
local prefix = ARGV[1]
local state = redis.call('HMGET', KEYS[1], prefix .. 'generation', prefix .. 'buckets', prefix .. 'split', 'cursor')
if not state[1] then
  return false
end
if state[1] ~= ARGV[2] or state[2] ~= ARGV[3] or state[3] ~= ARGV[4] then
  return ring_state(KEYS[1])
end

local buckets, split, cursor = tonumber(state[2]), tonumber(state[3]), tonumber(state[4])
for i = 2, #KEYS, 3 do
  local members = redis.call('SMEMBERS', KEYS[i])
  -- The bit of the hash after the bits that select the bucket selects the half.
  local half_bit = bit.rshift(0x80000000, math.floor(math.log(buckets) / math.log(2) + 0.5))
  local first, second, last_block, in_second = {}, {}, -1, false
  for j = 1, #members do
    local block = math.floor(tonumber(members[j]) / 8)
    if block ~= last_block then
      last_block, in_second = block, bit.band(block_hash(block), half_bit) ~= 0
    end
    if in_second then
      second[#second + 1] = members[j]
    else
      first[#first + 1] = members[j]
    end
  end
  call_chunked('SADD', KEYS[i + 1], first)
  call_chunked('SADD', KEYS[i + 2], second)
  redis.call('UNLINK', KEYS[i])
  if split == 0 then
    cursor = 2 * cursor
  end
  split = split + 1
  if split == buckets then
    buckets, split = 2 * buckets, 0
  end
end
redis.call('HSET', KEYS[1], prefix .. 'buckets', buckets, prefix .. 'split', split)
if prefix == '' then
  redis.call('HSET', KEYS[1], 'cursor', exact(cursor))
end
return ring_state(KEYS[1])
