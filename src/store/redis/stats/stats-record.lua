-- Adds the counts of an instance to the statistics of a task type.
-- KEYS: 1 stats, 2 statsWindow, 3 statsFlushes, 4 usageGrowth, 5 carrierSlots
-- ARGV: 1 instance id, 2 flush number, 3 succeeded, 4 failed, 5 sum of durations (ms), 6 window (s), 7 slot (s),
-- 8 calls answered 429 or 503, 9 calls that timed out, 10 sum of durations of successful polls (ms),
-- 11 claims that found the limit reached, 12 counts, 13 carriers (stats.ts), 14 most carriers in a slot,
-- 15 growth of usage by rate (stats.ts), 16 minutes of growth to keep, 17 implausible readings, 18 of cards that
-- have used something, 19 those that fell, 20 counts by carrier (stats.ts), 21 their slot (s), 22 slots to keep, 23 most
-- carriers that one names
-- Returns: 1, or 0 when this flush was already counted.
-- Atomic because a flush that comes twice must count once.
-- Instances of two versions share a slot during an upgrade: its text may only get further fields at its end.
local last = tonumber(redis.call('HGET', KEYS[3], ARGV[1]) or 0)
local flush = tonumber(ARGV[2])
-- Number 1 after higher numbers means that a restarted instance uses the same id.
if flush == last or (flush < last and flush > 1) then
  return 0
end
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])

local succeeded, failed, duration = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local succeeded_ms, implausible = tonumber(ARGV[10]), tonumber(ARGV[17])
local counters, fallen = tonumber(ARGV[18]), tonumber(ARGV[19])
local now = now_ms()
redis.call('HSETNX', KEYS[1], 'since_ms', now)
redis.call('HINCRBY', KEYS[1], 'total', succeeded + failed)
redis.call('HINCRBY', KEYS[1], 'succeeded', succeeded)
redis.call('HINCRBY', KEYS[1], 'failed', failed)
redis.call('HINCRBY', KEYS[1], 'backpressure', ARGV[8])
redis.call('HINCRBY', KEYS[1], 'timeouts', ARGV[9])
redis.call('HINCRBYFLOAT', KEYS[1], 'duration_ms', ARGV[5])
redis.call('HINCRBYFLOAT', KEYS[1], 'succeeded_ms', ARGV[10])
redis.call('HINCRBY', KEYS[1], 'limit_reached', ARGV[11])

local slot = math.floor(now / 1000 / tonumber(ARGV[7]))
local oldest = slot - tonumber(ARGV[6]) / tonumber(ARGV[7]) + 1
local count, total_ms = succeeded + failed, duration
local counts = {}
local function add_counts(sum, packed)
  for key, value in string.gmatch(packed, '([%w_]+)=(%d+)') do
    sum[key] = (sum[key] or 0) + tonumber(value)
  end
