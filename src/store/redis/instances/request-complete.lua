-- Stores the answer to a request.
-- KEYS: 1 request
-- ARGV: 1 attempt, 2 status, 3 body, 4 time it is kept (ms)
-- Returns: nothing.
-- Atomic because the claim may end, and go to another attempt, between looking and writing.
if redis.call('HGET', KEYS[1], 'attempt') == ARGV[1] then
  redis.call('HSET', KEYS[1], 'status', ARGV[2], 'body', ARGV[3])
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
