-- Prolongs the leases of work whose result waits to be written.
-- KEYS: 1 queue, 2 manualLeases
-- ARGV: 1 by how long (ms), then for every item: `manual` or another lane, member, token
-- The new token is the old one and that time: the holder knows it although the answer may be lost, and nothing is prolonged
-- twice when the call comes again.
-- Atomic because the work must not be claimed in between.
local by = tonumber(ARGV[1])
for i = 2, #ARGV, 3 do
  local key, member, token = ARGV[i] == 'manual' and KEYS[2] or KEYS[1], ARGV[i + 1], ARGV[i + 2]
  if holds(key, token, { member })[1] then
    redis.call('ZADD', key, tonumber(token) + by, member)
  end
end
return 1
