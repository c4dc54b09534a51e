// What the engine needs of the upstream gateway: one call for one card, with an honest error. The client (client.ts)
// never retries by itself: retries go through the queue.
import type { TaskType } from '../domain/task-type.ts';

/** The interfaces of the gateway profile (03, "Gateway profile"). */
export const INTERFACE_NAMES = ['realname', 'flow', 'card_status', 'stop', 'start'] as const;
export type InterfaceName = (typeof INTERFACE_NAMES)[number];

/** The interface each task type calls to look at a card. */
export const TASK_INTERFACES: Record<TaskType, InterfaceName> = {
  realname: 'realname',
  carddata: 'flow',
  package: 'card_status',
};

export interface GatewayAnswer {
  /** The interface's field, checked for its type: boolean, number >= 0, string; null for interfaces without one. */
  readonly value: boolean | number | string | null;
  readonly durationMs: number;
}

export type GatewayFailure =
  | 'timeout'
  | 'network'
  | 'http' // 5xx, 401, 403, 408 or an unexpected status: not this card's problem
  | 'backpressure' // 429 or 503: `retryAfterMs` may be set
  | 'malformed' // not JSON, wrong types, body too large
  | 'card' // 4xx: this card's problem
  | 'business' // envelope code other than 200: this card's problem
  | 'aborted'; // the client was closed

export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  constructor(
    readonly failure: GatewayFailure,
    message: string,
    readonly details: {
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
    return !this.isCardFault && this.failure !== 'aborted';
  }

  /** True when the gateway certainly did not carry the call out. */
  get isRefusal(): boolean {
    return this.isCardFault || this.failure === 'backpressure';
  }
}

export interface Gateway {
  /**
   * Calls one interface for one card and logs the call (03, "Logs").
   * @param timeoutMs deadline of this call; the configured timeout applies too.
   * Throws GatewayError.
   */
  call(
    interfaceName: InterfaceName,
    card: { readonly cardId: number; readonly iccid: string },
    timeoutMs: number,
  ): Promise<GatewayAnswer>;
  /** True for a cardStatus value that means the card is stopped. */
  isStoppedStatus(cardStatus: string): boolean;
}

/** Tells workers how much the gateway can take just now. */
export interface FlowControl {
  /** Calls this instance may start now, given the calls it has in flight; Infinity when nothing holds it back. */
  allowance(inFlight: number): number;
  /** Reports how a call went; 'ignored' says nothing about the gateway, not even that it answers. */
  record(outcome: 'ok' | 'gateway_fault' | 'ignored'): void;
}
