// The gateway with flow control, as the engine sees it: workers ask how much they may claim, tasks call. Every call is timed,
// metered and reported to the throttle of its interface. The leader decides how much the whole fleet may use
// (engine/limits/concurrency-controller.ts). Opened by wiring around the client; one for each instance.

import {
  type CardsPerCall,
  INTERFACE_NAMES,
  type InterfaceName,
  perInterface,
  WHOLE_GATEWAY,
} from '../../domain/gateway-interface.ts';
import type { BreakerReport } from '../../domain/limits/breaker.ts';
import { TASK_TYPES, TASKS } from '../../domain/task-type.ts';
import { type Clock, withTimeout } from '../../platform/clock.ts';
import { messageOf } from '../../platform/errors.ts';
import type { Meter } from '../../platform/meter.ts';
import {
  type AccessWatch,
  type CalledCard,
  type FlowControl,
  type Gateway,
  type GatewayAccess,
  type GatewayAnswer,
  GatewayError,
  type GatherDeps,
  type Pass,
  type Permit,
  type UpstreamGateway,
} from '../gateway.ts';
import { CardBatch } from './card-batch.ts';
import { FaultWatch } from './fault-watch.ts';
import { Throttle, type ThrottleDeps } from './throttle.ts';

/** Interfaces of the first call of a poll: permitted before a card is claimed. Other interfaces are checked at the call. */
const POLLED: ReadonlySet<InterfaceName> = new Set(TASK_TYPES.map((taskType) => TASKS[taskType].interface));
/** A call is slow when it takes this many times the average of successful calls, and at least SLOW_AT_LEAST_MS. */
const SLOW_TIMES = 10;
const SLOW_AT_LEAST_MS = 500;
/** Weight of one success in the average. */
const LEARN_WEIGHT = 0.1;
/** Without a success for this long the gateway may be slow, not some of its cards. */
const SUCCEEDS_WITHIN_MS = 2_000;
const MAKE_ROOM_EVERY_MS = 50;
const LONGEST_HOLD_MS = 1_000;

/** A grant of the rate limits. */
export interface CallGrant {
  /** By the monotonic clock; the calls are sent by then. */
  readonly expiresAt: number;
  giveBack(calls: number): Promise<void>;
}

/** Grants the calls that follow a poll. */
export interface FollowUpPace {
  /** @returns null when no call was granted within the time, or before the signal aborted. */
  followUp(interfaceName: InterfaceName, withinMs: number, means: GatherDeps): Promise<CallGrant | null>;
  /** @returns the grant, or a new one if it has expired; null: none was available at once. */
  renewed(grant: CallGrant, interfaceName: InterfaceName): Promise<CallGrant | null>;
}

interface FlowControlDeps {
  readonly gateway: UpstreamGateway;
  readonly cardsPerCall: CardsPerCall;
  readonly meter: Pick<Meter, 'gatewayCall'>;
  /** Absent without a rate limit. */
  readonly pace?: FollowUpPace | null;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Called on every change of a throttle, for the log. */
  readonly onChange: (name: InterfaceName, ...change: Parameters<ThrottleDeps['onChange']>) => void;
}

/** Makes a call. @param seat the connection reserved for it. */
type Send<T> = (timeoutMs: number, seat?: Pass) => Promise<T>;

/** This instance's calls to one interface. */
class Calls {
  inFlight = 0;
  /** Average duration of the successful calls; null before the first. */
  typicalMs: number | null = null;
  succeededAt = Number.NEGATIVE_INFINITY;
  madeRoomAt = Number.NEGATIVE_INFINITY;

  /** @param batch null: each call is for one card. */
  constructor(
    readonly throttle: Throttle,
    readonly batch: CardBatch | null,
  ) {}
}

export class FlowControlledGateway implements Gateway, FlowControl, AccessWatch {
  readonly #calls: Readonly<Record<InterfaceName, Calls>>;
  readonly #faults: FaultWatch;

