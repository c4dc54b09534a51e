// How a simulated gateway speaks: what a call asks for, and what its answer looks like. The simulator (simulated-gateway.ts)
// counts, delays and fails calls; it does not know what they look like.
import type { IncomingHttpHeaders } from 'node:http';
import type { InterfaceName } from '../../domain/gateway-interface.ts';
import type { SimulatedFleet } from '../simulated-fleet.ts';

export interface Reply {
  readonly status: number;
  readonly body: string;
  /** Name, value, name, value. */
  readonly headers?: readonly string[];
}

export interface ReceivedCall {
  readonly method: string;
  /** Path and query, as received. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What a call asks for. */
export interface Asked {
  readonly name: InterfaceName;
  /** At least one. */
  readonly cards: readonly [string, ...string[]];
}

export interface Dialect {
  /** @returns the interface that a call is for; `in_body`: the rest of the call decides; null: none. */
  interfaceOf(method: string, url: string): InterfaceName | 'in_body' | null;
  /** @returns what a call to an interface asks for, or the answer that refuses it. */
  understand(call: ReceivedCall): Asked | Reply;
  answer(asked: Asked, fleet: SimulatedFleet): Reply;
  /** The answer to a call that is for no interface. */
  answerOther(call: ReceivedCall): Reply;
  /** Too many calls are in flight. */
  readonly busy: Reply;
  /** The call is one that the simulator fails. */
  readonly failed: Reply;
}
