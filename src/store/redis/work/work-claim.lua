-- Claims due work for a worker.
-- KEYS: 1 queue, 2 manual, 3 manualLeases, 4 runningCount, 5 limit, 6 slots, 7 claims, 8 pauses, 9 retry, 10 retrySlots,
--       11 effectiveLimit, 12 inForce
-- ARGV: 1 instance id, 2 claim number, 3 most items wanted, 4 lease (ms),
--       5 `1` when this is the trickle to a dead interface: nothing is claimed when another instance claimed for it within
--       the last second, unless others claim as usual; failing cards only where nothing else is due, then the members of
--       slots that are given back first
-- Returns (script-values.ts): in_force (0: limits and pauses of record are not in force, so nothing is claimed; else 1),
--           free_slots, paused_ms (what is left of a pause), token, manual_count, retry_count, members (manual entries,
--           retries, other cards), late (how late the last are (ms), how many of them, for the next of them ...; empty when the same claim is sent again)
-- Atomic because limit, slots, queue, retry lane and manual list must be judged and changed together: two workers
-- claiming at once must neither exceed the limit nor get the same card.
--
-- A token is the lease's expiry (ms) plus k/4096, k from 1 to 4095 in turn: an exact double that no other claim with
-- the same expiry has, and that no due time (whole ms) can equal.
local queue, manual, leases, slots, retry, retry_slots = KEYS[1], KEYS[2], KEYS[3], KEYS[6], KEYS[9], KEYS[10]
local now = now_ms()
release_slots(slots, retry_slots, { unpack(ARGV, 6) })
-- Without these there are only cards of the schedule, and a third of the commands can be skipped.
local has_others = redis.call('EXISTS', manual, leases, retry, retry_slots) > 0
if has_others then
  take_back_expired(slots, retry_slots, leases, manual, now)
else
  redis.call('ZREMRANGEBYSCORE', slots, '-inf', now)
end
local limit, in_force = limit_in_force(KEYS[5], KEYS[11], KEYS[12])
local paused_ms = pause_left(KEYS[8], now)
local known = redis.call('HMGET', KEYS[7], ARGV[1], '#other_at', '#retry_credit', '#trickle_at', '#', '#orders_until')
local trickle = ARGV[5] == '1'
-- Slots left for waiting orders (work-claim-slots.lua).
local left_for_orders = 0

