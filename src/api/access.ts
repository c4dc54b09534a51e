// The door of the API: authentication and the budget of failures, with settings that can be replaced while it serves
// (SIGHUP). Used by server.ts. Who may do what is auth.ts, the limit for callers let in rate-limit.ts.
//
// An address that fails to authenticate too often is turned away for the rest of the minute before its token is even
// looked at, so that guessing gets nowhere and costs nothing.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../platform/clock.ts';
import { CardpollError } from '../platform/errors.ts';
import { type AdminToken, type Authenticator, authenticator } from './auth.ts';
import { UNAUTHENTICATED } from './problem.ts';
import { tooManyRequests } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route is for admins. */
    adminOnly?: boolean;
  }
}

/** Give it to a route as its `config`. */
export const ADMIN_ONLY = { adminOnly: true } as const;

export interface AccessSettings {
  /** Empty: open, and only on a loopback address. */
  readonly tokens: readonly AdminToken[];
  /** Requests a caller may send a minute; 0: any number. */
  readonly rateLimitPerMinute: number;
}

const WINDOW_MS = 60_000;
/** Failures allowed are this much fewer than requests. */
const FAILURES_SHARE = 40;
const LEAST_FAILURES = 10;

export class Access {
  #settings: AccessSettings;
  #authenticate: Authenticator;
  /** By address, in the present window. */
  #failures = new Map<string, number>();
  #windowEndsMs = 0;

  /** Throws `config` for an open server beyond loopback. */
  constructor(
    settings: AccessSettings,
    private readonly listenHost: string,
    private readonly clock: Pick<Clock, 'monotonic' | 'now'>,
  ) {
    this.#settings = settings;
    this.#authenticate = authenticator(settings.tokens, listenHost, () => clock.now());
  }

  /** Takes other settings from the next request on; throws like the constructor, and then keeps the present ones. */
  replace(settings: AccessSettings): void {
    this.#authenticate = authenticator(settings.tokens, this.listenHost, () => this.clock.now());
    this.#settings = settings;
  }

  get rateLimitPerMinute(): number {
    return this.#settings.rateLimitPerMinute;
  }

  /** Names the caller on the request. Throws `auth`, or `busy` for an address with too many failures. */
  admit(request: FastifyRequest, reply: FastifyReply): void {
    const { method, headers, ip } = request;
    const { authorization, host, origin } = headers;
    this.#refuseGuessers(ip, reply);
    try {
      const { adminOnly = false } = request.routeOptions.config;
      const caller = this.#authenticate({ method, adminOnly, authorization, host, origin });
      request.actor = { ...caller, address: ip, requestId: request.id };
    } catch (error) {
      if (error instanceof CardpollError && error.code === UNAUTHENTICATED) {
        this.#failures.set(ip, (this.#failures.get(ip) ?? 0) + 1);
      }
      throw error;
    }
  }

  #refuseGuessers(address: string, reply: FastifyReply): void {
    const nowMs = this.clock.monotonic();
    if (nowMs >= this.#windowEndsMs) {
      this.#failures = new Map();
      this.#windowEndsMs = nowMs + WINDOW_MS;
    }
    const allowed = Math.max(LEAST_FAILURES, Math.ceil(this.rateLimitPerMinute / FAILURES_SHARE));
    if (this.rateLimitPerMinute === 0 || (this.#failures.get(address) ?? 0) < allowed) return;
    const seconds = Math.ceil((this.#windowEndsMs - nowMs) / 1_000);
    reply.headers({
      'ratelimit-limit': allowed,
      'ratelimit-remaining': 0,
      'ratelimit-reset': seconds,
      'retry-after': seconds,
    });
    throw tooManyRequests('too many requests without a valid admin token from this address');
  }
}
