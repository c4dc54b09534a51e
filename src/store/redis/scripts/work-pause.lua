-- Pauses claiming; a longer pause in force stays.
-- KEYS: 1 pause
-- ARGV: 1 length (ms)
-- Atomic because two workers may pause at once.
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])
end
return 1
