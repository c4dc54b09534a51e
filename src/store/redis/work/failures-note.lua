-- Stores why cards failed, in place of earlier notes about these cards.
-- KEYS: 1 failureNotes, 2 failureTimes
-- ARGV: 1 most cards noted, then for every card: card id, note
-- Atomic so that every note has a time and the number of notes stays within the bound.
local now = now_ms()
for i = 2, #ARGV, 2 do
  redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  redis.call('ZADD', KEYS[2], now, ARGV[i])
end
local over = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[1])
if over > 0 then
  local oldest = redis.call('ZRANGE', KEYS[2], 0, over - 1)
  call_chunked('ZREM', KEYS[2], oldest)
  call_chunked('HDEL', KEYS[1], oldest)
end
