// Claims in the embedded live store. The rules are those of src/store/redis/work/work-claim.lua, which explains them. Used by
// work-queue.ts.
import { cardIdOf } from '../../../domain/manual-trigger.ts';
import type { Claim, ClaimRequest, Lane, WorkItem } from '../../ports/live/work-queue.ts';
import { slotOf, type WorkState } from './work-state.ts';

/** Other work counts for this long after it was claimed. */
const OTHER_WORK_MS = 1_000;
const MIN_CREDIT_SLOT_MS = -60_000;
const MAX_CREDIT_SLOT_MS = 1_000;
export const TRICKLE_EVERY_MS = 1_000;

type NewClaim = Pick<Claim, 'items' | 'lateMs'>;

const NOTHING: NewClaim = { items: [], lateMs: [] };

export function claimNew(state: WorkState, request: ClaimRequest, limit: number, nowMs: number): NewClaim {
  const { max, trickle = false } = request;
  const free = Math.max(0, limit - state.slots.size);
  const take = Math.min(max, free - state.leftForOrders(free, nowMs));
  if (take <= 0 || (trickle && hasTrickled(state, nowMs))) return NOTHING;
  const due = state.queue.countUpTo(nowMs);
  const others = due + state.manual.length;
  const retryTake = retriesToTake(state, { limit, take, others, trickle }, nowMs);
  if (others === 0 && retryTake === 0) {
    noteExtraSlot(state, limit);
    return NOTHING;
  }
  state.claims += 1;
  // The same token as in Redis: an exact double that differs from every other claim and every due time.
  const token = nowMs + request.leaseMs + (1 + (state.claims % 4095)) / 4096;
  const items = claimRetries(state, retryTake, nowMs, token);
  const left = take - items.length;
  // Each lane gets half while both have work; they take turns with an odd item.
  const half = Math.floor((left + (state.claims % 2)) / 2);
  const manual = claimManual(state, Math.min(state.manual.length, Math.max(half, left - due)), token);
  const queued = left - manual.length;
  const leased = state.queue.takeUpTo(nowMs, queued);
  for (const { member } of leased) state.queue.set(member, token);
  const cards = leased.map(({ member }) => itemOf(member, 'schedule', token));
  if (trickle) state.trickledAtMs = nowMs;
  else if (manual.length + cards.length > 0) state.otherAtMs = nowMs;
  for (const item of items) state.retrySlots.set(slotOf(item), token);
  const claimed = [...manual, ...items, ...cards];
  for (const item of claimed) state.slots.set(slotOf(item), token);
  noteExtraSlot(state, limit);
  state.lastClaims.set(request.instanceId, { claimNumber: request.claimNumber, token, items: claimed });
  return { items: claimed, lateMs: leased.map(({ score }) => Math.max(0, nowMs - score)) };
}

/** True when another claim has taken this second's call to a dead interface, and no instance claims as usual. */
function hasTrickled({ trickledAtMs, otherAtMs }: WorkState, nowMs: number): boolean {
  return Math.abs(nowMs - trickledAtMs) < TRICKLE_EVERY_MS && nowMs - otherAtMs >= OTHER_WORK_MS;
}

/**
 * @returns how many retries this claim may take: while there is other work, a tenth of the slots on average over time.
 */
function retriesToTake(
  state: WorkState,
  { limit, take, others, trickle }: { limit: number; take: number; others: number; trickle: boolean },
  nowMs: number,
): number {
  const due = trickle && others > 0 ? 0 : state.retry.countUpTo(nowMs);
  if (others === 0 && nowMs - state.otherAtMs >= OTHER_WORK_MS) {
    state.retryCredit = null;
    return Math.min(take, due);
  }
  const held = state.retrySlots.size;
  const whole = Math.floor(limit / 10);
  const part = limit / 10 - whole;
  let share = whole;
  if (part > 0 && (due > 0 || held > 0 || state.retryCredit !== null)) {
    const before = state.retryCredit ?? { asOfMs: nowMs, slotMs: 0, extraHeld: false };
    const grown = before.slotMs + (nowMs - before.asOfMs) * (part - (before.extraHeld ? 1 : 0));
    const slotMs = Math.max(MIN_CREDIT_SLOT_MS, Math.min(MAX_CREDIT_SLOT_MS, grown));
    state.retryCredit = { asOfMs: nowMs, slotMs, extraHeld: held > whole };
    if (slotMs > 0) share += 1;
  }
  return Math.max(0, Math.min(take, due, share - held));
}

function noteExtraSlot(state: WorkState, limit: number): void {
  if (state.retryCredit !== null)
    state.retryCredit.extraHeld = state.retrySlots.size > Math.floor(limit / 10);
}

function claimRetries(state: WorkState, count: number, nowMs: number, token: number): WorkItem[] {
  const items: WorkItem[] = [];
  for (const { member: cardId } of state.retry.takeUpTo(nowMs, count)) {
    if (state.queue.addNew(cardId, token)) items.push(itemOf(cardId, 'retry', token));
  }
  return items;
}

function claimManual(state: WorkState, count: number, token: number): WorkItem[] {
  const items: WorkItem[] = [];
  for (const member of state.manual.splice(0, count)) {
    if (state.manualLeases.scoreOf(member) === undefined) {
      state.manualLeases.set(member, token);
      items.push({ cardId: cardIdOf(member), lane: 'manual', member, token: String(token) });
    } else {
      // The entry is already running (triggered twice), so it goes to the tail of the list.
      state.manual.push(member);
    }
  }
  return items;
}

function itemOf(cardId: number, lane: Lane, token: number): WorkItem {
  return { cardId, lane, member: String(cardId), token: String(token) };
}
