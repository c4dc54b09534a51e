// What the engine needs of the upstream gateway: one call for one card, with an honest error. The client (client.ts)
// never retries by itself: retries go through the queue.
import type { BreakerReport } from '../domain/breaker.ts';
import type { InterfaceName } from '../domain/gateway-interface.ts';

export { INTERFACE_NAMES, type InterfaceName } from '../domain/gateway-interface.ts';

export interface GatewayAnswer {
  /** The interface's field, checked for its type: boolean, number >= 0, string; null for interfaces without one. */
  readonly value: boolean | number | string | null;
  readonly durationMs: number;
}

export type GatewayFailure =
  | 'connect' // no connection was made (refused, no such host, TLS): the call was never sent
  | 'auth' // 401 or 403: our credentials are not accepted
  | 'timeout'
  | 'network' // the connection broke during the call
  | 'http' // 5xx, 408 or an unexpected status: not this card's problem
  | 'backpressure' // 429 or 503: `retryAfterMs` may be set
  | 'malformed' // not JSON, wrong types, body too large
  | 'card' // 4xx: this card's problem
  | 'business' // envelope code other than 200: this card's problem
  | 'held' // not made: the interface's breaker is open
  | 'aborted'; // the client was closed

export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  constructor(
    readonly failure: GatewayFailure,
    message: string,
    readonly details: {
      readonly interfaceName?: InterfaceName;
      readonly retryAfterMs?: number;
      readonly durationMs?: number;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: details.cause });
  }

  /** True when the gateway works and this card is the problem. */
  get isCardFault(): boolean {
    return this.failure === 'card' || this.failure === 'business';
  }

  /** True when the gateway is the problem: counts for the breaker. */
  get isGatewayFault(): boolean {
    return !this.isCardFault && this.failure !== 'aborted' && this.failure !== 'held';
  }

  /** True when all interfaces are likely to fail in the same way. */
  get isGatewayWide(): boolean {
    return this.failure === 'connect' || this.failure === 'auth';
  }

  /** True when the gateway certainly did not carry the call out. */
  get isRefusal(): boolean {
    return this.isCardFault || ['backpressure', 'held', 'connect'].includes(this.failure);
  }
}

/** The card a call is for. */
export interface CalledCard {
  readonly cardId: number;
  readonly iccid: string;
  /** Its last poll failed: that it fails again says nothing about the gateway. */
  readonly failing?: boolean;
}

export interface Gateway {
  /**
   * Calls one interface for one card and logs the call (contract, "Logs").
   * @param timeoutMs deadline of this call; the configured timeout applies too.
   * Throws GatewayError.
   */
  call(interfaceName: InterfaceName, card: CalledCard, timeoutMs: number): Promise<GatewayAnswer>;
  /** True for a cardStatus value that means the card is stopped. */
  isStoppedStatus(cardStatus: string): boolean;
}

/** What may begin now. */
export interface Permit {
  /** Polls this instance may claim; Infinity when nothing holds it back. */
  readonly calls: number;
  /** Whether failing cards may be among them. */
  readonly retries: boolean;
  /** To be called once: how many polls were claimed under the permit; null when none was asked for. */
  used(items: number | null): void;
}

/** Tells workers how much the gateway can take just now. */
export interface FlowControl {
  /** @param load this instance's polls in flight: those that begin with this interface, and all. */
  permit(interfaceName: InterfaceName, load: { inFlight: number; totalInFlight: number }): Permit;
  /** The gateway's own breaker and one for every interface. */
  breakers(): BreakerReport[];
}
