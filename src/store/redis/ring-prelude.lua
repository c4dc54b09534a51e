-- client.ts puts this in front of every ring-*.lua, after prelude.lua. It only defines functions. The rules are those
-- of domain/schedule/phase.ts, which explains them: a ring's first `split` buckets are split into halves, and buckets
-- are numbered like the nodes of a binary tree. A contract test compares the two files.

-- Returns the state of a ring for the adapter (ring-state.ts).
local function ring_state(ring_key)
  return redis.call('HGETALL', ring_key)
end

-- Returns the number of steps of the interval.
local function steps_of(buckets, split)
  return split == 0 and buckets or 2 * buckets
end

-- Returns the step at which the bucket of this step begins: while other buckets are split, a whole bucket spans two.
local function bucket_begin(step, buckets, split)
  if split > 0 then
    local index = step % (2 * buckets)
    if index % 2 == 1 and (index - 1) / 2 >= split then
      return step - 1
    end
  end
  return step
end

-- Returns the number of the bucket that begins at this step, and the number of steps that it spans.
local function bucket_at(step, buckets, split)
  local index = step % steps_of(buckets, split)
  if split == 0 then
    return buckets + index, 1
  elseif index < 2 * split then
    return 2 * buckets + index, 1
  end
  return buckets + math.floor(index / 2), 2
end

-- Returns the anchor after turn_ms of the interval were moved into the queue: a ring that is not at its phase in absolute
-- time (share: of the interval) makes up half of it, or waits as long if it is early by a tenth of the interval or less.
local function anchor_after(anchor, share, interval, turn_ms)
  local off = (anchor - math.floor(share * interval)) % interval
  if off > 0.9 * interval then
    off = off - interval
  end
  if math.abs(off) < 1 then
    return anchor
  end
  return anchor - math.max(-turn_ms, math.min(off, turn_ms / 2))
end

-- Returns the lowest number above all buckets of this shape; the trash stores it for a generation.
local function numbers_end(buckets, split)
  return 2 * buckets + 2 * split
end

-- Returns true when this shape has a bucket with this number, which was neither split nor merged.
local function is_bucket(number, buckets, split)
  if number >= 2 * buckets then
    return number < 2 * buckets + 2 * split
  end
  return number >= buckets + split
end

-- Returns the low 32 bits of a * b as bit operations read them: a product of 16 and 32 bits is exact in Lua's numbers.
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