  constructor(private readonly deps: FlowControlDeps) {
    const { clock, random, onChange } = deps;
    this.#faults = new FaultWatch(clock);
    this.#calls = perInterface((name) => {
      const throttle = new Throttle({ clock, random, onChange: (...change) => onChange(name, ...change) });
      return new Calls(throttle, this.#batchOf(name));
    });
  }

  call(
    interfaceName: InterfaceName,
    card: CalledCard,
    timeoutMs: number,
    pass?: Pass,
  ): Promise<GatewayAnswer> {
    const { batch } = this.#calls[interfaceName];
    if (batch !== null) return batch.call(card, timeoutMs, pass);
    const { gateway } = this.deps;
    const send: Send<GatewayAnswer> = (leftMs, seat) => gateway.call(interfaceName, card, leftMs, seat);
    return this.#make(interfaceName, send, timeoutMs, pass);
  }

  /** The rate limits come first: their wait is the longest. The grant may expire soon. */
  async gather(interfaceName: InterfaceName, withinMs: number, means: GatherDeps = {}): Promise<Pass> {
    const { gateway, pace, clock } = this.deps;
    const calls = this.#calls[interfaceName];
    const until = clock.monotonic() + withinMs;
    for (;;) {
      const grant = pace ? await this.#granted(pace, interfaceName, until, means) : null;
      const seatBy = Math.min(until, grant?.expiresAt ?? until);
      const seat = await gateway.gather(interfaceName, seatBy - clock.monotonic(), means).catch((error) => {
        void grant?.giveBack(1);
        if (clock.monotonic() >= until || means.signal?.aborted === true) throw error;
        return null;
      });
      if (seat === null) continue;
      const pass = new FlowPass(seat, grant, calls);
      if (POLLED.has(interfaceName) || calls.throttle.permit(calls.inFlight - 1).calls >= 1) return pass;
      pass.giveBack();
      throw held(interfaceName, `calls to ${interfaceName} are held back: ${calls.throttle.why}`);
    }
  }

  /** Makes one call, for one card or for a batch. */
  async #make<T>(interfaceName: InterfaceName, send: Send<T>, timeoutMs: number, given?: Pass): Promise<T> {
    const { meter, clock } = this.deps;
    const calls = this.#calls[interfaceName];
    const startedAt = clock.monotonic();
    const pass = given instanceof FlowPass && given.use() ? given : null;
    if (pass === null) calls.inFlight += 1;
    try {
      if (pass !== null) await this.#renew(pass, interfaceName);
      const answer = await send(timeoutMs - (clock.monotonic() - startedAt), pass?.seat);
      this.#noteSuccess(calls, startedAt);
      meter.gatewayCall(interfaceName, 'succeeded', calls.succeededAt - startedAt);
      return answer;
    } catch (error) {
      const known = error instanceof GatewayError ? error : null;
      if (known !== null) {
        calls.throttle.record(known);
        this.#faults.note(known);
      }
      const tookMs = clock.monotonic() - startedAt;
      if (known?.isUntried !== true) meter.gatewayCall(interfaceName, 'failed', tookMs);
      if (known?.failure === 'backpressure') await this.#hold(calls, tookMs);
      throw error;
    } finally {
      pass?.seat.giveBack();
      calls.inFlight -= 1;
    }
  }

  #batchOf(interfaceName: InterfaceName): CardBatch | null {
    const { gateway, cardsPerCall, clock } = this.deps;
    const size = cardsPerCall(interfaceName);
    if (size === 1) return null;
    return new CardBatch(size, clock, {
      gather: (withinMs) => this.gather(interfaceName, withinMs),
      send: (cards, timeoutMs, pass) =>
        this.#make(
          interfaceName,
          (leftMs, seat) => gateway.callBatch(interfaceName, cards, leftMs, seat),
          timeoutMs,
          pass,
        ),
    });
  }

  permit(interfaceName: InterfaceName, inFlight: number): Permit {
    return this.#calls[interfaceName].throttle.permit(inFlight);
  }

  giveBack(interfaceName: InterfaceName): void {
    this.#calls[interfaceName].throttle.giveBack();
  }

  refusesAll(interfaceName: InterfaceName): boolean {
    return this.#calls[interfaceName].throttle.refusesAll;
  }

  /** Ends no call while nothing succeeds: then the gateway is slow, not some cards. */
  makeRoom(interfaceName: InterfaceName): void {
    const calls = this.#calls[interfaceName];
    const now = this.deps.clock.monotonic();
    if (calls.typicalMs === null || now - calls.succeededAt > SUCCEEDS_WITHIN_MS) return;
    if (now - calls.madeRoomAt < MAKE_ROOM_EVERY_MS) return;
    calls.madeRoomAt = now;
    this.deps.gateway.endSlowCalls(interfaceName, Math.max(SLOW_AT_LEAST_MS, SLOW_TIMES * calls.typicalMs));
  }

  ready(): Promise<void> {
    return this.deps.gateway.ready();
  }

  isStoppedStatus(cardStatus: string): boolean {
    return this.deps.gateway.isStoppedStatus(cardStatus);
  }

  /** If all interfaces in use fail to connect or to authenticate, that is one problem of the gateway, reported once. */
  breakers(): BreakerReport[] {
    const reports = INTERFACE_NAMES.map((name) => this.#calls[name].throttle.report(name)).filter(
      ({ state }) => state !== 'closed',
    );
    const used = Object.values(this.#calls).filter(({ throttle }) => throttle.isUsed);
    const [open] = reports.filter(({ state }) => state === 'open');
    const isDown = used.every(
      ({ throttle }) => throttle.state === 'open' && throttle.lastFailure?.isGatewayWide,
    );
    return open !== undefined && isDown ? [{ ...open, interface: WHOLE_GATEWAY }] : reports;
  }

  access(): GatewayAccess {
    return { fault: this.#faults.present, certificateEndsMs: this.deps.gateway.certificateEndsMs ?? null };
  }

  /** If the store does not answer, the call is not made either: it was certainly not sent. */
  async #granted(
    pace: FollowUpPace,
    interfaceName: InterfaceName,
    until: number,
    means: GatherDeps,
  ): Promise<CallGrant> {
    const { gateway, clock } = this.deps;
    const leftMs = () => until - clock.monotonic();
    await withTimeout(Math.min(LONGEST_HOLD_MS, leftMs()), gateway.ready(), clock);
    const granted = await pace.followUp(interfaceName, leftMs(), means).catch((cause: unknown) => {
      throw held(interfaceName, `no call to ${interfaceName} was granted: ${messageOf(cause)}`, cause);
    });
    if (granted !== null) return granted;
    throw held(interfaceName, `the rate limits allowed no call to ${interfaceName} in time`);
  }

  /** The claim outlived the grant, and a call with an old grant would come on top of later ones. */
  async #renew(pass: FlowPass, interfaceName: InterfaceName): Promise<void> {
    const { pace } = this.deps;
    if (!pace || pass.grant === null) return;
    if ((await pace.renewed(pass.grant, interfaceName).catch(() => null)) !== null) return;
    throw held(
      interfaceName,
      `the claim took too long, and the rate limits allowed no other call to ${interfaceName}`,
    );
  }

  #noteSuccess(calls: Calls, startedAt: number): void {
    calls.throttle.record(null);
    calls.succeededAt = this.deps.clock.monotonic();
    const tookMs = calls.succeededAt - startedAt;
    calls.typicalMs = (calls.typicalMs ?? tookMs) * (1 - LEARN_WEIGHT) + LEARN_WEIGHT * tookMs;
  }

  /**
   * Holds the slot of a refused call as long as a successful call would take. A refusal is fast, and a slot freed at once would
   * send the next call into the next refusal.
   */
  async #hold({ typicalMs }: Calls, tookMs: number): Promise<void> {
    const holdMs = Math.min(LONGEST_HOLD_MS, typicalMs ?? 0) - tookMs;
    if (holdMs > 0) await this.deps.clock.sleep(holdMs);
  }
}

/** A grant of the rate limits, a connection and a permit; counts as a call in flight. */
class FlowPass implements Pass {
  #isUsed = false;

  constructor(
    readonly seat: Pass,
    readonly grant: CallGrant | null,
    private readonly calls: Calls,
  ) {
    calls.inFlight += 1;
  }

  /** @returns false when it was used or returned before. */
  use(): boolean {
    const isFirst = !this.#isUsed;
    this.#isUsed = true;
    return isFirst;
  }

  giveBack(): void {
    if (!this.use()) return;
    this.seat.giveBack();
    void this.grant?.giveBack(1);
    this.calls.inFlight -= 1;
  }
}

/** The error of a call that is not made. */
const held = (interfaceName: InterfaceName, why: string, cause?: unknown) =>
  new GatewayError('held', why, { interfaceName, cause });
