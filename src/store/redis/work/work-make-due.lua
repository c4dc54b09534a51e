-- Makes cards due at once, each card once.
-- KEYS: 1 queue, 2 retry, 3 failures
-- ARGV: 1 most entries of the queue and of the retry lane, 2 channel of the type's work, 3.. cards
-- A running poll may have judged its card by older data: the card is due again when its lease ends. It waits in the
-- retry lane, since a claim removes cards that still run from that lane. While the queue is full, other cards wait in
-- that lane too.
-- Atomic because a card that is claimed in between would not be due again.
local queue, retry, cap, now = KEYS[1], KEYS[2], tonumber(ARGV[1]), now_ms()
local room, retry_room = cap - redis.call('ZCARD', queue), cap - redis.call('ZCARD', retry)
local cards, waiting = { unpack(ARGV, 3) }, {}
for i, score in ipairs(scores_of(queue, cards)) do
  -- Only the tokens of leases have a fraction.
  if score and score > now and score % 1 > 0 then
    if retry_room > 0 then
      retry_room = retry_room - redis.call('ZADD', retry, math.ceil(score), cards[i])
    end
  elseif not score and room > 0 then
    room = room - 1
    waiting[#waiting + 1] = cards[i]
  elseif not score and retry_room > 0 then
    retry_room = retry_room - redis.call('ZADD', retry, 'NX', now, cards[i])
  end
end
local queued, retried = make_due(queue, retry, KEYS[3], waiting, now, cap)
if queued + retried > 0 then
  signal_work(ARGV[2])
end
return 1
