-- Put in front of every ring-*.lua, behind prelude.lua; does nothing by itself. The same rules as domain/schedule/phase.ts, where
-- they are explained: a ring's first `split` buckets are split into halves, buckets are numbered as the nodes of a
-- binary tree. A contract test holds the two against each other.

-- The state of a ring as the adapter reads it; the order is known to ring-state.ts.
local function ring_state(ring_key)
  return redis.call('HMGET', ring_key, 'generation', 'buckets', 'split', 'members', 'selection', 'loaded',
    'building_generation', 'building_buckets', 'building_split', 'building_members', 'building_selection',
    'interval_ms', 'anchor_ms', 'cursor', 'enabled', 'skipped_revolutions', 'achieved_ms', 'lap_started_ms')
end

-- Into how many steps the interval is divided.
local function steps_of(buckets, split)
  return split == 0 and buckets or 2 * buckets
end

-- The step at which the bucket of this step begins: a whole bucket spans two steps while others are split.
local function bucket_begin(step, buckets, split)
  if split > 0 then
    local index = step % (2 * buckets)
    if index % 2 == 1 and (index - 1) / 2 >= split then
      return step - 1
    end
  end
  return step
end

-- Number of the bucket that begins at this step, and the steps it spans.
local function bucket_at(step, buckets, split)
  local index = step % steps_of(buckets, split)
  if split == 0 then
    return buckets + index, 1
  elseif index < 2 * split then
    return 2 * buckets + index, 1
  end
  return buckets + math.floor(index / 2), 2
end

-- The first number no bucket of this shape has: what the trash keeps of a generation.
local function numbers_end(buckets, split)
  return 2 * buckets + 2 * split
end

-- True when a bucket of this number exists in this shape: neither split nor merged away.
local function is_bucket(number, buckets, split)
  if number >= 2 * buckets then
    return number < 2 * buckets + 2 * split
  end
  return number >= buckets + split
end

-- For scripts with KEYS: 1 ring, 2.. buckets; ARGV: 1 generation and 2 building generation the caller saw, 3 `building_`
-- or nothing: of which generation the buckets are, then per bucket: number, number of ids, ids.
-- True when the ring still has these generations and buckets.
local function named_buckets_exist()
  local prefix = ARGV[3]
  local state = redis.call('HMGET', KEYS[1], 'generation', 'building_generation', prefix .. 'buckets', prefix .. 'split')
  if state[1] ~= ARGV[1] or state[2] ~= ARGV[2] then
    return false
  end
  local at, buckets, split = 4, tonumber(state[3]), tonumber(state[4])
  for _ = 2, #KEYS do
    if not is_bucket(tonumber(ARGV[at]), buckets, split) then
      return false
    end
    at = at + 2 + tonumber(ARGV[at + 1])
  end
  return true
end

-- The low 32 bits of a * b, as bit operations see them: products of 16 bits by 32 are exact in Lua's numbers.
local function imul(a, b)
  return bit.tobit(bit.band(a, 0xffff) * b + bit.lshift(bit.tobit(bit.rshift(a, 16) * b), 16))
end

-- phaseHash of domain/schedule/phase.ts, as a signed number: hash of a card's block of eight ids.
local function block_hash(block)
  local h = bit.bxor(bit.tobit(block % 4294967296), imul(math.floor(block / 4294967296), 0x9e3779b1))
  h = bit.bxor(h, bit.rshift(h, 16))
  h = imul(h, 0x85ebca6b)
  h = bit.bxor(h, bit.rshift(h, 13))
  h = imul(h, 0xc2b2ae35)
  return bit.bxor(h, bit.rshift(h, 16))
end
