// What an operator can do about a gateway that fails, by the cause. Used by the doctor.
import type { GatewayFailure } from './gateway.ts';

interface Remedy {
  readonly hint: string;
  readonly command: string;
}

const OVERLOADED = 'the gateway is slow or refuses calls: it may get more than it can take';
const HINTS: Partial<Record<GatewayFailure, string>> = {
  connect:
    'no connection: is the gateway running, is gateway.url right, and does the network let the connection through?',
  network: 'the gateway or a device before it breaks the connection: ask the operator of the gateway',
  timeout: OVERLOADED,
  backpressure: OVERLOADED,
  auth: "the gateway does not accept the credentials: compare them with the gateway operator's",
  http: 'the gateway reports an error of its own: ask its operator',
  business: 'the gateway answers, but not for these cards: compare their iccids with what the gateway knows',
};
const OTHER = 'compare gateway.url and gateway.interfaces with what the gateway offers';

/** @param failure null: unknown. @param url base URL of the gateway, without credentials */
export function gatewayRemedy(failure: GatewayFailure | null, url: string): Remedy {
  const hint = (failure === null ? undefined : HINTS[failure]) ?? OTHER;
  const command = hint === OVERLOADED ? 'cardpoll concurrency advise' : `curl -siv ${url}`;
  return { hint, command };
}
