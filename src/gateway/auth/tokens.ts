// Keeps the token that OAuth 2 or a login issues to this process (token-sources.ts): requested once per process, renewed before
// it expires, and after the gateway refused it. A failing token server is asked again with growing pauses; meanwhile calls fail
// as if the gateway were unreachable, and flow control holds them back. Used by the client. No token is ever logged.

import { errors } from 'undici';
import type { MonthCalendar } from '../../domain/cards/month-calendar.ts';
import type { GatewayConfig } from '../../domain/gateway/gateway-config.ts';
import { callLimitsOf } from '../../domain/limits/rate-limit.ts';
import { type Clock, withTimeout } from '../../platform/clock.ts';
import { messageOf } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Proxies } from '../../platform/proxy/http-proxy.ts';
import { GatewayError } from '../gateway.ts';
import { tlsOptions } from '../request/connections.ts';
import { Origin, type OriginPool } from '../request/origin-pool.ts';
import type { Proof } from '../request/request.ts';
import { parseRetryAfter } from '../request/retry-after.ts';
import { unpacked } from '../request/unpack.ts';
import { type Issued, type TokenAnswer, type TokenSource, tokenSourceOf } from './token-sources.ts';

const MAX_ANSWER_BYTES = 65_536;
const SHORTEST_LIFE_S = 1;
/** A token is renewed after this time even if it is valid for longer. */
const LONGEST_LIFE_S = 86_400;
/** A token is renewed when a quarter of its life is left, at most this long before its end. */
const RENEW_AHEAD_MS = 60_000;
/** A token is not used in the last tenth of its life, at most this long: the call has to arrive in time. */
const UNUSED_MS = 2_000;
/**
 * A new token that works is renewed after this many refusals in a row: a single one may concern a card that the gateway forbids.
 */
const REFUSALS_IN_A_ROW = 3;
/** Shortest time between renewals for calls whose answer looks like an expired session. */
const DOUBTED_EVERY_MS = 60_000;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

interface Token {
  readonly proof: Proof;
  readonly issuedAt: number;
  /** It was requested because the gateway refused the previous token. */
  readonly replacesRefused: boolean;
  readonly renewAt: number;
  readonly endsAt: number;
  /** A call with this token succeeded. */
  works: boolean;
  /** Refused calls with this token since the last success. */
  refusals: number;
}

type TokenSettings = Pick<GatewayConfig, 'url' | 'timeoutMs' | 'rateLimits' | 'tls' | 'maxRetryAfterSeconds'>;

export interface TokenDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly proxies: Proxies;
}

/** @returns null: the credentials are fixed. */
export function tokensOf(
  profile: GatewayConfig,
  deps: TokenDeps & { readonly calendar: MonthCalendar },
): Tokens | null {
  const source = tokenSourceOf(profile, deps.calendar, deps.proxies);
  return source && new Tokens(source, profile, deps);
}

export class Tokens {
  readonly #origin: Origin;
  readonly #pool: OriginPool;
  #token: Token | null = null;
  #pending: Promise<Token> | null = null;
  /** Why the last attempt failed, or the last token was refused; null while tokens work. */
  #trouble: GatewayError | null = null;
  /** The gateway refused the last token. */
  #isRefused = false;
  /** When a token was last replaced because its session seemed to be over. */
  #doubtedAt = Number.NEGATIVE_INFINITY;
  #pauseMs = 0;
  /** No attempt before this time. */
  #nextAt = Number.NEGATIVE_INFINITY;
  /** Replaces this object after new credentials. */
  #successor: Tokens | null = null;

