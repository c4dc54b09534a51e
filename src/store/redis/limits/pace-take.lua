-- Grants gateway calls by the rate limits of the fleet, and takes back calls that were granted and not sent.
-- KEYS: 1 pace
-- ARGV: 1 participant, 2 interface, 3 calls wanted, 4 calls given back, 5 number of limits,
--       then for every limit: id, interfaces (`flow,stop`, or `*`), calls per second, burst, highest count of grants known,
--       then for a grant of which calls are given back: id of a limit, count after the grant ...
-- Returns: calls granted, wait (ms), life (ms), then for every limit that counts the interface: id, count of its grants
-- Atomic because limits must be judged and counted together, for all instances.
--
-- A limit is a token bucket, stored as JSON: `level` tokens at the time `at`, `taken` grants so far. By the rule of
-- domain/limits/rate-limit.ts (bucketOf), part of the burst is the capacity, the rest is for late arrivals.
-- `by` has for each participant: `tag`, how much it got, in the count of start-time fair queueing; `want` and `till`, how
-- many calls it waits for, and until when it counts as waiting. `virtual` is the tag of the last grant: a participant
-- that did not wait starts there, less a full bucket: it may have been late, but cannot claim more of what it did not want.
-- `yields` is set while an order, which comes before polls, got a call since another poll did.
local LIMIT_KEPT_MS, SILENT_MS, CLOCK_STEP_MS = 10000, 3000, 1000
local LIFE_LEAST_MS, LIFE_MOST_MS, CAPACITY_SHARE = 100, 500, 1 / 3
-- A waiting participant asks again at least once a second; a late one keeps its turn for half a second.
local ASKS_EVERY_MS, TURN_KEPT_MS = 1000, 500
local RETURNS_KNOWN = 16
local FIRST, SECOND = -math.huge, -1e300

local now = now_ms()
local me, interface, wanted, unused = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local limits, gone = {}, {}
local stored = redis.call('HGETALL', KEYS[1])
for i = 1, #stored, 2 do
  limits[stored[i]] = cjson.decode(stored[i + 1])
end

-- The strictest value of the last ten seconds is in force.
local function hold(limit, name, value)
  local at = limit[name .. '_at']
  if not at or value <= limit[name] or math.abs(now - at) > LIMIT_KEPT_MS then
    limit[name], limit[name .. '_at'] = value, now
  end
end

local from = 6
for _ = 1, tonumber(ARGV[5]) do
  local id, known = ARGV[from], tonumber(ARGV[from + 4])
  local limit = limits[id] or { level = 0, at = now, taken = 0, virtual = 0, by = {}, returned = {} }
  limits[id] = limit
  limit.interfaces, limit.seen = ARGV[from + 1], now
  hold(limit, 'rate', tonumber(ARGV[from + 2]))
  hold(limit, 'burst', tonumber(ARGV[from + 3]))
  -- The store lost grants that this instance knows of: a failover, or a restart from an older state.
  if known > limit.taken then
    limit.taken, limit.level = known, 0
  end
  from = from + 5
end

