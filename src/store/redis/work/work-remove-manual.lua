-- Takes the entries of one trigger out of a part of the manual list: the entries at the head are looked at, and those
-- of others go to the tail. A pass over the whole length leaves the others in their order.
-- KEYS: 1 manual list
-- ARGV: 1 what the trigger's entries end with, 2 entries to look at
-- Returns: the number of entries taken out.
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
