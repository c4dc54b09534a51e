-- Claims a key for one attempt at a request.
-- KEYS: 1 request
-- ARGV: 1 attempt, 2 fingerprint of the request, 3 time the claim lasts (ms)
-- Returns: { 'granted' }, { 'running' }, { 'different' }, or { 'answered', status, body }.
-- Atomic because two attempts must never be granted at once. A claim that is sent twice is granted twice.
local known = redis.call('HMGET', KEYS[1], 'attempt', 'fingerprint', 'status', 'body')
if known[1] then
  if known[2] ~= ARGV[2] then
    return { 'different' }
  end
  if known[3] then
    return { 'answered', known[3], known[4] }
  end
  if known[1] ~= ARGV[1] then
    return { 'running' }
  end
end
redis.call('HSET', KEYS[1], 'attempt', ARGV[1], 'fingerprint', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return { 'granted' }