for id, limit in pairs(limits) do
  if math.abs(now - limit.seen) > LIMIT_KEPT_MS then
    gone[#gone + 1] = id
  else
    local rate = limit.rate / 1000
    local share = math.ceil(limit.burst * CAPACITY_SHARE)
    limit.life = math.min(LIFE_MOST_MS, math.max(LIFE_LEAST_MS, (limit.burst - share) / rate))
    limit.capacity = math.max(1, math.floor(limit.burst - rate * limit.life + 1e-9))
    limit.per_ms = math.min(rate, (1 + limit.burst - limit.capacity) / (1 / rate + limit.life))
    local passed = now - limit.at
    if passed > SILENT_MS or passed < -CLOCK_STEP_MS then
      -- A step of the clock, or a state that was restored, cannot be told from silence.
      limit.level = 0
    else
      limit.level = math.min(limit.capacity, limit.level + math.max(0, passed) * limit.per_ms)
    end
    limit.at = now
  end
end
for _, id in ipairs(gone) do
  limits[id] = nil
  redis.call('HDEL', KEYS[1], id)
end

-- A call that is given back is one that was never granted, unless the bucket would be full without it: grants since
-- then leave at least `capacity - grants` tokens in a bucket that was full at that time.
local function give_back(limit, count)
  if count > limit.taken then
    return
  end
  for _, known in ipairs(limit.returned) do
    if known == count then
      return
    end
  end
  limit.returned[#limit.returned + 1] = count
  if #limit.returned > RETURNS_KNOWN then
    table.remove(limit.returned, 1)
  end
  local room = limit.capacity - limit.level - (limit.taken - count)
  limit.level = limit.level + math.max(0, math.min(unused, room))
  if limit.by[me] then
    limit.by[me].tag = limit.by[me].tag - unused
  end
end

while from < #ARGV do
  if limits[ARGV[from]] then
    give_back(limits[ARGV[from]], tonumber(ARGV[from + 1]))
  end
  from = from + 2
end

local function waits(one)
  return one.want > 0 and one.till > now and one.till - now <= ASKS_EVERY_MS + TURN_KEPT_MS
end

-- Hands the tokens out one by one, each to the waiting participant that got least. Returns how many of them are mine, and
-- how many tokens there must be until the next one is mine.
-- At most half of the bucket is kept for task types that ask late: tokens that come while it is full are lost.
local function offer(limit)
  local all, yields = { { name = me, tag = limit.by[me].tag, want = wanted } }, limit.yields
  for name, one in pairs(limit.by) do
    if name ~= me and waits(one) then
      all[#all + 1] = { name = name, tag = one.tag, want = one.want }
    end
  end
  local function rank(one)
    return one.name == 'follow_up' and FIRST or one.name == 'order' and not yields and SECOND or one.tag
  end
  local got, handed = 0, 0
  local most_kept = math.ceil(limit.capacity / 2)
  while got < wanted do
    local next = all[1]
    for i = 2, #all do
      local keeps = all[i].want > 0 and (handed - got < most_kept or rank(all[i]) <= SECOND)
      if keeps and rank(all[i]) < rank(next) then
        next = all[i]
      end
    end
    handed = handed + 1
    if next == all[1] then
      if handed > limit.level + 1e-9 then
        return got, handed
      end
      got = got + 1
    end
    next.tag, next.want = next.tag + 1, next.want - 1
    if next.name ~= 'follow_up' then
      yields = next.name == 'order'
    end
  end
  return got, 0
end

local function counts(limit)
  return wanted > 0
    and (limit.interfaces == '*'
      or string.find(',' .. limit.interfaces .. ',', ',' .. interface .. ',', 1, true))
end

local counting, granted = {}, wanted
for id, limit in pairs(limits) do
  if counts(limit) then
    local mine = limit.by[me] or { tag = 0, want = 0, till = 0 }
    limit.by[me] = mine
    if not waits(mine) then
      mine.tag = math.max(mine.tag, limit.virtual - limit.capacity)
    end
    local got, needed = offer(limit)
    counting[#counting + 1] = { id = id, limit = limit, got = got, needed = needed }
    granted = math.min(granted, got)
  end
end

local wait, life, receipt = 0, LIFE_MOST_MS, {}
for _, one in ipairs(counting) do
  local limit, mine = one.limit, one.limit.by[me]
  if granted == wanted then
    -- Another instance may wait for more.
    mine.want = waits(mine) and math.max(0, mine.want - granted) or 0
  elseif one.got > granted then
    -- Another limit is short, so tokens of this one must not be reserved meanwhile.
    mine.want = 0
  else
    mine.want = wanted - granted
    local short = math.ceil((one.needed - limit.level) / limit.per_ms)
    wait = math.max(wait, short)
    mine.till = now + math.min(short, ASKS_EVERY_MS) + TURN_KEPT_MS
  end
  if granted > 0 then
    limit.virtual = math.max(limit.virtual, mine.tag)
    mine.tag = mine.tag + granted
    limit.level = math.max(0, limit.level - granted)
    limit.taken = limit.taken + granted
    if me ~= 'follow_up' then
      limit.yields = me == 'order'
    end
  end
  life = math.min(life, limit.life)
  receipt[#receipt + 1] = one.id
  receipt[#receipt + 1] = exact(limit.taken)
end

local pairs_to_set = {}
for id, limit in pairs(limits) do
  pairs_to_set[#pairs_to_set + 1] = id
  pairs_to_set[#pairs_to_set + 1] = cjson.encode(limit)
end
if #pairs_to_set > 0 then
  redis.call('HSET', KEYS[1], unpack(pairs_to_set))
  redis.call('PEXPIRE', KEYS[1], 3600000)
end
return { granted, wait, math.floor(life), unpack(receipt) }
