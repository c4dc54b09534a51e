-- Reads the pauses in force.
-- KEYS: 1 pauses
-- Returns: {source, entry, source, entry ...}
-- Atomic because Redis' clock decides which pauses are in force; writes nothing.
return pauses_in_force(KEYS[1], now_ms())
