-- Notes the problems that exist now, and returns since when each problem that has not ended has existed.
-- KEYS: 1 hash: name -> "first until" (ms): when the problem was first noted, and when it ends unless it is noted again
-- ARGV: 1 how long the notes hold (ms), then any number of names
-- Returns: name, first, name, first, ...
-- Atomic so that all instances agree on the beginning.
local now = now_ms()
local first_of = {}
local notes = redis.call('HGETALL', KEYS[1])
for i = 1, #notes, 2 do
  local first, ends = string.match(notes[i + 1], '^(%S+) (%S+)$')
  if tonumber(ends) < now then
    redis.call('HDEL', KEYS[1], notes[i])
  else
    first_of[notes[i]] = first
  end
end
local ends = string.format('%.0f', now + tonumber(ARGV[1]))
for i = 2, #ARGV do
  first_of[ARGV[i]] = first_of[ARGV[i]] or string.format('%.0f', now)
  redis.call('HSET', KEYS[1], ARGV[i], first_of[ARGV[i]] .. ' ' .. ends)
end
local reply = {}
for name, first in pairs(first_of) do
  reply[#reply + 1] = name
  reply[#reply + 1] = first
end
return reply
