-- Compares the running count with the slots held.
-- KEYS: 1 running count, 2 slots
-- Returns: {running count as it stands or false, slots held, those whose lease has not ended}
-- Atomic so that the numbers belong together; writes nothing.
local shown = redis.pcall('GET', KEYS[1])
if type(shown) == 'table' then
  shown = 'no number'
end
return { shown, redis.call('ZCARD', KEYS[2]), redis.call('ZCOUNT', KEYS[2], '(' .. exact(now_ms()), '+inf') }
