-- Compares the running count with the slots held.
-- KEYS: 1 runningCount, 2 slots
-- Returns: {the stored running count or false, slots held, slots whose lease has not ended}
-- Atomic so that the numbers are consistent; writes nothing.
local shown = redis.pcall('GET', KEYS[1])
if type(shown) == 'table' then
  shown = 'no number'
end
return { shown, redis.call('ZCARD', KEYS[2]), redis.call('ZCOUNT', KEYS[2], '(' .. exact(now_ms()), '+inf') }
