// The engine's port to the upstream gateway: one call for one card, and its errors. The client (call/client.ts) never retries:
// retries go through the queue.

import { type FaultKind, type GatewayFault, kindOfFailure } from '../domain/gateway-fault.ts';
import type { InterfaceName } from '../domain/gateway-interface.ts';
import type { BreakerReport } from '../domain/limits/breaker.ts';

/**
 * A call is sent within this time after its pass or not at all. Its claim follows the pass and is judged by the mode at that
 * moment. So mode observe is in force on every instance a second after it was set, also on an instance that was paused.
 */
export const PASS_GOOD_FOR_MS = 1_000;

export interface GatewayAnswer {
  /** The interface's field, type-checked: boolean, number >= 0 or string; null for interfaces without one. */
  readonly value: boolean | number | string | null;
  readonly durationMs: number;
  /**
   * How long the vendor's work on a call with an effect may take, according to the answer: on this call for stop and start; on
   * any call for card_status, in which case the card's state is unknown. Absent: the answer reports no pending work.
   */
  readonly pendingForMs?: number;
}

export type GatewayFailure =
  | 'connect' // no connection was made (refused, no such host, TLS): the call was never sent
  | 'auth' // 401, 403, 419 or 440, or a code that means it: our credentials are not accepted
  | 'timeout'
  | 'network' // the connection broke during the call
  | 'http' // 5xx, 408 or an unexpected status: not this card's problem
  | 'backpressure' // 429 or 503, or a code that means it: `retryAfterMs` may be set
  | 'malformed' // not JSON, wrong types, body too large
  | 'card' // 4xx, or a code for an unknown card: this card's problem
  | 'business' // a code other than success: this card's problem
  | 'held' // not sent: the interface is dead and only a trickle passes, or no call or connection was free in time
  | 'no_vendor_id' // not sent: the profile names cards by vendor id, and this card has none
  | 'not_offered' // not sent: the profile does not offer the interface
  | 'aborted'; // the client was closed

/** Start of the message when no token could be obtained, by OAuth 2 or a login: the gateway itself may work. */
const NO_TOKEN = 'no token';

export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  constructor(
    readonly failure: GatewayFailure,
    message: string,
    readonly details: {
      readonly interfaceName?: InterfaceName;
      /** With failure `card`: the gateway does not know the card. */
      readonly isUnknownCard?: boolean;
      readonly retryAfterMs?: number;
      readonly durationMs?: number;
      readonly cause?: unknown;
      /** Details of the failure. */
      readonly kind?: FaultKind;
    } = {},
  ) {
    super(message, { cause: details.cause });
  }

  /** null: the failure is not the gateway's fault. */
  get kind(): FaultKind | null {
    if (this.message.startsWith(NO_TOKEN)) return 'login';
    return this.details.kind ?? kindOfFailure(this.failure);
  }

  /** True when the gateway works and this card is the problem. */
  get isCardFault(): boolean {
    return ['card', 'business', 'no_vendor_id'].includes(this.failure);
  }

  /** True when the gateway is the problem. */
  get isGatewayFault(): boolean {
    return !this.isCardFault && !this.isUntried && this.failure !== 'aborted';
  }

  /** True when no call was tried: it shows nothing about the gateway. */
  get isUntried(): boolean {
    return ['held', 'no_vendor_id', 'not_offered'].includes(this.failure);
  }

  /** True when all interfaces are likely to fail in the same way. */
  get isGatewayWide(): boolean {
    return this.failure === 'connect' || this.failure === 'auth';
  }

  /** True when the gateway certainly did not execute the call. */
  get isRefusal(): boolean {
    return this.isCardFault || this.isUntried || ['backpressure', 'auth', 'connect'].includes(this.failure);
  }
}

/** The card that a call is for. */
export interface CalledCard {
  readonly cardId: number;
  readonly iccid: string;
  readonly carrierId: number;
  /** Absent or null: no vendor id is known. */
  readonly vendorId?: string | null;
}

