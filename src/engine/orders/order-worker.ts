// Takes orders to stop and to resume cards, and has order-calls.ts carry them out. Each polling instance has one. All share the
// queue of orders in the record store, and the limit of task type package, which counts the calls of orders.
//
// Waiting happens in this process: while an order waits, no further one is taken, so at a slow rate the calls of one order stay
// together. An order that is lost with the process is taken again when its lease has expired.
import type { Offers } from '../../domain/gateway-interface.ts';
import type { ConfigMatcher } from '../../domain/schedule/polling-config.ts';
import type { StopRules } from '../../domain/stops/stop.ts';
import { type FlowControl, type Gateway, GatewayError, type Pass } from '../../gateway/gateway.ts';
import { messageOf } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import { type LoopDeps, LoopService } from '../../platform/loop.ts';
import type { Slot, WorkQueue } from '../../store/ports/live/work-queue.ts';
import type { Order, OrderRecords, OrderTurn } from '../../store/ports/records/order-records.ts';
import type { Gather, OrderCalls } from './order-calls.ts';
import { isStoppable } from './wanted-stops.ts';

/** Maximum number of orders in progress. */
const AT_ONCE = 200;
/** Rest when nothing is due. A new order on this instance ends it. */
const IDLE_REST_MS = 500;
/** Rest while polls hold the slots, or orders wait for calls. */
const FULL_REST_MS = 25;
/** Rest while package is paused, or the gateway offers no such calls. */
const HELD_REST_MS = 250;
/** Pause after a failed call before the next order of the same kind. */
const TRY_AGAIN_MS = 1_000;
/** A new mode, pause or limit takes effect within a second, also for an order that waits. */
const LONG_WAIT_MS = 1_000;
/** Together about as long as the pass of a call is valid. */
const SLOT_ATTEMPTS = 20;
/** Interval between renewals of the slots of its calls. */
const KEEP_SLOTS_EVERY_MS = 500;

export interface OrderWorkerDeps extends LoopDeps {
  readonly calls: Pick<OrderCalls, 'carryOut'>;
  readonly live: { readonly work: Pick<WorkQueue, 'claimSlots' | 'release' | 'hold'> };
  readonly records: { readonly orders: Pick<OrderRecords, 'due' | 'take'> };
  readonly gateway: Pick<Gateway, 'gather'> & Pick<FlowControl, 'permit' | 'giveBack'>;
  readonly offers: Offers;
  readonly matcher: () => ConfigMatcher;
  readonly stopRules: () => StopRules;
  /** True when rate limits count the calls: orders are then taken one by one. */
  readonly isPaced: boolean;
  readonly leaseMs: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
}

/** An order in progress, with its slot. */
interface Running {
  readonly order: Order;
  slot: Slot;
  /** When the slot was claimed, by the monotonic clock. */
  slotAt: number;
}

export class OrderWorker extends LoopService<OrderWorkerDeps> {
  readonly name = 'order-worker';
  readonly #running = new Map<number, Running>();
  /** Orders that wait for a permission or resource. */
  #waiting = 0;
  #ending = new AbortController();
  #slotsKeptAt = Number.NEGATIVE_INFINITY;
  /** New orders arrived since the current pass began. */
  #isNoticed = false;
  /**
   * Kinds whose last call failed for a reason other than its card -> when one order of the kind is retried, by the monotonic
   * clock.
   */
  readonly #failing = new Map<Order['kind'], number>();
  #onIdle = () => {};

  /** Number of orders in progress. */
  get inFlight(): number {
    return this.#running.size;
  }

  override async start(): Promise<void> {
    if (this.#ending.signal.aborted) this.#ending = new AbortController();
    await super.start();
  }

  /** Call this when orders were created: they are taken at once. */
  notice(): void {
    this.#isNoticed = true;
    this.wake();
  }

  async runOnce(): Promise<number> {
    this.#isNoticed = false;
    await this.#keepSlots();
    if (this.#waiting > 0) return FULL_REST_MS;
    const turn = this.#turn();
    if (turn === null) return HELD_REST_MS;
    const { records, live, gateway, leaseMs, clock } = this.deps;
    const due = await records.orders.due(turn);
    if (due === 0) {
      // Without an order, a poll may make the trial call to a dead interface.
      if (turn.trickle) gateway.giveBack('card_status');
      return this.#idleRest();
    }
    const slotAt = clock.monotonic();
    const { slots, inForce, pausedMs } = await live.work.claimSlots('package', due, leaseMs, turn.trickle);
    if (!inForce || pausedMs > 0) return HELD_REST_MS;
    if (slots.length === 0) return FULL_REST_MS;
    const orders = await this.#take({ ...turn, most: slots.length }).catch(async (error: unknown) => {
      await live.work.release('package', slots);
      throw error;
    });
    const free = [...slots];
    for (const order of orders) {
      const slot = free.pop();
      if (slot !== undefined) void this.#run({ order, slot, slotAt });
    }
    if (free.length > 0) await live.work.release('package', free);
    return orders.length < slots.length ? FULL_REST_MS : 0;
  }

