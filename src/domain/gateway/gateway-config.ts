// How cardpoll calls its gateway: the profile with its credentials, as plain, frozen data. Made by config/gateway/load-gateway.ts,
// whose settings have the defaults and bounds; used by everything that speaks to a gateway, or plays one.
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
  /** Of the client, and whom it trusts. */
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
  /** Of all task types together; null: no ceiling. */
  readonly maxConcurrency: number | null;
  readonly maxResponseBytes: number;
  readonly maxRetryAfterSeconds: number;
  readonly maxConnections: number;
  readonly auth: GatewayAuth;
  /** null: the HTTP status alone says whether a call succeeded. */
  readonly success: SuccessRule | null;
  readonly errors: ErrorRules;
  /** Code of the operator's own; null: none. */
  readonly module: LoadedModule | null;
  readonly stoppedStatuses: readonly string[];
  /** null: the gateway does not offer the interface. */
  readonly interfaces: Readonly<Record<InterfaceName, GatewayInterface | null>>;
  /** What the gateway allows; empty: no limit. */
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

/** What each part means: docs/gateways.md. */
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
  /** Of another server than the gateway, with its path; null: `path` is below gateway.url. */
  readonly url: string | null;
  /** Starts with a slash; empty with a URL. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonTemplate | null;
  readonly bodyText: null;
  readonly form: Readonly<Record<string, string>> | null;
}

/** Where calls have their token. */
export interface TokenPlace {
  readonly in: 'header' | 'query' | 'cookie';
  readonly name: string;
  /** What stands before it in its header; null: nothing. */
  readonly scheme: string | null;
}

/** Codes are texts: a number and its text are the same code. */
export interface ErrorRules {
  /** Where an answer has its code; null: nowhere. */
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
  /** What is read from the answer; null for calls that only succeed or fail. */
  readonly reading: Reading | null;
  readonly batch: BatchRule | null;
  /** The answer has a list, and one of its items is the card's. */
  readonly find: FindRule | null;
  /** Where the answer has the number of its card; null: in a field `iccid` near the value, if there is one. */
  readonly iccidValue: string | null;
  /** What an answer says while the vendor still works on a call with an effect; null: nothing does. */
  readonly pending: PendingRule | null;
}

/** In the answer to a call with an effect: that it was taken and is not carried out yet. In that to card_status: that a change is under way. */
export interface PendingRule {
  /** Where the answer, or an item of its list, says it; null: in the value of the interface, or by every success. */
  readonly path: string | null;
  readonly values: readonly Code[];
  /** How long the vendor may work on it. */
  readonly forMs: number;
}

export type Reading = {
  /** What it means that there is no value; absent or null: the answer is malformed. */
  readonly missing?: Code | null;
} & (
  | { readonly kind: 'verified'; readonly value: string; readonly trueValues: readonly Code[] }
  | { readonly kind: 'status'; readonly value: string }
  | ({ readonly kind: 'megabytes'; readonly value: string } & Unit)
  | ({ readonly kind: 'remainder'; readonly remaining: string; readonly total: string } & Unit)
);

interface Unit {
  /** null: what is behind the number, or MB. */
  readonly unit: DataUnit | null;
  /** Where the answer has the unit. */
  readonly unitValue?: string | null;
  /** Besides the words that are known. */
  readonly unitWords?: UnitWords;
}

/** A value of JSON that is neither a list nor a map. */
export type Code = string | number | boolean;

export type JsonTemplate = Readonly<Record<string, unknown>> | readonly unknown[];

export interface SuccessRule {
  readonly path: string;
  readonly values: readonly Code[];
}

export interface FindRule {
  /** Where the list is in the answer; null: the answer is the list. */
  readonly items: string | null;
  /** Where an item has its card number. */
  readonly iccid: string;
}

export interface BatchRule extends FindRule {
  /** Most cards of one call. */
  readonly size: number;
  /** What is between the card numbers where they are one text. */
  readonly join: string;
}
