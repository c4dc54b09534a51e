-- Takes back expired slots and manual entries, corrects the running count, and makes cards urgent whose worker died or whose
-- retry is due now (prelude.lua).
-- KEYS: 1 manual, 2 manualLeases, 3 runningCount, 4 slots, 5 retrySlots, 6 queue, 7 retry, 8 again
-- ARGV: 1 channel of the type's work
-- Returns: {expired slots, the previous running count if it differed from the slots held}
-- Atomic because the count must be compared with the slots of the same instant.
local found = redis.pcall('GET', KEYS[3])
local held = redis.call('ZCARD', KEYS[4])
local now = now_ms()
local foreign = false
if found then
  local count = type(found) == 'string' and tonumber(found) or 0
  if type(found) ~= 'string' or count ~= held then
    foreign = exact(count)
  end
end
local expired = take_back_expired(KEYS[4], KEYS[5], KEYS[2], KEYS[1], now)
write_running(KEYS[3], KEYS[4], now)

-- A card that was claimed since is polled by what is known now; one that is neither in the queue nor in the lane was.
local ended, waiting = redis.call('ZRANGEBYSCORE', KEYS[8], '-inf', now, 'LIMIT', 0, CHUNK), {}
call_chunked('ZREM', KEYS[8], ended)
for i, score in ipairs(scores_of(KEYS[6], ended)) do
  if not runs(score, now) then
    waiting[#waiting + 1] = ended[i]
  end
end
if make_urgent(KEYS[6], KEYS[7], KEYS[8], waiting, now - FRONT * BAND, now, 0) > 0 then
  signal_work(ARGV[1])
end
return { expired, foreign }
