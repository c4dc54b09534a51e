// Access control of the API: authentication, with settings that can be replaced while it serves (SIGHUP), and the limits of
// requests per minute. Used by pipeline.ts. auth.ts decides who may do what.
//
// Callers are distinguished by token, without tokens by address; each instance counts separately, and probes are exempt. Refused
// requests are counted by address: without a valid token, beyond the rights of a token, to unknown paths. Beyond their limit
// further ones are answered 429, which reveals nothing about the request; a valid token is admitted whatever other clients at its
// address do.
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import rateLimit, { type RateLimitOptions } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AdminToken } from '../../domain/admin-token.ts';
import { networkOf } from '../../platform/addresses.ts';
import type { Clock } from '../../platform/clock.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { Instruments, RefusalReason } from '../metrics/instruments.ts';
import { RATE_LIMITED } from '../problem.ts';
import { type Authenticator, authenticator, LOCAL } from './auth.ts';
import { RequestCounts, WINDOW_MS } from './request-counts.ts';

/** A caller that has not used up the budget of refusals need not know it; the headers are about its requests. */
const WITHOUT_HEADERS = {
  addHeadersOnExceeding: { 'ratelimit-limit': false, 'ratelimit-remaining': false, 'ratelimit-reset': false },
};
const FORWARDED_FOR = 'x-forwarded-for';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route is for admins. */
    adminOnly?: boolean;
  }
}

export interface AccessSettings {
  /** Empty: open, which is permitted only on a loopback address. */
  readonly adminTokens: readonly AdminToken[];
  /** Requests that a caller may send per minute; 0: no limit. */
  readonly rateLimitPerMinute: number;
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

  /** Checks new settings; throws like the constructor. @returns a function that puts them in force from the next request on. */
  prepare(settings: AccessSettings): () => void {
    const authenticate = authenticator(settings.adminTokens, this.listenHost, () => this.clock.now());
    return () => {
      this.#authenticate = authenticate;
      this.#settings = settings;
    };
  }

  get settings(): AccessSettings {
    return this.#settings;
  }

  /** Sets the caller of the request. Throws `auth`. */
  admit(request: FastifyRequest): void {
    const { method, headers } = request;
    const { adminOnly = false } = request.routeOptions.config;
    const caller = this.#authenticate({ ...headers, method, adminOnly });
    request.actor = { ...caller, address: request.ip, requestId: request.id };
  }
}

/** Counts a request, and throws `busy` when its caller or address has sent too many in the minute. */
type Limit = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

export interface Limits {
  /** Limit of admitted requests. */
  readonly callers: Limit;
  /** Limit of refused requests. */
  readonly refusals: Limit;
}

/** The limits are read with every request; 0: no limit. */
export async function registerLimits(
  app: FastifyInstance,
  access: Pick<Access, 'settings'>,
  refusalsPerMinute: number,
  instruments: Pick<Instruments, 'refused'>,
  clock: Pick<Clock, 'monotonic'>,
): Promise<Limits> {
  const store = class extends RequestCounts {
    constructor() {
      super(clock);
    }
  };
  await app.register(rateLimit, { global: false, timeWindow: WINDOW_MS, enableDraftSpec: true, store });
  const limit = (
    most: () => number,
    reason: RefusalReason,
    what: string,
    hint: string,
    options: RateLimitOptions,
  ): Limit => {
    const count = app.rateLimit({
      max: most,
      allowList: () => most() === 0,
      onExceeded: () => instruments.refused(reason),
      errorResponseBuilder: (_request, { max }) =>
        new CardpollError('busy', RATE_LIMITED, `more than ${max} ${what}`, {
          hint: `retry after the time in Retry-After${hint}`,
        }),
      ...options,
    });
    return (request, reply) => count.call(app, request, reply) as Promise<void>;
  };
  return {
    callers: limit(
      () => access.settings.rateLimitPerMinute,
      'rate_limit',
      'requests a minute',
      '; the limit is api.rate_limit_per_minute',
      { keyGenerator: ({ actor, ip }) => `${actor.name} ${actor.name === LOCAL ? ip : ''}` },
    ),
    refusals: limit(
      () => refusalsPerMinute,
      'refusal_limit',
      'refused requests a minute from this address',
      '',
      { keyGenerator: ({ ip }) => networkOf(ip), ...WITHOUT_HEADERS },
    ),
  };
}

/**
 * Cuts X-Forwarded-For if it is not a list of addresses, before anything reads it. Fastify takes the rightmost entry that is not
 * a trusted proxy as the caller's address, whatever its text: it would be written to the audit trail, and each text would have a
 * separate budget of refusals. So only the addresses to the right of the last invalid entry are kept, and the caller is the proxy
 * that passed the rest on.
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
