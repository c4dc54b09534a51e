-- Removes the entries of one trigger from a part of the manual list: takes entries from the head and puts the entries
-- of other triggers back at the tail. A pass over the whole list keeps their order.
-- KEYS: 1 manual list
-- ARGV: 1 the end of the trigger's entries, 2 number of entries to look at
-- Returns: the number of removed entries.
-- Atomic because an entry must never be outside the list between two calls: a crash there would lose it.
local ending = ARGV[1]
local kept, removed = {}, 0
for _, entry in ipairs(redis.call('LPOP', KEYS[1], ARGV[2]) or {}) do
  if string.sub(entry, -#ending) == ending then
    removed = removed + 1
  else
    kept[#kept + 1] = entry
  end
end
call_chunked('RPUSH', KEYS[1], kept)
return removed
