// The door of the API: authentication, with settings that can be replaced while it serves (SIGHUP), and how many requests a minute
// a caller may send, and an address that is refused. Used by server.ts. Who may do what is in auth.ts.
//
// Callers are distinguished by token, without tokens by address; each instance counts by itself, and probes are exempt.
// Of an address that is refused too often (without a valid token, for what a token may not do, for paths that do not exist) further
// refusals are 429 for the rest of the minute, which reveals nothing about the request; a valid token is let in.
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import rateLimit, { type RateLimitPluginOptions } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AdminToken } from '../../domain/admin-token.ts';
import type { Clock } from '../../platform/clock.ts';
import { CardpollError } from '../../platform/errors.ts';
import { RATE_LIMITED } from '../problem.ts';
import { type Authenticator, authenticator, LOCAL } from './auth.ts';
import { networkOf, type RefusalReason, type Refusals } from './refusals.ts';

const WINDOW_MS = 60_000;
/** Callers, or addresses, that are counted apart; the longest silent one is forgotten, so that no flood of them fills the memory. */
const MOST_COUNTED = 10_000;
const FORWARDED_FOR = 'x-forwarded-for';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route is for admins. */
    adminOnly?: boolean;
  }
}

export interface AccessSettings {
  /** Empty: open, and only on a loopback address. */
  readonly adminTokens: readonly AdminToken[];
  /** Requests that a caller may send per minute; 0: no limit. */
  readonly rateLimitPerMinute: number;
  /** Refused requests that an address may send per minute; 0: no limit. */
  readonly refusalLimitPerMinute: number;
}

export class Access {
  #settings: AccessSettings;
  #authenticate: Authenticator;

  /** Throws `config` for an open server beyond loopback. */
  constructor(
    settings: AccessSettings,
    private readonly listenHost: string,
    private readonly clock: Pick<Clock, 'now'>,
  ) {
    this.#settings = settings;
    this.#authenticate = authenticator(settings.adminTokens, listenHost, () => clock.now());
  }

  /** Takes other settings from the next request on; throws like the constructor, and then keeps the present ones. */
  replace(settings: AccessSettings): void {
    this.#authenticate = authenticator(settings.adminTokens, this.listenHost, () => this.clock.now());
    this.#settings = settings;
  }

  get limits(): Pick<AccessSettings, 'rateLimitPerMinute' | 'refusalLimitPerMinute'> {
    return this.#settings;
  }

  /** Names the caller on the request. Throws `auth`. */
  admit(request: FastifyRequest): void {
    const { method, headers } = request;
    const { adminOnly = false } = request.routeOptions.config;
    const caller = this.#authenticate({ ...headers, method, adminOnly });
    request.actor = { ...caller, address: request.ip, requestId: request.id };
  }
}

/** Limits the requests to the routes that are registered after it. Call after authentication is in place. */
export async function limitRequests(app: FastifyInstance, access: Access, refusals: Refusals): Promise<void> {
  await app.register(rateLimit, {
    ...limit(() => access.limits.rateLimitPerMinute, 'rate_limit', refusals),
    keyGenerator: ({ actor, ip }) => `${actor.name} ${actor.name === LOCAL ? ip : ''}`,
    errorResponseBuilder: (_request, { max }) =>
      tooManyRequests(`more than ${max} requests a minute`, 'api.rate_limit_per_minute'),
  });
}

/** @returns what to call for every refused request. It throws `busy` when the address had too many of them. */
export async function refusalLimit(app: FastifyInstance, access: Access, refusals: Refusals) {
  await app.register(rateLimit, {
    ...limit(() => access.limits.refusalLimitPerMinute, 'refusal_limit', refusals),
    global: false,
    // Only a refusal of a refusal says that there is a limit.
    addHeadersOnExceeding: {
      'ratelimit-limit': false,
      'ratelimit-remaining': false,
      'ratelimit-reset': false,
    },
    keyGenerator: ({ ip }) => networkOf(ip),
    errorResponseBuilder: () =>
      tooManyRequests('too many refused requests from this address', 'api.refusal_limit_per_minute'),
  });
  const count = app.rateLimit();
  return (request: FastifyRequest, reply: FastifyReply) => count.call(app, request, reply);
}

/** @param perMinute read with every request; 0: no limit. */
function limit(perMinute: () => number, reason: RefusalReason, refusals: Refusals): RateLimitPluginOptions {
  return {
    timeWindow: WINDOW_MS,
    max: () => perMinute(),
    allowList: () => perMinute() === 0,
    cache: MOST_COUNTED,
    enableDraftSpec: true,
    onExceeded: () => refusals.add(reason),
  };
}

function tooManyRequests(what: string, setting: string): CardpollError {
  return new CardpollError('busy', RATE_LIMITED, what, {
    hint: `retry after the time in Retry-After; the limit is ${setting}`,
  });
}

/**
 * Cuts X-Forwarded-For where it is not a list of addresses, before anything reads it. Fastify takes the rightmost entry
 * that is no trusted proxy as the caller's address, whatever its text is: it would be written to the audit trail, and each
 * text would have its own budget of refusals. So the addresses to the right of the last entry that is none are kept, and
 * the caller is the proxy that passed that on.
 */
export function keepForwardedAddresses({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const header = headers[FORWARDED_FOR];
  if (header === undefined) return;
  const entries = String(header)
    .split(',')
    .map((entry) => entry.trim());
  const kept = entries.slice(entries.findLastIndex((entry) => !isAddress(entry)) + 1);
  if (kept.length === 0) delete headers[FORWARDED_FOR];
  else headers[FORWARDED_FOR] = kept.join(', ');
}

/** A zone after `%` is free text of the sender. */
function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}