  /** Takes no more orders, and waits for the calls in flight. */
  override async stop(): Promise<void> {
    this.#ending.abort();
    await super.stop();
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      if (this.inFlight === 0) resolve();
    });
  }

  /** The orders that may be taken now; null: none. */
  #turn() {
    const { gateway, offers, stopRules, isPaced, clock } = this.deps;
    const now = clock.monotonic();
    const may = (kind: Order['kind']) => (this.#failing.get(kind) ?? now) <= now;
    const [stops, resumes] = [offers('stop') && may('stop'), offers('start') && may('resume')];
    const room = AT_ONCE - this.inFlight;
    if (room < 1 || !offers('card_status') || !(stops || resumes)) return null;
    const isCareful = isPaced || this.#failing.size > 0;
    const { calls, trickle } = gateway.permit('card_status', this.inFlight);
    const most = Math.min(isCareful ? 1 : room, calls);
    return most < 1 ? null : { most, stops, resumes, mode: stopRules().mode, trickle };
  }

  #idleRest(): number {
    if (this.#isNoticed) return 0;
    return this.inFlight > 0 ? KEEP_SLOTS_EVERY_MS : IDLE_REST_MS;
  }

  /** A stop ordered by a reading waits while no enabled config polls its card. */
  async #take(turn: Omit<OrderTurn, 'resumesFirst'>): Promise<readonly Order[]> {
    const { records, leaseMs, matcher, random } = this.deps;
    const resumesFirst = Math.floor(turn.most / 10 + random());
    const taken = await records.orders.take({ ...turn, resumesFirst }, leaseMs);
    const isPolled = isStoppable(matcher());
    return taken.filter(
      (order) => !this.#running.has(order.cardId) && (order.isOperators || isPolled(order)),
    );
  }

  async #run(running: Running): Promise<void> {
    const { cardId, kind } = running.order;
    this.#running.set(cardId, running);
    try {
      await this.deps.calls.carryOut(running.order, this.#gatherFor(running));
      this.#failing.delete(kind);
    } catch (error) {
      if (!this.#ending.signal.aborted) this.#noteFailure(running.order, error);
    } finally {
      this.#running.delete(cardId);
      // A slot that cannot be returned expires.
      await this.deps.live.work
        .release('package', [running.slot])
        .catch((error) => this.deps.onError(error, 0));
      if (this.inFlight === 0) this.#onIdle();
      this.wake();
    }
  }

  /** After a failure that is not the card's fault, one order of the kind at a time is tried, until one succeeds. */
  #noteFailure({ cardId, iccid, kind }: Order, error: unknown): void {
    const reason = messageOf(error);
    this.deps.log.warn({ card_id: cardId, iccid, order: kind, reason }, 'order failed');
    const known = error instanceof GatewayError ? error : null;
    if (known?.isCardFault) return;
    const waitMs = Math.max(TRY_AGAIN_MS, known?.details.retryAfterMs ?? 0);
    this.#failing.set(kind, this.deps.clock.monotonic() + waitMs);
  }

  #gatherFor(running: Running): Gather {
    let isFirst = true;
    return async (name) => {
      const participant = isFirst ? 'order' : 'follow_up';
      isFirst = false;
      this.#waiting += 1;
      const askedAt = this.deps.clock.monotonic();
      let pass: Pass;
      try {
        const { signal } = this.#ending;
        pass = await this.deps.gateway.gather(name, Number.POSITIVE_INFINITY, { signal, participant });
      } finally {
        this.#waiting -= 1;
        this.wake();
      }
      try {
        await this.#holdSlot(running, askedAt);
      } catch (error) {
        pass.giveBack();
        throw error;
      }
      return pass;
    };
  }

  /**
   * Keeps the slot valid during the call. A call lasts at most half a lease, so a slot that would expire earlier is exchanged. A
   * slot is also exchanged after a long wait: package may have been paused since, or its limit lowered.
   */
  async #holdSlot(running: Running, askedAt: number): Promise<void> {
    const { live, leaseMs, clock } = this.deps;
    const now = clock.monotonic();
    if (now - running.slotAt < leaseMs / 2 && now - askedAt < LONG_WAIT_MS) return;
    await live.work.release('package', [running.slot]);
    for (let attempt = 0; attempt < SLOT_ATTEMPTS; attempt += 1) {
      const slotAt = clock.monotonic();
      const { slots, pausedMs } = await live.work.claimSlots('package', 1, leaseMs, false);
      const [slot] = slots;
      if (slot !== undefined) return void Object.assign(running, { slot, slotAt });
      if (pausedMs > 0) throw new GatewayError('held', 'package is paused');
      await clock.sleep(FULL_REST_MS);
    }
    throw new GatewayError('held', 'no slot under the limit of package is free');
  }

  /** Renews the slots, so that the limits of a new life of the live store count the calls in flight from before. */
  async #keepSlots(): Promise<void> {
    const { live, clock } = this.deps;
    if (this.inFlight === 0 || clock.monotonic() - this.#slotsKeptAt < KEEP_SLOTS_EVERY_MS) return;
    await live.work.hold(
      'package',
      [...this.#running.values()].map(({ slot }) => slot),
    );
    this.#slotsKeptAt = clock.monotonic();
  }
}
