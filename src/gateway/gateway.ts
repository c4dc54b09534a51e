// The engine's port to the upstream gateway: one call for one card, and its errors. The client (call/client.ts) never retries
// by itself: retries go through the queue.

import { type FaultKind, type GatewayFault, kindOfFailure } from '../domain/gateway-fault.ts';
import type { InterfaceName } from '../domain/gateway-interface.ts';
import type { BreakerReport } from '../domain/limits/breaker.ts';

/**
 * A claim is judged by the mode of its moment, and follows its pass. The call is sent within this time of the pass or not at
 * all, so mode observe is in force on every instance a second after it was set, also on one that was paused.
 */
export const PASS_GOOD_FOR_MS = 1_000;

export interface GatewayAnswer {
  /** The interface's field, checked for its type: boolean, number >= 0, string; null for interfaces without one. */
  readonly value: boolean | number | string | null;
  readonly durationMs: number;
  /**
   * The vendor works on a call with an effect, as the answer says, and how long that may take: of stop and start on this one; of
   * card_status on some one, and whether the card is stopped is not known then. Absent: the answer does not say so.
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
  | 'business' // another code than that of success: this card's problem
  | 'held' // not sent: the interface is dead and only a trickle passes, or no call or connection was free in time
  | 'no_vendor_id' // not sent: the profile names a card by its vendor id, and this one has none
  | 'not_offered' // not sent: the profile says that the gateway does not offer the interface
  | 'aborted'; // the client was closed

/** How the message of a call begins for which there was no token to be had, of OAuth 2 or a login: the gateway itself may be well. */
const NO_TOKEN = 'no token';

export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  constructor(
    readonly failure: GatewayFailure,
    message: string,
    readonly details: {
      readonly interfaceName?: InterfaceName;
      /** Failure `card`: the gateway said that it does not know the card. */
      readonly isUnknownCard?: boolean;
      readonly retryAfterMs?: number;
      readonly durationMs?: number;
      readonly cause?: unknown;
      /** How it failed, where the failure does not say it all. */
      readonly kind?: FaultKind;
    } = {},
  ) {
    super(message, { cause: details.cause });
  }

  /** null: it is no fault of the gateway. */
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

  /** True when no call was tried: it says nothing about the gateway. */
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

/** The card a call is for. */
export interface CalledCard {
  readonly cardId: number;
  readonly iccid: string;
  readonly carrierId: number;
  /** Absent or null: none is known. */
  readonly vendorId?: string | null;
}

/** What a call that follows a poll needs, so that it can be sent at once. It is used for one call, or given back. */
export interface Pass {
  /** Does nothing once it is used. */
  giveBack(): void;
}

export interface GatherMeans {
  readonly signal?: AbortSignal;
  /** For the rate limits; absent: the call follows from another one. */
  readonly participant?: 'order' | 'follow_up';
}

export interface Gateway {
  /**
   * Calls one interface for one card and logs the call (contract, "Logs").
   * @param timeoutMs deadline of this call; the configured timeout applies too.
   * @param pass for a call that follows a poll. Absent for the call that a poll begins with, which was granted before. If the
   *   call cannot be sent within PASS_GOOD_FOR_MS of the pass, it is not made, and fails as `held`.
   * @throws GatewayError.
   */
  call(
    interfaceName: InterfaceName,
    card: CalledCard,
    timeoutMs: number,
    pass?: Pass,
  ): Promise<GatewayAnswer>;
  /**
   * Gathers what a call of an order, or one that follows a poll, has to wait for: a call of the rate limits, a free connection, the permit of flow
   * control. A call with an effect gathers first, and claims its card then.
   * @param withinMs Infinity: as long as it takes, or until the signal aborts.
   * @throws GatewayError `held`.
   */
  gather(interfaceName: InterfaceName, withinMs: number, means?: GatherMeans): Promise<Pass>;
  /** True for a cardStatus value that means the card is stopped. */
  isStoppedStatus(cardStatus: string): boolean;
}

/** The gateway itself, without flow control. */
export interface UpstreamGateway extends Gateway {
  /**
   * Makes one call for several cards, and logs it for each of them. @returns the answer for each card, in the order of
   * `cards`: a card may fail alone. @throws GatewayError when the call failed as a whole.
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
  /** Until when the certificate of the gateway is valid, epoch milliseconds; null or absent: not known. */
  readonly certificateEndsMs?: number | null;
}

/** Whether calls get through to the gateway, as an instance reports it. */
export interface GatewayAccess {
  /** How calls fail now; null: they get through, or none is made. */
  readonly fault: GatewayFault | null;
  readonly certificateEndsMs: number | null;
}

export interface AccessWatch {
  access(): GatewayAccess;
}

/** What a worker may start now. */
export interface Permit {
  /** Number of polls that may be claimed; Infinity without a limit. */
  readonly calls: number;
  /** The interface is dead: the permit is for the one call per second that the whole fleet may send. */
  readonly trickle: boolean;
}

/** How much the gateway can take at present, for workers. */
export interface FlowControl {
  /** @param inFlight this instance's polls in flight that begin with this interface */
  permit(interfaceName: InterfaceName, inFlight: number): Permit;
  /**
   * Called when a permit for the trickle got no card. Where other instances find the interface alive, they soon empty the
   * queue, and a claim a second would meet no card for hours.
   */
  giveBack(interfaceName: InterfaceName): void;
  /** True while only a trickle passes because the gateway answers every call with 429 or 503. */
  refusesAll(interfaceName: InterfaceName): boolean;
  /**
   * Waits until a call could be sent at once: until there is a token, or none is to be had. Before a call is granted by rate
   * limits, because a grant is used at once or not at all. Never throws.
   */
  ready(): Promise<void>;
  /** Called when the limit of a task type is used up: ends slow calls if hanging cards hold the slots of others. */
  makeRoom(interfaceName: InterfaceName): void;
  /** What is held back: interfaces, or the gateway as a whole. */
  breakers(): BreakerReport[];
}
