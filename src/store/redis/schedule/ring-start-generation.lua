-- Begins a new generation of a ring; an unfinished one goes to the trash. The first one is in use at once, at its phase.
-- KEYS: 1 ring, 2 generation numbers, 3 trash
-- ARGV: 1 config id, 2 buckets, 3 generation and 4 building generation that the caller read, 5 selection that it is built
--       for, 6 share of the interval at which rings of the task type begin, 7 card after which the build begins,
--       8 until when an earlier ring had handed out what was due (ms; 0: not known)
-- Does nothing when the ring has changed since the caller read it: a call that is sent twice begins one generation.
-- Atomic because generation and buckets must change together.
local state = redis.call('HMGET', KEYS[1], 'generation', 'building_generation', 'building_buckets', 'building_split',
  'interval_ms')
if state[1] ~= ARGV[3] or state[2] ~= ARGV[4] then
  return
end

if state[2] ~= '0' then
  redis.call('HSET', KEYS[3], ARGV[1] .. ':' .. state[2], numbers_end(tonumber(state[3]), tonumber(state[4])))
end
local generation = redis.call('HINCRBY', KEYS[2], ARGV[1], 1)
redis.call('HSET', KEYS[1], 'joined_after_id', ARGV[7])
if state[1] == '0' then
  local now, interval = now_ms(), tonumber(state[5])
  local phase = math.floor(tonumber(ARGV[6]) * interval)
  local anchor = phase + math.floor((now - phase) / interval) * interval
  local cursor = math.ceil((now - anchor) * tonumber(ARGV[2]) / interval)
  redis.call('HSET', KEYS[1], 'generation', generation, 'buckets', ARGV[2], 'selection', ARGV[5], 'anchor_ms',
    exact(anchor), 'cursor', cursor)
  local owed = tonumber(ARGV[8])
  if owed > 0 and owed < now then
    redis.call('HSET', KEYS[1], 'owed_ms', exact(owed + math.floor((now - owed) / interval) * interval))
  end
else
  redis.call('HSET', KEYS[1], 'building_generation', generation, 'building_buckets', ARGV[2], 'building_split', 0,
    'building_members', 0, 'building_selection', ARGV[5])
end
