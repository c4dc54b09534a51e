// The door of the API: authentication and the budget of refusals, with settings that can be replaced while it serves
// (SIGHUP), and the limit of requests a minute for callers let in. Used by server.ts. Who may do what is in auth.ts.
//
// Callers are distinguished by token, without tokens by address; each instance counts by itself, and probes are exempt.
// Of an address that is refused too often further refusals are 429 for the rest of the minute; a valid token is let in.
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AdminToken } from '../../domain/admin-token.ts';
import type { Clock } from '../../platform/clock.ts';
import { CardpollError } from '../../platform/errors.ts';
import { RATE_LIMITED, UNAUTHENTICATED } from '../problem.ts';
import { type Authenticator, authenticator, LOCAL } from './auth.ts';
import { RefusalBudget, type Refusals } from './refusals.ts';

const WINDOW_MS = 60_000;
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
  readonly #budget: RefusalBudget;

  /** Throws `config` for an open server beyond loopback. */
  constructor(
    settings: AccessSettings,
    private readonly listenHost: string,
    private readonly clock: Pick<Clock, 'monotonic' | 'now'>,
    private readonly refusals: Refusals,
  ) {
    this.#settings = settings;
    this.#budget = new RefusalBudget(clock);
    this.#authenticate = authenticator(settings.adminTokens, listenHost, () => clock.now());
  }

  /** Checks other settings; throws like the constructor. @returns what puts them in force from the next request on. */
  prepare(settings: AccessSettings): () => void {
    const authenticate = authenticator(settings.adminTokens, this.listenHost, () => this.clock.now());
    return () => {
      this.#authenticate = authenticate;
      this.#settings = settings;
    };
  }

  get rateLimitPerMinute(): number {
    return this.#settings.rateLimitPerMinute;
  }

  /** Names the caller on the request. Throws `auth`, or `busy` when the address was refused too often. */
  admit(request: FastifyRequest, reply: FastifyReply): void {
    const { method, headers } = request;
    try {
      const { adminOnly = false } = request.routeOptions.config;
      const caller = this.#authenticate({ ...headers, method, adminOnly });
      request.actor = { ...caller, address: request.ip, requestId: request.id };
    } catch (error) {
      this.countRefusal(request, reply);
      if (error instanceof CardpollError && error.code === UNAUTHENTICATED)
        this.refusals.add('unauthenticated');
      throw error;
    }
  }

  /** Call for every refused request. Throws `busy` when its address had too many of them. */
  countRefusal({ ip }: FastifyRequest, reply: FastifyReply): void {
    const limit = this.#settings.refusalLimitPerMinute;
    const seconds = this.#budget.spend(ip, limit);
    if (seconds === null) return;
    this.refusals.add('refusal_limit');
    reply.headers({
      'ratelimit-limit': limit,
      'ratelimit-remaining': 0,
      'ratelimit-reset': seconds,
      'retry-after': seconds,
    });
    throw tooManyRequests('too many refused requests from this address', 'api.refusal_limit_per_minute');
  }
}

/** Call after authentication is in place. @param perMinute read with every request; 0: no limit. */
export async function limitRate(
  app: FastifyInstance,
  perMinute: () => number,
  refusals: Refusals,
): Promise<void> {
  await app.register(rateLimit, {
    timeWindow: WINDOW_MS,
    max: () => perMinute(),
    allowList: () => perMinute() === 0,
    keyGenerator: ({ actor, ip }) => `${actor.name} ${actor.name === LOCAL ? ip : ''}`,
    enableDraftSpec: true,
    onExceeded: () => refusals.add('rate_limit'),
    errorResponseBuilder: (_request, { max }) =>
      tooManyRequests(`more than ${max} requests a minute`, 'api.rate_limit_per_minute'),
  });
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
