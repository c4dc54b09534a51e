-- Makes cards urgent.
-- KEYS: 1 queue, 2 retry, 3 again
-- ARGV: 1 most urgent cards of this urgency or a higher one, 2 channel of the type's work, 3 bands (prelude.lua), 4.. cards
-- Atomic because a card that is claimed in between would be polled by what was known before.
local now, bands = now_ms(), tonumber(ARGV[3])
local room = tonumber(ARGV[1]) - redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. exact((1 - bands) * BAND))
if make_urgent(KEYS[1], KEYS[2], KEYS[3], { unpack(ARGV, 4) }, now - bands * BAND, now, room) > 0 then
  signal_work(ARGV[2])
end
return 1
