-- Moves the cards of due buckets of a ring into the queue, failing cards into the retry lane.
-- KEYS: 1 ring, 2 queue, 3 retry lane, 4 failures, 5.. the buckets from the cursor on, in order
-- ARGV: 1 generation and 2 cursor (absolute step) the buckets belong to, 3 queue cap (entries), 4 fence,
--       5 channel of the type's work, 6 share of the interval at which rings of the task type begin,
--       7.. the buckets' numbers
-- Returns: {1 when generation, cursor or buckets have changed and not everything was done, else 0;
--           buckets moved; cards moved; queue length; the ring's state; now}, or nothing when there is no such ring.
-- Atomic because a bucket whose cards were queued without moving the cursor would be queued twice.
local ring = redis.call('HMGET', KEYS[1], 'generation', 'buckets', 'interval_ms', 'anchor_ms', 'cursor', 'enabled',
  'fence', 'split', 'lap_started_ms')
if not ring[1] then
  return false
end
local queue_length = redis.call('ZCARD', KEYS[2])
local fence = tonumber(ARGV[4])
if fence < tonumber(ring[7]) or ring[6] ~= '1' or ring[1] == '0' then
  return { 0, 0, 0, queue_length, ring_state(KEYS[1]), now_ms() }
end
if ring[1] ~= ARGV[1] or ring[5] ~= ARGV[2] then
  return { 1, 0, 0, queue_length, ring_state(KEYS[1]), now_ms() }
end

local now, cap = now_ms(), tonumber(ARGV[3])
local buckets, split, interval, anchor, cursor =
  tonumber(ring[2]), tonumber(ring[8]), tonumber(ring[3]), tonumber(ring[4]), tonumber(ring[5])
local steps, lap_started = steps_of(buckets, split), tonumber(ring[9])
local late = now - (anchor + cursor * interval / steps)
-- A cursor is never further ahead of the clock than a bucket of two steps, at half its pace: this clock was set back. The
-- ring continues a step from now at the latest. A revolution on two clocks has no meaningful duration.
if late < -4 * interval / steps then
  anchor = now - (cursor - 1) * interval / steps
  lap_started = 0
  redis.call('HSET', KEYS[1], 'achieved_ms', 0)
elseif late > interval then
  local skipped = math.floor(late / interval)
  cursor = cursor + skipped * steps
  redis.call('HINCRBY', KEYS[1], 'skipped_revolutions', skipped)
end

local moved, moved_buckets, stale = 0, 0, 0
for i = 5, #KEYS do
  local due = anchor + cursor * interval / steps
  if due > now or queue_length >= cap then
    break
  end
  local number, width = bucket_at(cursor, buckets, split)
  if number ~= tonumber(ARGV[i + 2]) then
    stale = 1
    break
  end
  if cursor % steps == 0 then
    if lap_started > 0 then
      redis.call('HSET', KEYS[1], 'achieved_ms', now - lap_started)
    end
    lap_started = now
  end
  -- Due times are whole milliseconds: only lease tokens have a fraction.
  local queued, retried =
    make_due(KEYS[2], KEYS[3], KEYS[4], redis.call('SMEMBERS', KEYS[i]), math.floor(due), cap)
  moved = moved + queued + retried
  queue_length = queue_length + queued
  anchor = anchor_after(anchor, tonumber(ARGV[6]), interval, width * interval / steps)
  cursor = cursor + width
  moved_buckets = moved_buckets + 1
end
redis.call('HSET', KEYS[1], 'anchor_ms', exact(anchor), 'cursor', exact(cursor), 'lap_started_ms', lap_started, 'fence',
  ARGV[4])
if moved > 0 then
  signal_work(ARGV[5])
end
return { stale, moved_buckets, moved, queue_length, ring_state(KEYS[1]), now }
