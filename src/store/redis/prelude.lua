-- client.ts puts this in front of every other script of src/store/redis. It only defines functions.
-- Uses Lua 5.1 as Redis >= 6.2 embeds it. Redis replicates a script's effects, so reading TIME is safe.

-- Numbers are passed to redis.call as they are (Redis writes them with 17 digits). To turn a number into text, use
-- exact(), because Lua's tostring keeps only 14 digits.
local function exact(number)
  return string.format('%.17g', number)
end

-- Returns Redis' own time in whole epoch milliseconds.
local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- Names the run of this server: another one answers after a failover, and a restart begins another. Where the user may not run INFO
-- it has one name for all runs.
local function life()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and string.match(info, 'run_id:(%x+)') or 'unknown'
end

-- Whether the limits and pauses of record were put into force in this life of the server: what it has may be older than that, or
-- nothing (work-put-in-force.lua).
local function is_in_force(in_force_key)
  return redis.call('GET', in_force_key) == life()
end

-- Returns what may be claimed at once, and 1 where limits and pauses of record are in force, else 0: nothing is claimed without a limit.
local function limit_in_force(limit_key, effective_key, in_force_key)
  local limits, in_force = redis.call('MGET', limit_key, effective_key), is_in_force(in_force_key) and 1 or 0
  return math.min(tonumber(limits[1] or '') or 0, tonumber(limits[2] or '') or math.huge) * in_force, in_force
end

-- While polls and orders wait, each takes half of the slots that are free. They take turns with an odd one, in windows of time, so
-- that neither waits for the other's turn if that does not come. Returns the share of polls.
local TURN_MS, ORDERS_WAIT_MS = 50, 1500
local function polls_share(free, now)
  return math.floor((free + math.floor(now / TURN_MS) % 2) / 2)
end

-- Returns '1' where all of record is in force in this life, else '0'; what is stored under limit and effectiveLimit, and the operators'
-- pause; '' for what is absent. KEYS: 1 inForce, 2 limit, 3 effectiveLimit, 4 pauses
local function in_force_values()
  local limits = redis.call('MGET', KEYS[2], KEYS[3])
  local flag, pause = is_in_force(KEYS[1]) and '1' or '0', redis.call('HGET', KEYS[4], 'operator')
  return { flag, limits[1] or '', limits[2] or '', pause or '' }
end

-- Lua's unpack fails with more than about 8,000 values: longer lists are passed in chunks of this size.
local CHUNK = 4000