local function answer(token, entries, retries, cards, late)
  local members = cards
  if #entries + #retries > 0 then
    members = {}
    for _, part in ipairs({ entries, retries, cards }) do
      for _, member in ipairs(part) do
        members[#members + 1] = member
      end
    end
  end
  local free_slots = math.max(0, limit - write_running(KEYS[4], slots, now) - left_for_orders)
  local manual_count, retry_count = #entries, #retries
  late = late or {}
  return { in_force, free_slots, paused_ms, token, manual_count, retry_count, members, late }
end

-- The same claim was sent again: return the entries that still have its token.
if known[1] then
  local number, token = string.match(known[1], '^(%S+) (%S+)')
  if number == ARGV[2] and tonumber(token) > now then
    local retries, cards, lane_of = {}, {}, {}
    for i, slot in ipairs(redis.call('ZRANGEBYSCORE', retry_slots, token, token)) do
      retries[i] = string.match(slot, '^(.*)@')
    end
    for _, card in ipairs(retries) do
      lane_of[card] = {}
    end
    for _, card in ipairs(redis.call('ZRANGEBYSCORE', queue, token, token)) do
      local lane = lane_of[card] or cards
      lane[#lane + 1] = card
    end
    return answer(token, redis.call('ZRANGEBYSCORE', leases, token, token), retries, cards)
  end
end

local slots_held = redis.call('ZCARD', slots)
local free = math.max(0, limit - slots_held)
local orders_wait_ms = tonumber(known[6] or 0) - now
if orders_wait_ms > 0 and orders_wait_ms <= ORDERS_WAIT_MS then
  left_for_orders = free - polls_share(free, now)
end
local take = math.min(tonumber(ARGV[3]), free - left_for_orders)
-- Either way round, so that a clock that was set back holds up no trickle.
local trickled = trickle and math.abs(now - tonumber(known[4] or 0)) < 1000 and now - tonumber(known[2] or 0) >= 1000
if take <= 0 or paused_ms > 0 or trickled then
  return answer('', {}, {}, {})
end

local waiting = has_others and redis.call('LLEN', manual) or 0
local due = redis.call('ZCOUNT', queue, '-inf', now)
local looks_at_retries = has_others and not (trickle and waiting + due > 0)
local retry_due = looks_at_retries and redis.call('ZCOUNT', retry, '-inf', now) or 0
local held = has_others and redis.call('ZCARD', retry_slots) or 0

-- "Other work" means work that is due or was claimed within the last second: if retries filled the slots between two
-- buckets of a ring, the next bucket would not find them free. While there is other work, retries may hold a tenth of
-- the limit. A fraction of a slot is granted as one more slot for that share of the time: a credit, in
-- slot-milliseconds, grows by the fraction and is spent while the extra slot is held, so that slow calls get no more
-- than quick ones. It is stored as "<as of> <credit> <1 while the extra slot is held>".
local whole, credit = math.floor(limit / 10), nil
local alone = waiting == 0 and due == 0 and now - tonumber(known[2] or 0) >= 1000
local retry_take = math.min(take, retry_due)
if not alone and (retry_due > 0 or held > 0 or known[3]) then
  local part = limit / 10 - whole
  if part > 0 then
    local as_of, before, extra = string.match(known[3] or '', '^(%S+) (%S+) (%S+)$')
    credit = tonumber(before or 0) + (now - tonumber(as_of or now)) * (part - tonumber(extra or 0))
    credit = math.max(-60000, math.min(1000, credit))
  end
  local allowed = whole + (credit and credit > 0 and 1 or 0)
  retry_take = math.max(0, math.min(retry_take, allowed - held))
end

-- Nothing competes with retries while there is no other work: the credit starts again.
local function note_credit(held_now)
  if credit then
    local note = exact(now) .. ' ' .. exact(credit) .. ' ' .. (held_now > whole and 1 or 0)
    redis.call('HSET', KEYS[7], '#retry_credit', note)
  elseif known[3] then
    redis.call('HDEL', KEYS[7], '#retry_credit')
  end
end

if waiting == 0 and due == 0 and retry_take == 0 then
  note_credit(held)
  return answer('', {}, {}, {})
end

local sequence = tonumber(known[5] or 0) + 1
local token = exact(now + tonumber(ARGV[4]) + (1 + sequence % 4095) / 4096)

-- A card that is in the retry lane and in the queue (a failover may have lost one of two writes) stays in the queue.
local retries, retry_pairs, retry_slot_pairs, slot_pairs = {}, {}, {}, {}
local function add_slot(list, work)
  list[#list + 1] = token
  list[#list + 1] = slot_of(work, token)
end
if retry_take > 0 then
  local first = redis.call('ZRANGEBYSCORE', retry, '-inf', now, 'LIMIT', 0, retry_take)
  call_chunked('ZREM', retry, first)
  for i, queued in ipairs(scores_of(queue, first)) do
    if not queued then
      retries[#retries + 1] = first[i]
      retry_pairs[#retry_pairs + 1] = token
      retry_pairs[#retry_pairs + 1] = first[i]
      add_slot(retry_slot_pairs, first[i])
      add_slot(slot_pairs, first[i])
    end
  end
end
call_chunked('ZADD', retry_slots, retry_slot_pairs)
take = take - #retries

-- Each lane gets half while both have work; they take turns with the odd item. One lane takes what the other leaves.
local manual_take = math.min(waiting, math.max(math.floor((take + sequence % 2) / 2), take - due))
local taken_entries = {}
if manual_take > 0 then
  local entries, repeated, lease_pairs, taken = {}, {}, {}, {}
  for from = 1, manual_take, CHUNK do
    for _, entry in ipairs(redis.call('LPOP', manual, math.min(CHUNK, manual_take - from + 1))) do
      entries[#entries + 1] = entry
    end
  end
  local leased = scores_of(leases, entries)
  for i, entry in ipairs(entries) do
    -- An entry that is already running (triggered twice) waits for its turn at the tail.
    if leased[i] or taken[entry] then
      repeated[#repeated + 1] = entry
    else
      taken[entry] = true
      lease_pairs[#lease_pairs + 1] = token
      lease_pairs[#lease_pairs + 1] = entry
      add_slot(slot_pairs, 'm' .. entry)
      taken_entries[#taken_entries + 1] = entry
    end
  end
  call_chunked('ZADD', leases, lease_pairs)
  call_chunked('RPUSH', manual, repeated)
end

take = take - #taken_entries
local cards = redis.call('ZRANGEBYSCORE', queue, '-inf', now, 'LIMIT', 0, take)

-- Called before the token replaces the due times. The due times are in order, and a bucket has one: each is read once,
-- because WITHSCORES writes a number as text for every card, which is more expensive than moving the card.
local late, queue_pairs = {}, {}
local first = 1
while first <= #cards do
  local due_at = redis.call('ZSCORE', queue, cards[first])
  local alike = math.min(redis.call('ZCOUNT', queue, due_at, due_at), #cards - first + 1)
  -- Release 0.3.0 gives urgent cards a time before all others.
  late[#late + 1] = tonumber(due_at) < 0 and 0 or math.max(0, now - tonumber(due_at))
  late[#late + 1] = alike
  first = first + alike
end
for _, card in ipairs(cards) do
  queue_pairs[#queue_pairs + 1] = token
  queue_pairs[#queue_pairs + 1] = card
  add_slot(slot_pairs, card)
end
call_chunked('ZADD', queue, queue_pairs)
call_chunked('ZADD', queue, retry_pairs)
-- Redis keeps a sorted set of at most 128 short members as a list, and adds a member by reading every score in it as text: a
-- hundred slots would cost more than the rest of the claim. With a long member it begins, and remains, a skip list.
local LONG = string.rep('-', 65)
if slots_held == 0 then
  redis.call('ZADD', slots, 0, LONG)
end
call_chunked('ZADD', slots, slot_pairs)
if slots_held == 0 then
  redis.call('ZREM', slots, LONG)
end
local noted = { ARGV[1], ARGV[2] .. ' ' .. token, '#', exact(sequence) }
if trickle or #taken_entries + #cards > 0 then
  noted[5], noted[6] = trickle and '#trickle_at' or '#other_at', exact(now)
end
redis.call('HSET', KEYS[7], unpack(noted))
note_credit(held + #retries)
return answer(token, taken_entries, retries, cards, late)
