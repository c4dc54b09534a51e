-- Gives slots back.
-- KEYS: 1 runningCount, 2 slots, 3 retrySlots
-- ARGV: members of slots (prelude.lua)
-- Returns: the number of slots given back.
-- Atomic because the running count must equal the slots held.
local released = release_slots(KEYS[2], KEYS[3], ARGV)
write_running(KEYS[1], KEYS[2], now_ms())
return released
