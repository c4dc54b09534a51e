-- Claims due work for a worker.
-- KEYS: 1 queue, 2 manual list, 3 manual leases, 4 running count, 5 limit, 6 slots, 7 claims, 8 pause
-- ARGV: 1 worker id, 2 claim number, 3 most items wanted, 4 lease (ms), 5 limit where none is configured
-- Returns: {free slots, pause left (ms), token, number of manual entries, manual entries and card ids ...}
-- Atomic because limit, slots, queue and manual list must be judged and changed together: two workers claiming at
-- once must neither exceed the limit nor get the same card.
--
-- A token is the lease's expiry (ms) plus k/4096, k from 1 to 4095 in turn: an exact double that no other claim with
-- the same expiry has, and that no due time (whole ms) can equal.
local queue, manual, leases, slots = KEYS[1], KEYS[2], KEYS[3], KEYS[6]
local now = now_ms()
take_back_expired(slots, leases, manual, now)
local limit = tonumber(redis.call('GET', KEYS[5]) or '') or tonumber(ARGV[5])
local paused = math.max(0, redis.call('PTTL', KEYS[8]))

-- The same claim again: what still carries its token.
local last = redis.call('HGET', KEYS[7], ARGV[1])
if last then
  local number, token = string.match(last, '^(%S+) (%S+)$')
  if number == ARGV[2] and tonumber(token) > now then
    local held = redis.call('ZRANGEBYSCORE', leases, token, token)
    local reply = { 0, paused, token, #held, unpack(held) }
    for _, card in ipairs(redis.call('ZRANGEBYSCORE', queue, token, token)) do
      reply[#reply + 1] = card
    end
    reply[1] = math.max(0, limit - write_running(KEYS[4], slots, now))
    return reply
  end
end

local free = limit - redis.call('ZCARD', slots)
local take = math.min(tonumber(ARGV[3]), free)
if take <= 0 or paused > 0 then
  write_running(KEYS[4], slots, now)
  return { math.max(0, free), paused, '', 0 }
end

local waiting = redis.call('LLEN', manual)
local due = redis.call('ZCOUNT', queue, '-inf', now)
if waiting == 0 and due == 0 then
  write_running(KEYS[4], slots, now)
  return { free, 0, '', 0 }
end

local sequence = redis.call('HINCRBY', KEYS[7], '#', 1)
local token = exact(now + tonumber(ARGV[4]) + (1 + sequence % 4095) / 4096)
local reply, slot_pairs = { 0, 0, token, 0 }, {}

-- Half for each lane while both have work; the odd item goes to either in turn. What one lane leaves the other takes.
local manual_take = math.min(waiting, math.max(math.floor((take + sequence % 2) / 2), take - due))
if manual_take > 0 then
  local entries, repeated, lease_pairs, taken = {}, {}, {}, {}
  for from = 1, manual_take, CHUNK do
    for _, entry in ipairs(redis.call('LPOP', manual, math.min(CHUNK, manual_take - from + 1))) do
      entries[#entries + 1] = entry
    end
  end
  local leased = scores_of(leases, entries)
  for i, entry in ipairs(entries) do
    -- An entry that is running already (triggered twice) waits at the tail for its turn.
    if leased[i] or taken[entry] then
      repeated[#repeated + 1] = entry
    else
      taken[entry] = true
      lease_pairs[#lease_pairs + 1] = token
      lease_pairs[#lease_pairs + 1] = entry
      slot_pairs[#slot_pairs + 1] = token
      slot_pairs[#slot_pairs + 1] = 'm' .. entry
      reply[#reply + 1] = entry
    end
  end
  call_chunked('ZADD', leases, lease_pairs)
  call_chunked('RPUSH', manual, repeated)
  reply[4] = #reply - 4
end

local cards = redis.call('ZRANGEBYSCORE', queue, '-inf', now, 'LIMIT', 0, take - reply[4])
local queue_pairs = {}
for _, card in ipairs(cards) do
  queue_pairs[#queue_pairs + 1] = token
  queue_pairs[#queue_pairs + 1] = card
  slot_pairs[#slot_pairs + 1] = token
  slot_pairs[#slot_pairs + 1] = card
  reply[#reply + 1] = card
end
call_chunked('ZADD', queue, queue_pairs)
call_chunked('ZADD', slots, slot_pairs)
redis.call('HSET', KEYS[7], ARGV[1], ARGV[2] .. ' ' .. token)
reply[1] = math.max(0, limit - write_running(KEYS[4], slots, now))
return reply
