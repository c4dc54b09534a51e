-- Gives up a named lease; the fencing counter stays.
-- KEYS: 1 lease
-- ARGV: 1 holder
-- Atomic because it must not end the lease of a holder that came in between.
if redis.call('HGET', KEYS[1], 'holder') == ARGV[1] then
  redis.call('HSET', KEYS[1], 'expires_ms', 0)
end
return 1
