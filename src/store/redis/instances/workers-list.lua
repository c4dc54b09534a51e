-- Lists instances.
-- KEYS: 1 workers
-- ARGV: 1 `live` for the details of live instances, `dead` for the ids of instances whose heartbeat has expired
-- Atomic because Redis' clock decides which instances are alive.
local now, found = now_ms(), {}
local workers = redis.call('HGETALL', KEYS[1])
for i = 1, #workers, 2 do
  local expires, details = string.match(workers[i + 1], '^(%S+) (.*)$')
  local live = tonumber(expires) > now
  if live and ARGV[1] == 'live' then
    found[#found + 1] = details
  elseif not live and ARGV[1] == 'dead' then
    found[#found + 1] = workers[i]
  end
end
return found
