-- Removes the entries of some triggers from a part of the manual list: takes entries from the head and puts the entries
-- of other triggers back at the tail. A pass over the whole list keeps their order.
-- KEYS: 1 manual
-- ARGV: 1 number of entries to look at, 2... the triggers
-- Atomic because an entry must never be outside the list between two calls: a crash there would lose it.
local removes = {}
for i = 2, #ARGV do
  removes[ARGV[i]] = true
end
local kept = {}
for _, entry in ipairs(redis.call('LPOP', KEYS[1], ARGV[1]) or {}) do
  local trigger = string.match(entry, '^[^:]*:(.*)$')
  if not (trigger and removes[trigger]) then
    kept[#kept + 1] = entry
  end
end
call_chunked('RPUSH', KEYS[1], kept)
