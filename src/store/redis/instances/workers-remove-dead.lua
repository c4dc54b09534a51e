-- Removes instances, except for those that have sent a heartbeat since they were listed.
-- KEYS: 1 workers
-- ARGV: instance ids
-- Returns: the ids of the removed instances.
-- Atomic because a heartbeat may come between the check and the removal.
local now, removed = now_ms(), {}
for _, id in ipairs(ARGV) do
  local entry = redis.call('HGET', KEYS[1], id)
  if entry and tonumber(string.match(entry, '^%S+')) <= now then
    redis.call('HDEL', KEYS[1], id)
    removed[#removed + 1] = id
  end
end
return removed
