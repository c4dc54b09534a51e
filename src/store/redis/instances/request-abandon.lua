-- Frees the key of a request that was not answered.
-- KEYS: 1 request
-- ARGV: 1 attempt
-- Returns: nothing.
-- Atomic because the claim may end, and go to another attempt, between looking and removing.
local known = redis.call('HMGET', KEYS[1], 'attempt', 'status')
if known[1] == ARGV[1] and not known[2] then
  redis.call('DEL', KEYS[1])
end