end
local function packed_counts(sum)
  local packed = {}
  for key, value in pairs(sum) do
    packed[#packed + 1] = key .. '=' .. exact(value)
  end
  return table.concat(packed, ',')
end
add_counts(counts, ARGV[12])
local carriers, carrier_polls, carrier_failed, carrier_ms, most = {}, {}, {}, {}, tonumber(ARGV[14])
local function add_carriers(packed)
  for id, polls, polls_failed, ms in string.gmatch(packed, '([^:,]+):(%d+):(%d+):?([%d.]*)') do
    if carrier_polls[id] == nil and #carriers < most then
      carriers[#carriers + 1] = id
      carrier_polls[id], carrier_failed[id], carrier_ms[id] = 0, 0, 0
    end
    if carrier_polls[id] ~= nil then
      carrier_polls[id], carrier_failed[id] = carrier_polls[id] + polls, carrier_failed[id] + polls_failed
      carrier_ms[id] = carrier_ms[id] + (tonumber(ms) or 0)
    end
  end
end
local window = redis.call('HGETALL', KEYS[2])
for i = 1, #window, 2 do
  local index = tonumber(window[i])
  -- Slots in the future were counted before the clock was set back.
  if index < oldest or index > slot then
    redis.call('HDEL', KEYS[2], window[i])
  else
    local s, f, d = string.match(window[i + 1], '^(%S+) (%S+) (%S+)')
    count, total_ms = count + s + f, total_ms + d
    if index == slot then
      succeeded, failed, duration = succeeded + s, failed + f, duration + d
      local slot_counts, slot_carriers, slot_ms, slot_implausible, slot_counters, slot_fallen =
        string.match(window[i + 1], '(%S*) ?(%S*) ?(%S*) ?(%S*) ?(%S*) ?(%S*)', #s + #f + #d + 4)
      -- An older version does not write them: of the durations its share of the polls.
      succeeded_ms = succeeded_ms + (tonumber(slot_ms) or s / math.max(1, s + f) * d)
      implausible = implausible + (tonumber(slot_implausible) or 0)
      counters, fallen = counters + (tonumber(slot_counters) or 0), fallen + (tonumber(slot_fallen) or 0)
      add_counts(counts, slot_counts)
      add_carriers(slot_carriers)
    end
  end
end
-- Append new carriers; the slot's own keep their places.
add_carriers(ARGV[13])
local packed_carriers = {}
for i, id in ipairs(carriers) do
  packed_carriers[i] = id .. ':' .. table.concat({ exact(carrier_polls[id]), exact(carrier_failed[id]), exact(carrier_ms[id]) }, ':')
end
redis.call('HSET', KEYS[2], exact(slot),
  table.concat({ exact(succeeded), exact(failed), exact(duration), packed_counts(counts),
    table.concat(packed_carriers, ','), exact(succeeded_ms), exact(implausible), exact(counters), exact(fallen) }, ' '))
redis.call('PEXPIRE', KEYS[2], 2000 * tonumber(ARGV[6]))
redis.call('HSET', KEYS[1], 'avg_duration_ms', count > 0 and string.format('%.1f', total_ms / count) or '0')

if ARGV[20] ~= '' then
  local index, named, order, sums = math.floor(now / 1000 / tonumber(ARGV[21])), 0, {}, {}
  local function add_slot(packed)
    for id, numbers in string.gmatch(packed, '([^:,]+):([%d:]+)') do
      local key = (sums[id] or named < tonumber(ARGV[23])) and id or '*'
      if not sums[key] then
        named = named + (key == '*' and 0 or 1)
        order[#order + 1], sums[key] = key, { 0, 0, 0, 0 }
      end
      local at = 0
      for number in string.gmatch(numbers, '%d+') do
        at = at + 1
        sums[key][at] = sums[key][at] + tonumber(number)
      end
    end
  end
  local known = redis.call('HGET', KEYS[5], exact(index))
  if known then
    add_slot(known)
  else
    local slots = redis.call('HGETALL', KEYS[5])
    for i = 1, #slots, 2 do
      if tonumber(slots[i]) <= index - tonumber(ARGV[22]) or tonumber(slots[i]) > index then
        redis.call('HDEL', KEYS[5], slots[i])
      end
    end
  end
  add_slot(ARGV[20])
  local packed = {}
  for i, id in ipairs(order) do
    packed[i] = id .. ':' .. exact(sums[id][1]) .. ':' .. exact(sums[id][2]) .. ':' .. exact(sums[id][3]) .. ':' .. exact(sums[id][4])
  end
  redis.call('HSET', KEYS[5], exact(index), table.concat(packed, ','))
  redis.call('PEXPIRE', KEYS[5], 1000 * tonumber(ARGV[21]) * tonumber(ARGV[22]))
end

if ARGV[15] ~= '' then
  local minute, grown = math.floor(now / 60000), {}
  local known = redis.call('HGET', KEYS[4], exact(minute))
  add_counts(grown, ARGV[15])
  if known then
    add_counts(grown, known)
  else
    -- A new minute: those that no one asks for any more go, and those of a clock that was set back.
    local minutes = redis.call('HGETALL', KEYS[4])
    for i = 1, #minutes, 2 do
      if tonumber(minutes[i]) <= minute - tonumber(ARGV[16]) or tonumber(minutes[i]) > minute then
        redis.call('HDEL', KEYS[4], minutes[i])
      end
    end
  end
  redis.call('HSET', KEYS[4], exact(minute), packed_counts(grown))
  redis.call('PEXPIRE', KEYS[4], 60000 * tonumber(ARGV[16]))
end
return 1
