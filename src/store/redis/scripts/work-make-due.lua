-- Makes cards due now, beside their rings.
-- KEYS: 1 queue, 2 retry lane, 3 failures
-- ARGV: 1 queue cap (entries), 2 most entries of the retry lane, 3 channel of the type's work, 4.. card ids
-- Returns: how many were new to the queue or the retry lane.
-- Atomic because the room in the queue and whether a card runs must not change meanwhile.
local room = tonumber(ARGV[1]) - redis.call('ZCARD', KEYS[1])
local cards = { unpack(ARGV, 4, math.min(#ARGV, 3 + room)) }
local queued, retried = make_due(KEYS[1], KEYS[2], KEYS[3], cards, now_ms(), tonumber(ARGV[2]))
if queued + retried > 0 then
  tell_of_work(ARGV[3])
end
return queued + retried