-- Calls a command that takes many values, chunk by chunk. Returns the sum of its integer replies.
local function call_chunked(command, key, values)
  local sum = 0
  for from = 1, #values, CHUNK do
    sum = sum + redis.call(command, key, unpack(values, from, math.min(from + CHUNK - 1, #values)))
  end
  return sum
end

-- Returns the scores of members of a sorted set as numbers, false for an absent member.
local function scores_of(key, members)
  local scores = {}
  for from = 1, #members, CHUNK do
    local part = redis.call('ZMSCORE', key, unpack(members, from, math.min(from + CHUNK - 1, #members)))
    for i = 1, #part do
      scores[from + i - 1] = part[i] and tonumber(part[i])
    end
  end
  return scores
end

-- Returns for each member of a sorted set whether its score is the token of a claim (as text). Some members are compared with
-- the range of that score, because Redis writes each score that is read as text; for a few it costs more to read all others.
-- Then it also returns the size of the range.
local MIN_RANGE = 4
local function holds(key, token, members)
  local mine = {}
  if #members < MIN_RANGE then
    for i, score in ipairs(scores_of(key, members)) do
      mine[i] = score == tonumber(token)
    end
    return mine
  end
  local held, range = {}, redis.call('ZRANGEBYSCORE', key, token, token)
  for i = 1, #range do
    held[range[i]] = true
  end
  for i = 1, #members do
    mine[i] = held[members[i]] or false
    held[members[i]] = nil
  end
  return mine, #range
end

-- The member of a slot names its claim, so no other claim has the same one. `m` before a manual entry is part of `work`.
local function slot_of(work, token)
  return work .. '@' .. token
end

-- Gives slots back. Returns how many there were.
local function release_slots(slots_key, retry_slots_key, held)
  local released = call_chunked('ZREM', slots_key, held)
  if released > 0 and redis.call('EXISTS', retry_slots_key) == 1 then
    call_chunked('ZREM', retry_slots_key, held)
  end
  return released
end

-- Sets the running count to the number of slots held. It expires shortly after the last slot, so it does not outlive
-- the slots even when no daemon is left to reap them. Returns the count.
local function write_running(count_key, slots_key, now)
  local held = redis.call('ZCARD', slots_key)
  if held == 0 then
    if redis.pcall('GET', count_key) ~= '0' then
      redis.call('SET', count_key, 0)
    end
  else
    local last = redis.call('ZREVRANGE', slots_key, 0, 0, 'WITHSCORES')
    local remaining = math.max(0, math.ceil(tonumber(last[2]) - now))
    redis.call('SET', count_key, held, 'PX', remaining + 500)
  end
  return held
end

-- Takes back expired slots and manual entries (to the head of their list, the earliest claimed first).
-- Returns the number of slots.
local function take_back_expired(slots_key, retry_slots_key, leases_key, manual_key, now)
  local slots = redis.call('ZREMRANGEBYSCORE', slots_key, '-inf', now)
  redis.call('ZREMRANGEBYSCORE', retry_slots_key, '-inf', now)
  local entries = redis.call('ZREVRANGEBYSCORE', leases_key, now, '-inf', 'LIMIT', 0, CHUNK)
  if #entries > 0 then
    redis.call('LPUSH', manual_key, unpack(entries))
    redis.call('ZREM', leases_key, unpack(entries))
  end
  return slots
end

-- Wakes resting workers. Without the right to publish they find the work up to a second later.
local function signal_work(channel)
  redis.pcall('PUBLISH', channel, '')
end

-- Returns the milliseconds until the last pause ends; 0 when claiming is not paused.
local function pause_left(pauses_key, now)
  local left = 0
  for _, pause in ipairs(redis.call('HMGET', pauses_key, 'gateway', 'operator')) do
    if pause then
      left = math.max(left, tonumber(string.match(pause, '^%S+ (%S+)')) - now)
    end
  end
  return left
end

-- Returns the pauses in force: {source, entry, source, entry ...}.
local function pauses_in_force(pauses_key, now)
  local found = {}
  local pauses = redis.call('HGETALL', pauses_key)
  for i = 1, #pauses, 2 do
    if tonumber(string.match(pauses[i + 1], '^%S+ (%S+)')) > now then
      found[#found + 1] = pauses[i]
      found[#found + 1] = pauses[i + 1]
    end
  end
  return found
end

-- Returns the positions of the failing cards. Takes one command while no card fails.
local function failing_positions(failures_key, cards)
  local positions = {}
  if #cards == 0 or redis.call('EXISTS', failures_key) == 0 then
    return positions
  end
  for from = 1, #cards, CHUNK do
    local to = math.min(from + CHUNK - 1, #cards)
    for i, in_a_row in ipairs(redis.call('HMGET', failures_key, unpack(cards, from, to))) do
      if in_a_row then
        positions[#positions + 1] = from + i - 1
      end
    end
  end
  return positions
end

-- Makes cards due: failing cards in the retry lane, all others in the queue, unless a card is there already or runs.
-- The retry lane takes no card while it holds `retry_cap` entries: the card's ring makes it due again later. Returns
-- the number of cards that were new to the queue, and the number that were new to the retry lane.
local function make_due(queue_key, retry_key, failures_key, cards, due_ms, retry_cap)
  local score, is_failing, healthy, failing = exact(due_ms), {}, {}, {}
  for _, i in ipairs(failing_positions(failures_key, cards)) do
    is_failing[i] = true
    failing[#failing + 1] = cards[i]
  end
  local at = 0
  for i = 1, #cards do
    if not is_failing[i] then
      healthy[at + 1], healthy[at + 2] = score, cards[i]
      at = at + 2
    end
  end
  local queued, retried = 0, 0
  for from = 1, #healthy, CHUNK do
    queued = queued
      + redis.call('ZADD', queue_key, 'NX', unpack(healthy, from, math.min(from + CHUNK - 1, #healthy)))
  end
  local room = #failing > 0 and retry_cap - redis.call('ZCARD', retry_key) or 0
  for i, running in ipairs(scores_of(queue_key, failing)) do
    if retried < room and not running then
      retried = retried + redis.call('ZADD', retry_key, 'NX', score, failing[i])
    end
  end
  return queued, retried
end
