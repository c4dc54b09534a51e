-- Finds one card in the work of a task type.
-- KEYS: 1 queue, 2 retry, 3 failures, 4 slots, 5 manual, 6 manualLeases
-- ARGV: 1 card id, 2 most entries of the manual list to look at, then the card's entries of the manual list
-- Returns: {now (ms), score in the queue or false, entries before it there, score of its slot or false,
--           score in the retry lane or false, entries before it there, failures in a row or false,
--           entries before the first of its waiting manual entries or -1, 1 when one of its manual entries runs}
-- Atomic so that a card is not missed while it moves from one place to another; writes nothing.
local card, now = ARGV[1], now_ms()
local waits_behind, runs = -1, 0
for i = 3, #ARGV do
  local at = redis.call('LPOS', KEYS[5], ARGV[i], 'MAXLEN', ARGV[2])
  if at and (waits_behind < 0 or at < waits_behind) then
    waits_behind = at
  end
  local lease = redis.call('ZSCORE', KEYS[6], ARGV[i])
  if lease and tonumber(lease) > now then
    runs = 1
  end
end
local score = redis.call('ZSCORE', KEYS[1], card)
return {
  exact(now),
  score,
  redis.call('ZRANK', KEYS[1], card) or 0,
  score and redis.call('ZSCORE', KEYS[4], slot_of(card, exact(tonumber(score)))),
  redis.call('ZSCORE', KEYS[2], card),
  redis.call('ZRANK', KEYS[2], card) or 0,
  redis.call('HGET', KEYS[3], card),
  waits_behind,
  runs,
}
