// The work of one task type in the embedded live store, and the operations that several files share: checking leases, releasing
// slots, taking back expired leases, making cards due, and questions of work-queue.ts about all work. Used by work-queue.ts,
// claim.ts and rings.ts.
import type { PauseSource } from '../../../domain/limits/operator-limits.ts';
import {
  type CardPlace,
  CLOCK_STEP_MS,
  type LimitRecord,
  ORDERS_WAIT_MS,
  type Pause,
  pollsShare,
  type Slot,
  type WorkItem,
} from '../../ports/live/work-queue.ts';
import { ScoreSet } from './score-set.ts';

export class WorkState {
  /** Card id -> when it is due (whole ms), or the token of a running claim (never whole). */
  readonly queue = new ScoreSet<number>();
  /** Failing card id -> when it is due for a retry (whole ms). */
  readonly retry = new ScoreSet<number>();
  /** The manual list, from its head to its tail. */
  manual: string[] = [];
  readonly manualLeases = new ScoreSet<string>();
  /** Slot member (see slotOf) -> token. */
  readonly slots = new ScoreSet<string>();
  /** The slots that retries hold, with their tokens. */
  readonly retrySlots = new ScoreSet<string>();
  /** Card id -> failures in a row. */
  readonly failures = new Map<number, number>();
  readonly lastClaims = new Map<string, { claimNumber: number; token: number; items: readonly WorkItem[] }>();
  /** Called soon after work was added. */
  readonly listeners = new Set<() => void>();
  /** Limits and pauses of record were put into force. */
  isInForce = false;
  /** Time of the first attempt to put them into force. */
  firstPutAtMs: number | null = null;
  limit: number | null = null;
  /** The limit in force while the leader has lowered the configured one; null otherwise. */
  effectiveLimit: number | null = null;
  limitRecord: LimitRecord | null = null;
  readonly pauses = new Map<PauseSource, Pause>();
  claims = 0;
  /** Until this time claims of polls leave slots for orders. */
  ordersUntilMs = 0;
  /** When work other than retries was last claimed. */
  otherAtMs = 0;
  /** When work was last claimed for the trickle of calls to a dead interface. */
  trickledAtMs = 0;
  /** The fraction of a slot that retries may hold; see claim.ts. */
  retryCredit: { asOfMs: number; slotMs: number; extraHeld: boolean } | null = null;
  /** The time of the last call of followClock. */
  #seenMs: number | null = null;
  /** The last step back of the clock, until leases from before it are taken back; null without one. */
  #clockStep: { readonly beforeMs: number; readonly noticedMs: number } | null = null;

  /** Maximum number of slots: 0 without a recorded limit. */
  get claimable(): number {
    return this.isInForce ? Math.min(this.limit ?? 0, this.effectiveLimit ?? Number.POSITIVE_INFINITY) : 0;
  }

  /** The number of free slots that are left for orders. */
  leftForOrders(free: number, nowMs: number): number {
    const waitMs = this.ordersUntilMs - nowMs;
    return waitMs > 0 && waitMs <= ORDERS_WAIT_MS ? free - pollsShare(free, nowMs) : 0;
  }

  leaseOf(item: WorkItem): number | undefined {
    return item.lane === 'manual' ? this.manualLeases.scoreOf(item.member) : this.queue.scoreOf(item.cardId);
  }

  releaseSlot(item: Slot): void {
    const slot = slotOf(item);
    if (this.slots.scoreOf(slot) !== Number(item.token)) return;
    this.slots.delete(slot);
    this.retrySlots.delete(slot);
  }

  holdSlot(item: Slot): void {
    const slots = item.lane === 'retry' ? [this.slots, this.retrySlots] : [this.slots];
    for (const set of slots) set.set(slotOf(item), Number(item.token));
  }

  /** Renews the lease of the item, if the item's token is still current. */
  renew(item: WorkItem, byMs: number): void {
    const token = Number(item.token);
    if (this.leaseOf(item) !== token) return;
    if (item.lane === 'manual') this.manualLeases.set(item.member, token + byMs);
    else this.queue.set(item.cardId, token + byMs);
  }

  /** Takes back expired slots and manual entries. @returns the number of slots. */
  takeBackExpired(nowMs: number): number {
    this.retrySlots.takeUpTo(nowMs);
    this.returnManual(this.manualLeases.takeUpTo(nowMs).map(({ member }) => member));
    return this.slots.takeUpTo(nowMs).length;
  }

  /** Puts entries back at the head of the manual list, the first of them at its very head. */
  returnManual(entries: readonly string[]): void {
    if (entries.length > 0) this.manual = [...entries, ...this.manual];
  }

  pausesInForce(nowMs: number): Pause[] {
    return [...this.pauses.values()].filter((pause) => pause.untilMs > nowMs);
  }

