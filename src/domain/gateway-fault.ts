// The kinds of failing gateway calls that an operator treats differently: a name that is not found, a connection that is refused,
// a token that is wrong. Made by the client of the gateway from the errors of connections
// (src/gateway/request/connection-fault.ts), reported by every instance, and named by health and alerts. Pure.

/** Faults that block every call to the gateway, at any load. */
export const ACCESS_FAULTS = ['name', 'route', 'expired', 'certificate', 'token', 'login', 'proxy'] as const;

export const FAULT_KINDS = [
  ...ACCESS_FAULTS,
  ...(['refused', 'connect', 'timeout', 'network', 'http', 'backpressure', 'malformed'] as const),
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

const WORDS: Partial<Record<FaultKind, string>> = {
  name: 'the name of the gateway is not found',
  route: 'there is no route to the gateway',
  expired: 'the certificate of the gateway has expired',
  certificate: 'the certificate of the gateway is not accepted',
  token: 'the gateway refuses our token or key',
  login: 'the login to the gateway fails',
  proxy: 'the proxy lets no call through to the gateway',
  refused: 'the gateway refuses connections',
  connect: 'calls get no connection to the gateway',
};

/** The error of a call whose credentials are refused; next to the words of its kind it is left out. */
export const REFUSED_CREDENTIALS = 'the gateway does not accept our credentials';

/** @returns the kind in words; null: not a fault of the connection. */
export function faultWords(kind: FaultKind | null | undefined): string | null {
  return WORDS[kind ?? 'http'] ?? null;
}

/** An instance's report on its currently failing calls. */
export interface GatewayFault {
  readonly kind: FaultKind;
  /** The error of the last such call. */
  readonly text: string;
}

/** @param failure key by which polls are counted; @returns its kind, if the failure alone determines it. */
export function kindOfFailure(failure: string): FaultKind | null {
  if (failure === 'auth') return 'token';
  return (FAULT_KINDS as readonly string[]).includes(failure) ? (failure as FaultKind) : null;
}
