-- Stores cards in one part of the card cache.
-- KEYS: 1 part
-- ARGV: 1 longest life of an entry (ms), then card id, packed card ...
-- Atomic because a part without expiry would never be removed. The part expires as a whole: `ttl` after its first entry
-- at the latest, so no entry lives longer.
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
local left = redis.call('PTTL', KEYS[1])
if left < 0 or left > tonumber(ARGV[1]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return 1
