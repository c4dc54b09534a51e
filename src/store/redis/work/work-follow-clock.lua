-- Notices that Redis' clock was set back, or that a replica with a slow clock took over, and adjusts due times and
-- pauses that were set by the old time: otherwise they would wait until that time comes again.
-- KEYS: 1 queue, 2 manual, 3 manualLeases, 4 slots, 5 retrySlots, 6 retry, 7 pauses, 8 claims
-- ARGV: 1 lease (ms), 2 least step back that counts (ms), 3 most entries of the queue to move in this call
-- Returns: {by how much the clock was set back (ms), or 0; 1 when the queue needs further calls, else 0}
-- Atomic because nothing may be claimed between the moves.
--
-- In the claims, `#seen_ms` is the time of the last call. `#set_back` is the time before a step and the time at which
-- it was noticed. A token cannot be changed, because its holder knows it, so older leases are taken back one lease
-- later.
local queue, leases, slots, retry, pauses, claims = KEYS[1], KEYS[3], KEYS[4], KEYS[6], KEYS[7], KEYS[8]
local now, lease = now_ms(), tonumber(ARGV[1])
local known = redis.call('HMGET', claims, '#seen_ms', '#set_back')
local seen = tonumber(known[1] or now)
local back = seen - now

-- Tokens from a clock that was only slightly ahead expire within two leases by themselves, and look like current ones.
local function take_back_from(before)
  if before <= now + lease then
    return
  end
  redis.call('ZREMRANGEBYSCORE', slots, '(' .. exact(before), '+inf')
  redis.call('ZREMRANGEBYSCORE', KEYS[5], '(' .. exact(before), '+inf')
  local entries = redis.call('ZREVRANGEBYSCORE', leases, '+inf', '(' .. exact(before))
  call_chunked('LPUSH', KEYS[2], entries)
  call_chunked('ZREM', leases, entries)
  local due_pairs = {}
  for _, card in ipairs(redis.call('ZRANGEBYSCORE', queue, '(' .. exact(before), '+inf')) do
    due_pairs[#due_pairs + 1] = now
    due_pairs[#due_pairs + 1] = card
  end
  call_chunked('ZADD', queue, due_pairs)
end

if known[2] then
  local before, noticed = string.match(known[2], '^(%S+) (%S+)$')
  if math.abs(now - tonumber(noticed)) >= lease then
    redis.call('HDEL', claims, '#set_back')
    take_back_from(tonumber(before))
  end
end
if back < tonumber(ARGV[2]) then
  redis.call('HSET', claims, '#seen_ms', exact(now))
  return { 0, 0 }
end

-- A due time has whole milliseconds, a token has a fraction; an entry that is moved leaves the range.
local moved, held = 0, 0
repeat
  local page = redis.call('ZRANGEBYSCORE', queue, '(' .. exact(now), '+inf', 'WITHSCORES', 'LIMIT', held, CHUNK)
  local due_pairs = {}
  for i = 1, #page, 2 do
    local score = tonumber(page[i + 1])
    if score == math.floor(score) then
      due_pairs[#due_pairs + 1] = exact(math.min(now, score - back))
      due_pairs[#due_pairs + 1] = page[i]
    else
      held = held + 1
    end
  end
  call_chunked('ZADD', queue, due_pairs)
  moved = moved + #due_pairs / 2
until #page < 2 * CHUNK or moved >= tonumber(ARGV[3])
if moved >= tonumber(ARGV[3]) then
  return { back, 1 }
end

local waiting, retry_pairs = redis.call('ZRANGEBYSCORE', retry, '(' .. exact(now), '+inf', 'WITHSCORES'), {}
for i = 1, #waiting, 2 do
  retry_pairs[i], retry_pairs[i + 1] = exact(tonumber(waiting[i + 1]) - back), waiting[i]
end
call_chunked('ZADD', retry, retry_pairs)

local in_force = pauses_in_force(pauses, now)
for i = 1, #in_force, 2 do
  local since, ends, details = string.match(in_force[i + 1], '^(%S+) (%S+) (.*)$')
  local moved_pause = exact(tonumber(since) - back) .. ' ' .. exact(tonumber(ends) - back) .. ' ' .. details
  redis.call('HSET', pauses, in_force[i], moved_pause)
end
if #in_force > 0 then
  redis.call('PEXPIRE', pauses, exact(math.max(1, pause_left(pauses, now))))
end

redis.call('HDEL', claims, '#other_at', '#retry_credit', '#trickle_at')
redis.call('HSET', claims, '#seen_ms', exact(now), '#set_back', exact(seen) .. ' ' .. exact(now))
return { back, 0 }
