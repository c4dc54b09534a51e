-- Ends claimed work that has a durable result, that failed, or that was never started.
-- KEYS: 1 queue, 2 manual, 3 manualLeases, 4 runningCount, 5 slots, 6 failures, 7 retry, 8 retrySlots, 9 again
-- ARGV: 1 backoff base (ms), 2 backoff cap (ms), 3 most entries of the retry lane, 4 channel of the type's work, then seven
--       groups, each a number of items and per item member and token: cards done, cards failed (per item also how long the
--       card must wait at least, ms, and the random number), schedule returned, urgent returned, retry returned and early
--       (per item also the wait, ms), manual ended, manual returned
-- Returns: the number of items left alone because they no longer owned their lease.
-- Atomic because only the holder of the token may end the work, together with its slot and the running count.
local queue, manual, leases, slots, failures, retry = KEYS[1], KEYS[2], KEYS[3], KEYS[5], KEYS[6], KEYS[7]
local now, base, cap = now_ms(), tonumber(ARGV[1]), tonumber(ARGV[2])
local at, fenced, front = 5, 0, now - FRONT * BAND
local slot_members, slot_tokens, own_cards, own_tokens = {}, {}, {}, {}

-- Reads the next group. Returns the members that still own their lease in `key`, with the wait and random number of
-- each.
local function read_group(key, slot_prefix, fields)
  local count = tonumber(ARGV[at])
  local members, tokens, own, waits, randoms = {}, {}, {}, {}, {}
  at = at + 1
  for i = 1, count do
    local item = at + (i - 1) * fields
    members[i], tokens[i] = ARGV[item], ARGV[item + 1]
    slot_members[#slot_members + 1] = slot_prefix .. members[i]
    slot_tokens[#slot_tokens + 1] = tokens[i]
  end
  for i, is_own in ipairs(holds(key, members, tokens)) do
    if is_own then
      own[#own + 1] = members[i]
      if key == queue then
        own_cards[#own_cards + 1], own_tokens[#own_tokens + 1] = members[i], tokens[i]
      end
      if fields > 2 then
        waits[#own] = tonumber(ARGV[at + (i - 1) * fields + 2])
        randoms[#own] = tonumber(ARGV[at + (i - 1) * fields + 3])
      end
    else
      fenced = fenced + 1
    end
  end
  at = at + count * fields
  return own, waits, randoms
end

local done = read_group(queue, '', 2)
call_chunked('ZREM', queue, done)
if #done > 0 and redis.call('EXISTS', failures) == 1 then
  call_chunked('HDEL', failures, done)
end

-- A failed card waits in the retry lane. When its backoff reaches the cap, or while the lane is full, it leaves the
-- queue without a retry: its ring makes it due again.
local failed, waits, randoms = read_group(queue, '', 4)
call_chunked('ZREM', queue, failed)
local room = #failed > 0 and tonumber(ARGV[3]) - redis.call('ZCARD', retry) or 0
for i, card in ipairs(failed) do
  local backoff = base * 2 ^ (redis.call('HINCRBY', failures, card, 1) - 1)
  local pause = math.max(backoff < cap and randoms[i] * backoff or 0, waits[i])
  if i <= room and (backoff < cap or waits[i] > 0) then
    redis.call('ZADD', retry, math.floor(now + pause), card)
  end
end

for _, score in ipairs({ now, front }) do
  for _, card in ipairs((read_group(queue, '', 2))) do
    redis.call('ZADD', queue, 'XX', score, card)
  end
end

local laned, lane_waits = read_group(queue, '', 3)
call_chunked('ZREM', queue, laned)
room = #laned > 0 and tonumber(ARGV[3]) - redis.call('ZCARD', retry) or 0
for i, card in ipairs(laned) do
  if i <= room or lane_waits[i] == 0 then
    redis.call('ZADD', retry, math.floor(now + lane_waits[i]), card)
  end
end

-- Cards that became urgent during this poll: it may have judged them by older data.
if #own_cards > 0 and redis.call('EXISTS', KEYS[9]) == 1 then
  local again = {}
  for i, is_noted in ipairs(holds(KEYS[9], own_cards, own_tokens)) do
    if is_noted then
      again[#again + 1] = own_cards[i]
    end
  end
  call_chunked('ZREM', KEYS[9], again)
  if make_urgent(queue, retry, KEYS[9], again, front, now, #again) > 0 then
    signal_work(ARGV[4])
  end
end

call_chunked('ZREM', leases, (read_group(leases, 'm', 2)))

local returned = read_group(leases, 'm', 2)
call_chunked('ZREM', leases, returned)
for i = #returned, 1, -1 do
  redis.call('LPUSH', manual, returned[i])
end

if redis.call('EXISTS', slots) == 1 then
  local mine = {}
  for i, is_mine in ipairs(holds(slots, slot_members, slot_tokens)) do
    if is_mine then
      mine[#mine + 1] = slot_members[i]
    end
  end
  if call_chunked('ZREM', slots, mine) > 0 then
    if redis.call('EXISTS', KEYS[8]) == 1 then
      call_chunked('ZREM', KEYS[8], mine)
    end
    write_running(KEYS[4], slots, now)
  end
end
return fenced
