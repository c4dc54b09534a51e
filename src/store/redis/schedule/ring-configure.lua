-- Creates a ring or applies its interval and enabled flag.
-- KEYS: 1 ring, 2 set of ring ids
-- ARGV: 1 config id, 2 interval (ms), 3 enabled (1 or 0)
-- Atomic because the new anchor is computed from the cursor, which ring-advance.lua moves.
local interval, enabled = tonumber(ARGV[2]), ARGV[3]
local old = redis.call('HMGET', KEYS[1], 'buckets', 'interval_ms', 'anchor_ms', 'cursor', 'enabled', 'split')

if not old[1] then
  redis.call('HSET', KEYS[1], 'generation', 0, 'buckets', 0, 'split', 0, 'members', 0, 'selection', '', 'loaded', 0,
    'interval_ms', interval, 'anchor_ms', 0, 'cursor', 0, 'enabled', enabled, 'building_generation', 0,
    'building_buckets', 0, 'building_split', 0, 'building_members', 0, 'building_selection', '',
    'skipped_revolutions', 0, 'achieved_ms', 0, 'lap_started_ms', 0, 'fence', 0)
elseif tonumber(old[1]) == 0 then
  redis.call('HSET', KEYS[1], 'interval_ms', interval, 'enabled', enabled)
elseif tonumber(old[2]) ~= interval or old[5] ~= enabled then
  local now = now_ms()
  local steps, cursor = steps_of(tonumber(old[1]), tonumber(old[6])), tonumber(old[4])
  local step = interval / steps
  local due = tonumber(old[3]) + cursor * tonumber(old[2]) / steps
  due = math.min(due, now + step)
  if enabled == '1' and old[5] == '0' then
    due = math.max(due, now)
  end
  -- A revolution at two speeds, or with a pause in it, has no meaningful duration.
  redis.call('HSET', KEYS[1], 'interval_ms', interval, 'enabled', enabled, 'anchor_ms', exact(due - cursor * step),
    'achieved_ms', 0, 'lap_started_ms', 0)
end
redis.call('SADD', KEYS[2], ARGV[1])
