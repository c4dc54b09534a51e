-- Creates a ring or applies its interval and enabled flag.
-- KEYS: 1 ring, 2 set of ring ids
-- ARGV: 1 config id, 2 interval (ms), 3 enabled (1 or 0)
-- Returns: the ring's state.
-- Atomic because the new anchor follows from the cursor, which advance moves.
local now = now_ms()
local interval, enabled = tonumber(ARGV[2]), ARGV[3]
local old = redis.call('HMGET', KEYS[1], 'buckets', 'interval_ms', 'anchor_ms', 'cursor', 'enabled')

if not old[1] then
  redis.call('HSET', KEYS[1], 'generation', 0, 'buckets', 0, 'interval_ms', interval, 'anchor_ms', now, 'cursor', 0,
    'enabled', enabled, 'members', 0, 'building_generation', 0, 'building_buckets', 0, 'building_members', 0,
    'fence', 0)
elseif tonumber(old[1]) == 0 then
  redis.call('HSET', KEYS[1], 'interval_ms', interval, 'enabled', enabled)
elseif tonumber(old[2]) ~= interval or old[5] ~= enabled then
  local buckets, cursor = tonumber(old[1]), tonumber(old[4])
  local step = interval / buckets
  local due = tonumber(old[3]) + cursor * tonumber(old[2]) / buckets
  due = math.min(due, now + step)
  if enabled == '1' and old[5] == '0' then
    due = math.max(due, now)
  end
  redis.call('HSET', KEYS[1], 'interval_ms', interval, 'enabled', enabled, 'anchor_ms', exact(due - cursor * step))
end
redis.call('SADD', KEYS[2], ARGV[1])
return ring_state(KEYS[1])