  constructor(
    private readonly source: TokenSource,
    private readonly config: TokenSettings,
    private readonly deps: TokenDeps,
  ) {
    const { origin } = new URL(source.url);
    this.#origin = new Origin(origin, deps.proxies);
    this.#pool = this.#origin.openPool({
      connections: 1,
      connect: {
        timeout: config.timeoutMs,
        ...tlsOptions(config.tls, origin === new URL(config.url).origin),
      },
    });
  }

  /** @returns null when a token is needed first: `prove` requests it. */
  proof(): Proof | null {
    const token = this.#token;
    const now = this.deps.clock.monotonic();
    if (token === null || now >= token.endsAt) return null;
    if (now >= token.renewAt && now >= this.#nextAt) void this.#renewed().catch(() => {});
    return token.proof;
  }

  /** @throws GatewayError when no token can be obtained. */
  async prove(): Promise<Proof> {
    const left = this.#nextAt - this.deps.clock.monotonic();
    if (left > 0 && this.#pending === null && this.#trouble !== null) {
      const { failure, message } = this.#trouble;
      throw new GatewayError(failure, `${message}; next attempt in ${Math.ceil(left / 1_000)} s`);
    }
    try {
      return (await this.#renewed()).proof;
    } catch (error) {
      if (this.#successor === null) throw error;
      return this.#successor.prove();
    }
  }

  /** Like `prove`, for a call that ends at that time. */
  async proveBy(deadlineAt: number): Promise<Proof> {
    const { clock } = this.deps;
    const proving = this.prove();
    if (!(await withTimeout(deadlineAt - clock.monotonic(), proving, clock)))
      throw new GatewayError('connect', 'no token within the deadline');
    // Calls that waited would all be sent now, each long after the rate limits granted it.
    if (callLimitsOf(this.config.rateLimits).length === 0) return proving;
    throw new GatewayError('held', 'the call waited for a token, and its turn is over');
  }

  /** A call with this proof succeeded. */
  accepted(proof: Proof): void {
    if (this.#token?.proof !== proof) return;
    this.#token.works = true;
    this.#token.refusals = 0;
  }

  /**
   * Call this when an answer looks as if the session were over. @returns whether the next call gets a new token: once a minute,
   * and not if a new token did not help before.
   */
  doubted(proof: Proof): boolean {
    if (this.#token?.proof !== proof) return true;
    const now = this.deps.clock.monotonic();
    const { works, issuedAt } = this.#token;
    if (now - (works ? this.#doubtedAt : issuedAt) < DOUBTED_EVERY_MS) return false;
    this.#doubtedAt = now;
    this.#token = null;
    return true;
  }

  /** The gateway did not accept a call with this proof. */
  refused(proof: Proof): void {
    if (this.#token?.proof !== proof) return;
    const now = this.deps.clock.monotonic();
    this.#token.refusals += 1;
    const { replacesRefused, issuedAt, works, refusals } = this.#token;
    const isNew = now - issuedAt < RENEW_AHEAD_MS;
    if (works && isNew && refusals < REFUSALS_IN_A_ROW) return;
    this.#token = null;
    this.#isRefused = true;
    this.#trouble = new GatewayError('auth', 'the gateway does not accept the token that was just issued');
    // The first refused token may have been revoked. If its replacement is refused too, the next one will be as well.
    if (works) this.#pauseMs = 0;
    if (replacesRefused && isNew) this.#backOff(now);
    else this.#pauseMs = 0;
  }

  /** @param successor gives a token to the waiting calls; null: they fail as `aborted`. */
  async close(successor: Tokens | null = null): Promise<void> {
    this.#successor = successor;
    await this.#pool.destroy();
  }

  /** All callers wait for the same attempt. */
  #renewed(): Promise<Token> {
    this.#pending ??= this.#ask().finally(() => {
      this.#pending = null;
    });
    return this.#pending;
  }

  async #ask(): Promise<Token> {
    const { clock, log } = this.deps;
    const askedAt = clock.monotonic();
    const replacesRefused = this.#isRefused;
    try {
      const { proof, lifeS } = await this.#issued();
      const lifeMs = lifeS * 1_000;
      this.#token = {
        proof,
        issuedAt: askedAt,
        replacesRefused,
        renewAt: askedAt + lifeMs - Math.min(RENEW_AHEAD_MS, lifeMs / 4),
        endsAt: askedAt + lifeMs - Math.min(UNUSED_MS, lifeMs / 10),
        works: false,
        refusals: 0,
      };
      // A replacement that is refused too is no success, so the pause keeps growing.
      if (!replacesRefused) this.#pauseMs = 0;
      this.#isRefused = false;
      this.#trouble = null;
      log.info({ expires_in_s: lifeS }, 'gateway token issued');
      return this.#token;
    } catch (error) {
      if (error instanceof errors.ClientDestroyedError)
        throw new GatewayError('aborted', 'the gateway client was closed');
      this.#trouble = this.#troubleOf(error);
      this.#backOff(clock.monotonic(), this.#trouble.details.retryAfterMs);
      const retryInMs = Math.round(this.#nextAt - clock.monotonic());
      log.warn({ reason: this.#trouble.message, retry_in_ms: retryInMs }, 'gateway token not issued');
      throw this.#trouble;
    }
  }

  #troubleOf(error: unknown): GatewayError {
    const trouble =
      error instanceof GatewayError ? error : new GatewayError('connect', `no token: ${messageOf(error)}`);
    const named = this.#origin.named(trouble.message, trouble, true);
    return named === trouble.message ? trouble : new GatewayError(trouble.failure, named, trouble.details);
  }

  /** @param askedMs pause that the token server asked for. */
  #backOff(now: number, askedMs = 0): void {
    this.#pauseMs = Math.min(MAX_PAUSE_MS, this.#pauseMs === 0 ? FIRST_PAUSE_MS : 2 * this.#pauseMs);
    this.#nextAt = now + Math.max(askedMs, this.#pauseMs);
  }

  async #issued(): Promise<Issued> {
    const { timeoutMs } = this.config;
    const asking = new AbortController();
    const answer = this.#request(asking.signal);
    if (!(await withTimeout(timeoutMs, answer, this.deps.clock))) {
      asking.abort();
      answer.catch(() => {});
      throw new GatewayError('connect', `no token: the token server did not answer within ${timeoutMs} ms`);
    }
    const { status, headers, text } = await answer;
    const refusal = this.#origin.refusalOf(status);
    if (refusal !== null) throw new GatewayError('connect', `no token: ${refusal.message}`);
    if (status === 400 || status === 401 || status === 403) throw this.source.refusal(status, text);
    if (status < 200 || status >= (this.source.isRedirected ? 400 : 300))
      throw new GatewayError(
        'connect',
        `no token: HTTP ${status} of the token server`,
        this.#pauseAsked(status, headers),
      );
    const { proof, lifeS } = this.source.read({ headers, text });
    if (lifeS < SHORTEST_LIFE_S)
      throw new GatewayError('connect', `no token: expires_in is ${lifeS}, so the token is over at once`);
    return { proof, lifeS: Math.min(LONGEST_LIFE_S, lifeS) };
  }

  #pauseAsked(status: number, headers: TokenAnswer['headers']): { readonly retryAfterMs?: number } {
    if (status !== 429 && status !== 503) return {};
    const maxMs = this.config.maxRetryAfterSeconds * 1_000;
    const retryAfterMs = parseRetryAfter(headers, this.deps.clock.now(), maxMs);
    return retryAfterMs === null ? {} : { retryAfterMs };
  }

  async #request(signal: AbortSignal): Promise<TokenAnswer & { readonly status: number }> {
    const { method, path, headers, body } = this.source.request(this.deps.clock.now());
    const answer = await this.#pool.request({ method, path, headers, body, signal });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of answer.body) {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`);
      chunks.push(chunk);
    }
    const encoding = answer.headers['content-encoding'];
    const packed = Buffer.concat(chunks);
    const plain = unpacked(packed, encoding === undefined ? null : String(encoding), MAX_ANSWER_BYTES);
    const text = new TextDecoder().decode(plain);
    return { status: answer.statusCode, headers: answer.headers, text };
  }
}
