-- Counts the work of a task type.
-- KEYS: 1 queue, 2 manual, 3 slots, 4 limit, 5 retry, 6 effectiveLimit, 7 inForce
-- Returns (script-values.ts): queue_length, due, in_flight (slots in use), manual_length, limit or false, retry_due, backoff
--           (retries that wait), effective_limit or false, in_force (1 or 0: limits and pauses of record are in force), waited_ms (how
--           long the first of the due cards has been due)
-- Atomic so that the numbers are consistent; writes nothing.
local now = now_ms()
local queue_length = redis.call('ZCARD', KEYS[1])
local due = redis.call('ZCOUNT', KEYS[1], '-inf', now)
local in_flight = redis.call('ZCOUNT', KEYS[3], '(' .. exact(now), '+inf')
local manual_length = redis.call('LLEN', KEYS[2])
local retry_due = redis.call('ZCOUNT', KEYS[5], '-inf', now)
local backoff = redis.call('ZCARD', KEYS[5]) - retry_due
local limit, effective_limit = redis.call('GET', KEYS[4]), redis.call('GET', KEYS[6])
local in_force = is_in_force(KEYS[7]) and 1 or 0
-- A score up to 0 is no time: it puts a card first.
local first = redis.call('ZRANGEBYSCORE', KEYS[1], '(0', now, 'WITHSCORES', 'LIMIT', 0, 1)
local waited_ms = first[2] and math.floor(now - tonumber(first[2])) or 0
return { queue_length, due, in_flight, manual_length, limit, retry_due, backoff, effective_limit, in_force, waited_ms }
