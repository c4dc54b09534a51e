// Tokens of OAuth 2 by client credentials (RFC 6749, 4.4): asked for once per process, renewed ahead of their end, and after
// the gateway refused one. A token server that fails is asked again with growing pauses; meanwhile calls fail as if the
// gateway could not be reached, and flow control holds them back. Used by the client. No token is ever logged.
import { Pool } from 'undici';
import type { GatewayConfig } from '../config/daemon-config.ts';
import type { Clock } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import type { Logger } from '../platform/logger.ts';
import { withTimeout } from '../platform/with-timeout.ts';
import { basicAuthorization, type Credentials, type Proof } from './credentials.ts';
import { GatewayError } from './gateway.ts';

const MAX_ANSWER_BYTES = 65_536;
/** Life of a token that comes without one, seconds: RFC 6749 lets the server leave it out. */
const UNKNOWN_LIFE_S = 3_600;
/** A token is renewed when a quarter of its life is left, at most so long before its end. */
const RENEW_AHEAD_MS = 60_000;
/** A token is not used in the last tenth of its life, at most so long: the call has to arrive, too. */
const UNUSED_MS = 2_000;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

interface Token {
  readonly proof: Proof;
  readonly issuedAt: number;
  readonly renewAt: number;
  readonly endsAt: number;
}

interface OAuthDeps {
  readonly clock: Clock;
  readonly log: Logger;
}

export class OAuthTokens implements Credentials {
  readonly #url: URL;
  readonly #pool: Pool;
  #token: Token | null = null;
  #pending: Promise<Token> | null = null;
  /** Why the last attempt failed, or the last token was refused; null while tokens work. */
  #trouble: GatewayError | null = null;
  #pauseMs = 0;
  /** No attempt before this time. */
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly config: Pick<GatewayConfig, 'url' | 'auth' | 'clientId' | 'clientSecret' | 'timeoutMs'>,
    private readonly deps: OAuthDeps,
  ) {
    const { tokenUrl } = config.auth;
    this.#url = new URL(tokenUrl?.startsWith('/') === true ? `${config.url}${tokenUrl}` : (tokenUrl ?? ''));
    this.#pool = new Pool(this.#url.origin, { connections: 1, connectTimeout: config.timeoutMs });
  }

  proof(): Proof | null {
    const token = this.#token;
    const now = this.deps.clock.monotonic();
    if (token === null || now >= token.endsAt) return null;
    if (now >= token.renewAt && now >= this.#nextAt) void this.#renewed().catch(() => {});
    return token.proof;
  }

  async prove(): Promise<Proof> {
    const left = this.#nextAt - this.deps.clock.monotonic();
    if (left > 0 && this.#pending === null && this.#trouble !== null) {
      const { failure, message } = this.#trouble;
      throw new GatewayError(failure, `${message}; next attempt in ${Math.ceil(left / 1_000)} s`);
    }
    return (await this.#renewed()).proof;
  }

  refused(proof: Proof): void {
    if (this.#token?.proof !== proof) return;
    const now = this.deps.clock.monotonic();
    const wasNew = now - this.#token.issuedAt < RENEW_AHEAD_MS;
    this.#token = null;
    this.#trouble = new GatewayError('auth', 'the gateway does not accept the token that was just issued');
    // The first refused token may have been revoked; when the next one is refused as well, asking on is of no use.
    if (wasNew) this.#backOff(now);
  }

  async close(): Promise<void> {
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
    try {
      const { token, lifeS } = await this.#issued();
      const lifeMs = lifeS * 1_000;
      this.#token = {
        proof: { headers: ['authorization', `Bearer ${token}`], query: '' },
        issuedAt: askedAt,
        renewAt: askedAt + lifeMs - Math.min(RENEW_AHEAD_MS, lifeMs / 4),
        endsAt: askedAt + lifeMs - Math.min(UNUSED_MS, lifeMs / 10),
      };
      // A token that is refused at once is no success: the pause then grows on.
      if (this.#trouble?.failure !== 'auth') this.#pauseMs = 0;
      this.#trouble = null;
      log.info({ expires_in_s: lifeS }, 'gateway token issued');
      return this.#token;
    } catch (error) {
      this.#trouble =
        error instanceof GatewayError ? error : new GatewayError('connect', `no token: ${messageOf(error)}`);
      this.#backOff(clock.monotonic());
      log.warn({ reason: this.#trouble.message, retry_in_ms: this.#pauseMs }, 'gateway token not issued');
      throw this.#trouble;
    }
  }

  #backOff(now: number): void {
    this.#pauseMs = Math.min(MAX_PAUSE_MS, this.#pauseMs === 0 ? FIRST_PAUSE_MS : 2 * this.#pauseMs);
    this.#nextAt = now + this.#pauseMs;
  }

  async #issued(): Promise<{ token: string; lifeS: number }> {
    const { timeoutMs } = this.config;
    const asking = new AbortController();
    const answer = this.#post(asking.signal);
    if (!(await withTimeout(timeoutMs, answer, this.deps.clock))) {
      asking.abort();
      answer.catch(() => {});
      throw new GatewayError('connect', `no token: the token server did not answer within ${timeoutMs} ms`);
    }
    const { status, text } = await answer;
    if (status === 400 || status === 401 || status === 403) {
      throw new GatewayError(
        'auth',
        `HTTP ${status} of the token server: it does not accept our client id and secret`,
      );
    }
    if (status !== 200) throw new GatewayError('connect', `no token: HTTP ${status} of the token server`);
    return tokenIn(text);
  }

  async #post(signal: AbortSignal): Promise<{ status: number; text: string }> {
    const { auth, clientId, clientSecret } = this.config;
    const [id, secret] = [clientId ?? '', clientSecret ?? ''];
    const inBody = auth.clientAuth === 'body';
    const form = new URLSearchParams({ grant_type: 'client_credentials' });
    if (auth.scope !== null) form.set('scope', auth.scope);
    if (inBody) form.set('client_id', id);
    if (inBody) form.set('client_secret', secret);
    const { statusCode, body } = await this.#pool.request({
      method: 'POST',
      path: this.#url.pathname + this.#url.search,
      headers: {
        accept: 'application/json',
        'user-agent': 'cardpoll',
        'content-type': 'application/x-www-form-urlencoded',
        // RFC 6749, 2.3.1: both are encoded as form fields first.
        ...(inBody ? {} : { authorization: basicAuthorization(formEncoded(id), formEncoded(secret)) }),
      },
      body: form.toString(),
      signal,
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`);
      chunks.push(chunk);
    }
    return { status: statusCode, text: Buffer.concat(chunks).toString() };
  }
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

/** @throws GatewayError that quotes nothing of the answer: it may hold a token. */
function tokenIn(text: string): { token: string; lifeS: number } {
  let answer: { access_token?: unknown; expires_in?: unknown } | null;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new GatewayError('connect', 'no token: the answer of the token server is not JSON');
  }
  const token = answer?.access_token;
  if (typeof token !== 'string' || !/^[\x21-\x7e]{1,16384}$/.test(token)) {
    throw new GatewayError('connect', 'no token: the answer of the token server has no access_token');
  }
  const given = answer?.expires_in;
  const lifeS = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given;
  if (typeof lifeS !== 'number') return { token, lifeS: UNKNOWN_LIFE_S };
  if (!(lifeS > 0))
    throw new GatewayError('connect', `no token: expires_in is ${lifeS}, so the token is over at once`);
  return { token, lifeS };
}