  /** @returns milliseconds until the last pause ends. */
  pauseLeft(nowMs: number): number {
    return Math.max(0, ...this.pausesInForce(nowMs).map((pause) => pause.untilMs - nowMs));
  }

  /**
   * Makes cards due: failing cards in the retry lane, all others in the queue, unless a card is there already or runs.
   * @returns the number of cards that were new.
   */
  makeDue(cardIds: Iterable<number>, dueMs: number, retryCap: number): number {
    let moved = 0;
    for (const cardId of cardIds) {
      if (!this.failures.has(cardId)) {
        if (this.queue.addNew(cardId, dueMs)) moved += 1;
      } else if (this.retry.size < retryCap && this.queue.scoreOf(cardId) === undefined) {
        if (this.retry.addNew(cardId, dueMs)) moved += 1;
      }
    }
    if (moved > 0) this.wakeListeners();
    return moved;
  }

  /** Finds one card, by the rules of src/store/redis/work/work-place.lua. */
  placeOf(cardId: number, manualEntries: readonly string[], nowMs: number): CardPlace {
    const score = this.queue.scoreOf(cardId);
    const leased = score !== undefined && isLeased(score, nowMs);
    const retryAtMs = this.retry.scoreOf(cardId);
    const waiting = this.manual.findIndex((entry) => manualEntries.includes(entry));
    return {
      queued: score === undefined || leased ? null : { dueAtMs: score, before: this.queue.countBelow(score) },
      running: leased
        ? { leaseEndsAtMs: Math.floor(score), calling: this.slots.scoreOf(String(cardId)) === score }
        : null,
      retry: retryAtMs === undefined ? null : { atMs: retryAtMs, before: this.retry.countBelow(retryAtMs) },
      failuresInARow: this.failures.get(cardId) ?? 0,
      manual: {
        waiting: waiting < 0 ? null : { before: waiting },
        running: manualEntries.some((entry) => (this.manualLeases.scoreOf(entry) ?? 0) > nowMs),
      },
    };
  }

  /**
   * Adjusts the work when the clock was set back, by the rules of src/store/redis/work/work-follow-clock.lua, which explains
   * them. @returns by how many milliseconds the clock was set back; 0 if it was not.
   */
  followClock(leaseMs: number, nowMs: number): number {
    const clockStep = this.#clockStep;
    if (clockStep !== null && Math.abs(nowMs - clockStep.noticedMs) >= leaseMs) {
      this.#clockStep = null;
      if (clockStep.beforeMs > nowMs + leaseMs) this.#takeBackFrom(clockStep.beforeMs, nowMs);
    }
    const seenMs = this.#seenMs ?? nowMs;
    const backMs = seenMs - nowMs;
    this.#seenMs = nowMs;
    if (backMs < CLOCK_STEP_MS) return 0;
    moveWaiting(this.queue, nowMs, (score) => Math.min(nowMs, score - backMs));
    moveWaiting(this.retry, nowMs, (score) => score - backMs);
    for (const pause of this.pausesInForce(nowMs)) {
      const { source, sinceMs, untilMs } = pause;
      this.pauses.set(source, { ...pause, sinceMs: sinceMs - backMs, untilMs: untilMs - backMs });
    }
    [this.otherAtMs, this.trickledAtMs, this.retryCredit] = [0, 0, null];
    this.#clockStep = { beforeMs: seenMs, noticedMs: nowMs };
    return backMs;
  }

  #takeBackFrom(afterMs: number, nowMs: number): void {
    this.slots.takeAbove(afterMs);
    this.retrySlots.takeAbove(afterMs);
    this.returnManual(this.manualLeases.takeAbove(afterMs).map(({ member }) => member));
    for (const { member } of this.queue.takeAbove(afterMs)) this.queue.set(member, nowMs);
  }

  /** Calls the listeners in another turn of the event loop, like a message from Redis. */
  wakeListeners(): void {
    for (const listener of this.listeners) setImmediate(listener);
  }
}

/** Only tokens have a fraction. */
function isLeased(score: number, nowMs: number): boolean {
  return !Number.isInteger(score) && score > nowMs;
}

/** Changes the times of cards that are not due yet, but no tokens, which have a fraction. */
function moveWaiting(cards: ScoreSet<number>, nowMs: number, movedTo: (score: number) => number): void {
  for (const { member, score } of cards.takeAbove(nowMs)) {
    cards.set(member, Number.isInteger(score) ? movedTo(score) : score);
  }
}

export function slotOf({ lane, member, token }: Slot): string {
  if (lane === 'order') return `o${member}@${token}`;
  return lane === 'manual' ? `m${member}` : member;
}

export function manualEntryOf(slot: string): string | null {
  return slot.startsWith('m') ? slot.slice(1) : null;
}
