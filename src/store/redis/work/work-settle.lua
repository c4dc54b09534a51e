-- Ends claimed work that has a durable result, that failed, or that was never started.
-- KEYS: 1 queue, 2 manual, 3 manualLeases, 4 runningCount, 5 slots, 6 failures, 7 retry, 8 retrySlots
-- ARGV: 1 backoff base (ms), 2 backoff cap (ms), 3 most entries of the retry lane, then six
--       groups, each a number of claims and per claim token, number of items, and the items: cards done, cards failed (per
--       item also how long the card must wait at least, ms, and the random number), schedule returned,
--       retry returned and early (per item also the wait, ms), manual ended, manual returned
-- Returns: the number of items left alone because they no longer owned their lease.
-- Atomic because only the holder of the token may end the work, together with its slot and the running count.
local queue, manual, leases, slots, failures, retry = KEYS[1], KEYS[2], KEYS[3], KEYS[5], KEYS[6], KEYS[7]
local now, base, cap = now_ms(), tonumber(ARGV[1]), tonumber(ARGV[2])
local at, fenced, held = 4, 0, {}

-- Reads the next group. Returns the members that still own their lease in `key`, with the wait and random number of
-- each, after taking them out of it if the group `leaves`.
local function read_group(key, slot_prefix, fields, leaves)
  local own, waits, randoms, claims = {}, {}, {}, tonumber(ARGV[at])
  at = at + 1
  for _ = 1, claims do
    local token, count, first, members, before = ARGV[at], tonumber(ARGV[at + 1]), at + 2, {}, #own
    at = first + count * fields
    for i = 1, count do
      members[i] = ARGV[first + (i - 1) * fields]
    end
    -- Most calls ended a while ago, and their slots were released then.
    if redis.call('ZCOUNT', slots, token, token) > 0 then
      for i = 1, count do
        held[#held + 1] = slot_of(slot_prefix .. members[i], token)
      end
    end
    local mine, held_by_claim = holds(key, token, members)
    for i, is_own in ipairs(mine) do
      if is_own then
        own[#own + 1] = members[i]
        waits[#own] = fields > 1 and tonumber(ARGV[first + (i - 1) * fields + 1])
        randoms[#own] = fields > 2 and tonumber(ARGV[first + (i - 1) * fields + 2])
      else
        fenced = fenced + 1
      end
    end
    if leaves and held_by_claim == #own - before then
      redis.call('ZREMRANGEBYSCORE', key, token, token)
    elseif leaves then
      call_chunked('ZREM', key, { unpack(own, before + 1) })
    end
  end
  return own, waits, randoms
end

local done = read_group(queue, '', 1, true)
if #done > 0 and redis.call('EXISTS', failures) == 1 then
  call_chunked('HDEL', failures, done)
end

-- A failed card waits in the retry lane. When its backoff reaches the cap, or while the lane is full, it leaves the
-- queue without a retry: its ring makes it due again.
local failed, waits, randoms = read_group(queue, '', 3, true)
local room = #failed > 0 and tonumber(ARGV[3]) - redis.call('ZCARD', retry) or 0
for i, card in ipairs(failed) do
  local backoff = base * 2 ^ (redis.call('HINCRBY', failures, card, 1) - 1)
  local pause = math.max(backoff < cap and randoms[i] * backoff or 0, waits[i])
  if i <= room and (backoff < cap or waits[i] > 0) then
    redis.call('ZADD', retry, math.floor(now + pause), card)
  end
end

for _, card in ipairs((read_group(queue, '', 1))) do
  redis.call('ZADD', queue, 'XX', now, card)
end

local laned, lane_waits = read_group(queue, '', 2, true)
room = #laned > 0 and tonumber(ARGV[3]) - redis.call('ZCARD', retry) or 0
for i, card in ipairs(laned) do
  if i <= room or lane_waits[i] == 0 then
    redis.call('ZADD', retry, math.floor(now + lane_waits[i]), card)
  end
end

read_group(leases, 'm', 1, true)

local returned = read_group(leases, 'm', 1, true)
for i = #returned, 1, -1 do
  redis.call('LPUSH', manual, returned[i])
end

if release_slots(slots, KEYS[8], held) > 0 then
  write_running(KEYS[4], slots, now)
end
return fenced