/** Everything a call that follows a poll needs to be sent at once. It is used for one call, or returned. */
export interface Pass {
  /** Has no effect on a used pass. */
  giveBack(): void;
}

export interface GatherDeps {
  readonly signal?: AbortSignal;
  /** Participant for the rate limits; absent: the call follows another one. */
  readonly participant?: 'order' | 'follow_up';
}

export interface Gateway {
  /**
   * Calls one interface for one card and logs the call (contract, "Logs").
   * @param timeoutMs deadline of this call; the configured timeout applies too.
   * @param pass for a call that follows a poll. Absent for the first call of a poll, which was granted before. If the call cannot
   * be sent within PASS_GOOD_FOR_MS of the pass, it is not made, and fails as `held`.
   * @throws GatewayError.
   */
  call(
    interfaceName: InterfaceName,
    card: CalledCard,
    timeoutMs: number,
    pass?: Pass,
  ): Promise<GatewayAnswer>;
  /**
   * Waits for everything that a call of an order, or a call that follows a poll, needs: a grant of the rate limits, a free
   * connection, the permit of flow control. A call with an effect gathers first, and claims its card then.
   * @param withinMs Infinity: without a limit, until the signal aborts.
   * @throws GatewayError `held`.
   */
  gather(interfaceName: InterfaceName, withinMs: number, means?: GatherDeps): Promise<Pass>;
  /** True for a cardStatus value that means stopped. */
  isStoppedStatus(cardStatus: string): boolean;
}

/** The gateway itself, without flow control. */
export interface UpstreamGateway extends Gateway {
  /**
   * Makes one call for several cards, and logs it for each of them. @returns the answer for each card, in the order of `cards`; a
   * single card may fail. @throws GatewayError when the call failed as a whole.
   */
  callBatch(
    interfaceName: InterfaceName,
    cards: readonly CalledCard[],
    timeoutMs: number,
    pass?: Pass,
  ): Promise<ReadonlyArray<GatewayAnswer | GatewayError>>;
  /** See FlowControl. */
  ready(): Promise<void>;
  /**
   * Ends calls of an interface that were sent more than `olderThanMs` ago, the oldest first, until at most a quarter of
   * the interface's calls in flight are as old. They fail as timeouts.
   */
  endSlowCalls(interfaceName: InterfaceName, olderThanMs: number): void;
  /** When the gateway's certificate expires, epoch milliseconds; null or absent: unknown. */
  readonly certificateEndsMs?: number | null;
}

/** An instance's report on whether its calls reach the gateway. */
export interface GatewayAccess {
  /** How calls fail now; null: calls reach the gateway, or none is made. */
  readonly fault: GatewayFault | null;
  readonly certificateEndsMs: number | null;
}

export interface AccessWatch {
  access(): GatewayAccess;
}

/** Permission for a worker to start polls now. */
export interface Permit {
  /** Number of polls that may be claimed; Infinity without a limit. */
  readonly calls: number;
  /** The interface is dead: the permit is for the one call per second that the whole fleet may send. */
  readonly trickle: boolean;
}

/** How much the gateway can take at present, for workers. */
export interface FlowControl {
  /** @param inFlight this instance's polls in flight whose first call is to this interface */
  permit(interfaceName: InterfaceName, inFlight: number): Permit;
  /**
   * Call this when a permit for the trickle got no card. While other instances find the interface alive they soon empty the
   * queue, and one claim a second would find no card for hours.
   */
  giveBack(interfaceName: InterfaceName): void;
  /** True while only a trickle passes because the gateway answers every call with 429 or 503. */
  refusesAll(interfaceName: InterfaceName): boolean;
  /**
   * Waits until a call could be sent at once: until a token exists, or cannot be obtained. Called before rate limits grant a
   * call, because a grant is used at once or not at all. Never throws.
   */
  ready(): Promise<void>;
  /** Call this when the limit of a task type is reached: ends slow calls if hanging cards hold the slots of others. */
  makeRoom(interfaceName: InterfaceName): void;
  /** What is held back: interfaces, or the whole gateway. */
  breakers(): BreakerReport[];
}
