-- Reads the values that operators and the leader have set for a task type, as they are in force.
-- KEYS: 1 inForce, 2 limit, 3 effectiveLimit, 4 pauses, 5 slots
-- Returns: {in force in this life of the server ('1' or '0'); as stored, '' for what is absent: limit, effectiveLimit, the operators'
--           pause, also one that is over; 1 while that pause is in force, else 0; the number of slots held}
-- Atomic so that work-put-in-force.lua can tell whether something has changed since; writes nothing.
local values = in_force_values()
local ends = tonumber(string.match(values[4], '^%S+ (%S+)') or 0)
values[5] = ends > now_ms() and 1 or 0
values[6] = redis.call('ZCARD', KEYS[5])
return values
