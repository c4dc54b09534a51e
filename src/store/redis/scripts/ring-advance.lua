-- Moves due buckets of a ring into the queue.
-- KEYS: 1 ring, 2 queue, 3.. the buckets from the cursor on, in order
-- ARGV: 1 generation and 2 cursor (absolute bucket index) the buckets belong to, 3 queue cap (entries), 4 fence
-- Returns: {1 when generation or cursor are others by now and nothing was done, else 0;
--           buckets moved; cards moved; queue length; the ring's state}, or nothing when there is no such ring.
-- Atomic because a bucket whose cards are queued and whose cursor did not move would be queued twice.
local ring = redis.call('HMGET', KEYS[1], 'generation', 'buckets', 'interval_ms', 'anchor_ms', 'cursor', 'enabled',
  'fence')
if not ring[1] then
  return false
end
local queue_length = redis.call('ZCARD', KEYS[2])
local fence = tonumber(ARGV[4])
if fence < tonumber(ring[7]) or ring[6] ~= '1' or ring[1] == '0' then
  return { 0, 0, 0, queue_length, ring_state(KEYS[1]) }
end
if ring[1] ~= ARGV[1] or ring[5] ~= ARGV[2] then
  return { 1, 0, 0, queue_length, ring_state(KEYS[1]) }
end

local now, cap = now_ms(), tonumber(ARGV[3])
local buckets, interval, anchor, cursor =
  tonumber(ring[2]), tonumber(ring[3]), tonumber(ring[4]), tonumber(ring[5])
local late = now - (anchor + cursor * interval / buckets)
if late > interval then
  cursor = cursor + math.floor(late / interval) * buckets
end

local moved, moved_buckets = 0, 0
for i = 3, #KEYS do
  local due = anchor + cursor * interval / buckets
  if due > now or queue_length >= cap then
    break
  end
  local members = redis.call('SMEMBERS', KEYS[i])
  -- Whole milliseconds: only lease tokens have a fraction.
  local score, pairs_of = exact(math.floor(due)), {}
  for j = 1, #members do
    pairs_of[2 * j - 1] = score
    pairs_of[2 * j] = members[j]
  end
  for from = 1, #pairs_of, CHUNK do
    local new = redis.call('ZADD', KEYS[2], 'NX', unpack(pairs_of, from, math.min(from + CHUNK - 1, #pairs_of)))
    moved = moved + new
    queue_length = queue_length + new
  end
  cursor = cursor + 1
  moved_buckets = moved_buckets + 1
end
redis.call('HSET', KEYS[1], 'cursor', exact(cursor), 'fence', ARGV[4])
return { 0, moved_buckets, moved, queue_length, ring_state(KEYS[1]) }
