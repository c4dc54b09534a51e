-- Ends every pause of a task type.
-- KEYS: 1 pauses
-- Returns: the pauses that were in force: {source, entry, source, entry ...}
-- Atomic because a pause that begins in between must not be ended without being returned.
local ended = pauses_in_force(KEYS[1], now_ms())
redis.call('DEL', KEYS[1])
return ended
