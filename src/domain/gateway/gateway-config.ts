// How cardpoll calls its gateway: the profile with its credentials, as plain, frozen data. Made by
// config/gateway/load-gateway.ts, whose settings have the defaults and bounds; used by all code that calls or simulates a
// gateway.
import type { GatewayMethod, InterfaceName } from '../gateway-interface.ts';
import type { GatewayFacts, RateLimit } from '../limits/rate-limit.ts';
import type { GatewayModule } from './gateway-module.ts';
import type { DataUnit, UnitWords } from './profile-syntax.ts';

export interface GatewayCredentials {
  readonly token: string | null;
  readonly hmacKey: string | null;
  readonly username: string | null;
  readonly password: string | null;
  readonly clientId: string | null;
  readonly clientSecret: string | null;
  /** The client's certificate, and the authorities that it trusts. */
  readonly tls: GatewayTls;
}

/** Contents of PEM files; null: Node's default. */
export interface GatewayTls {
  readonly ca: string | null;
  readonly pair: { readonly cert: string; readonly key: string } | null;
}

export interface GatewayConfig extends GatewayCredentials {
  /** Name of a shipped profile, or a file. */
  readonly profile: string;
  readonly url: string;
  readonly timeoutMs: number;
  /** Limit of all task types together; null: no ceiling. */
  readonly maxConcurrency: number | null;
  readonly maxResponseBytes: number;
  readonly maxRetryAfterSeconds: number;
  readonly maxConnections: number;
  readonly auth: GatewayAuth;
  /** null: the HTTP status alone says whether a call succeeded. */
  readonly success: SuccessRule | null;
  readonly errors: ErrorRules;
  /** The operator's module; null: none. */
  readonly module: LoadedModule | null;
  readonly stoppedStatuses: readonly string[];
  /** null: the gateway does not offer the interface. */
  readonly interfaces: Readonly<Record<InterfaceName, GatewayInterface | null>>;
  /** The limits that the gateway states; empty: none. */
  readonly rateLimits: readonly RateLimit[];
}

export function gatewayFactsOf({ interfaces, rateLimits }: GatewayConfig): GatewayFacts {
  return {
    rateLimits,
    offers: (name) => interfaces[name] !== null,
    cardsPerCall: (name) => interfaces[name]?.batch?.size ?? 1,
  };
}

export interface LoadedModule {
  /** File name, for messages. */
  readonly name: string;
  readonly sign: GatewayModule['sign'] | null;
  readonly read: GatewayModule['read'] | null;
}

export const AUTH_KINDS = ['none', 'bearer', 'basic', 'header', 'query', 'oauth2', 'login', 'hmac'] as const;
export type AuthKind = (typeof AUTH_KINDS)[number];

/** docs/gateways.md documents each part. */
interface GatewayAuth {
  readonly kind: AuthKind | null;
  readonly name: string | null;
  readonly scheme: string | null;
  readonly tokenUrl: string | null;
  readonly scope: string | null;
  readonly clientAuth: 'basic' | 'body';
  readonly tokenRequest: 'form' | 'json';
  readonly request: LoginRequest | null;
  /** A place in the body, `header:NAME` or `cookie:NAME`. */
  readonly token: string | null;
  readonly expiresIn: string | null;
  /** Seconds. */
  readonly goodFor: number | null;
  readonly send: TokenPlace | null;
}

/** A request that names no card. */
export interface LoginRequest {
  readonly method: GatewayMethod;
  /** URL of another server than the gateway, with its path; null: `path` is below gateway.url. */
  readonly url: string | null;
  /** Starts with a slash; empty with a URL. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonTemplate | null;
  readonly bodyText: null;
  readonly form: Readonly<Record<string, string>> | null;
}

/** Where calls carry their token. */
export interface TokenPlace {
  readonly in: 'header' | 'query' | 'cookie';
  readonly name: string;
  /** Scheme before the token in its header; null: none. */
  readonly scheme: string | null;
}

/** Codes are texts: a number and its text are the same code. */
export interface ErrorRules {
  /** Place of the code in an answer; null: none. */
  readonly path: string | null;
  readonly message: string | null;
  readonly throttled: readonly string[];
  readonly unknownCard: readonly string[];
  readonly auth: readonly string[];
}

/** How an interface is called and answers; texts may have placeholders (docs/gateways.md). */
export interface GatewayInterface {
  readonly method: GatewayMethod;
  /** Relative to the base URL; starts with a slash. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonTemplate | null;
  /** A body that is neither JSON nor a form. */
  readonly bodyText: string | null;
  readonly form: Readonly<Record<string, string>> | null;
  /** null: gateway.timeout_ms. */
  readonly timeoutMs: number | null;
  /** The value to read from the answer; null for calls that only succeed or fail. */
  readonly reading: Reading | null;
  readonly batch: BatchRule | null;
  /** The answer has a list, and one of its items belongs to the card. */
  readonly find: FindRule | null;
  /** Place of the card's number in the answer; null: a field `iccid` near the value, if there is one. */
  readonly iccidValue: string | null;
  /** How an answer reports that the vendor still works on a call with an effect; null: it does not. */
  readonly pending: PendingRule | null;
}

/**
 * In the answer to a call with an effect: the call was accepted and is not carried out yet. In the answer to card_status: a
 * change is in progress.
 */
export interface PendingRule {
  /** Place of the report in the answer, or in an item of its list; null: the value of the interface, or every success. */
  readonly path: string | null;
  readonly values: readonly Code[];
  /** Longest time of the vendor's work. */
  readonly forMs: number;
}

export type Reading = {
  /** The meaning of a missing value; absent or null: the answer is malformed. */
  readonly missing?: Code | null;
} & (
  | { readonly kind: 'verified'; readonly value: string; readonly trueValues: readonly Code[] }
  | { readonly kind: 'status'; readonly value: string }
  | ({ readonly kind: 'megabytes'; readonly value: string } & Unit)
  | ({ readonly kind: 'remainder'; readonly remaining: string; readonly total: string } & Unit)
);

interface Unit {
  /** null: the unit after the number, or MB. */
  readonly unit: DataUnit | null;
  /** Place of the unit in the answer. */
  readonly unitValue?: string | null;
  /** Additional words for units. */
  readonly unitWords?: UnitWords;
}

/** A JSON value that is neither a list nor a map. */
export type Code = string | number | boolean;

export type JsonTemplate = Readonly<Record<string, unknown>> | readonly unknown[];

export interface SuccessRule {
  readonly path: string;
  readonly values: readonly Code[];
}

export interface FindRule {
  /** Place of the list in the answer; null: the answer is the list. */
  readonly items: string | null;
  /** Place of the card number in an item. */
  readonly iccid: string;
}

export interface BatchRule extends FindRule {
  /** Maximum number of cards in one call. */
  readonly size: number;
  /** Separator of the card numbers where they form one text. */
  readonly join: string;
}
