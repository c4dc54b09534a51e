-- Takes back expired slots and manual entries, and corrects the running count.
-- KEYS: 1 manual, 2 manualLeases, 3 runningCount, 4 slots, 5 retrySlots
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
return { expired, foreign }
