// Decides who may use the admin API (contract, "Access"). Used by access.ts for /api/admin and /metrics. Two modes:
//   tokens configured: a bearer token; viewers read, operators change how polling runs, admins what is polled and kept;
//   no tokens, loopback only: open to this machine, but not to web pages in its browsers, which could reach it by a
//   name that resolves to 127.0.0.1 (DNS rebinding: foreign Host) or by a plain form post (foreign Origin).
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { AdminToken } from '../../domain/admin-token.ts';
import type { Actor } from '../../domain/audit.ts';
import { isLoopback } from '../../platform/addresses.ts';
import { CardpollError } from '../../platform/errors.ts';
import { TOKEN_EXPIRED, UNAUTHENTICATED } from '../problem.ts';

/** The caller of a server without tokens. */
export const LOCAL = 'local';

/** The parts of a request that decide about access. Browsers send Sec-Fetch-Site, and pages cannot change it. */
interface Credentials
  extends Pick<IncomingHttpHeaders, 'authorization' | 'host' | 'origin' | 'sec-fetch-site'> {
  readonly method: string;
  /** Only an admin may send this request. */
  readonly adminOnly: boolean;
}

/** The caller that a token authenticates. */
type Caller = Pick<Actor, 'name' | 'role'>;

/** Throws `auth`. */
export type Authenticator = (credentials: Credentials) => Caller;

const READING = new Set(['GET', 'HEAD']);

/**
 * @param listenHost name or address the server listens on. Throws `config` for an open server that other machines could reach.
 */
export function authenticator(
  tokens: readonly AdminToken[],
  listenHost: string,
  now: () => number,
): Authenticator {
  if (tokens.length > 0) return tokenAuthenticator(tokens, now);
  if (!isLoopback(listenHost)) {
    throw new CardpollError('config', 'tokens_missing', `listening on ${listenHost} needs admin tokens`, {
      hint: 'set CARDPOLL_ADMIN_TOKENS_FILE, or listen on 127.0.0.1',
    });
  }
  return localAuthenticator();
}

/** The token of an Authorization header; null: none. */
export function bearerToken(authorization: string | undefined): string | null {
  return /^Bearer +([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1] ?? null;
}

function tokenAuthenticator(tokens: readonly AdminToken[], now: () => number): Authenticator {
  const known = tokens.map((token) => ({ ...token, hash: Buffer.from(token.hash, 'hex') }));
  return ({ authorization, method, adminOnly }) => {
    const presented = sha256(bearerToken(authorization) ?? '');
    let caller: (typeof known)[number] | null = null;
    // Compares every entry, so that the time taken does not reveal whether or where a token matched.
    for (const entry of known) if (timingSafeEqual(entry.hash, presented)) caller = entry;
    if (caller === null) {
      const what = authorization === undefined ? 'this needs an admin token' : 'the admin token is not known';
      throw new CardpollError('auth', UNAUTHENTICATED, what, {
        hint: 'send Authorization: Bearer <token>; the command line takes --token-file or CARDPOLL_TOKEN',
      });
    }
    const { name, role, expiresAtMs } = caller;
    if (expiresAtMs !== null && now() >= expiresAtMs) throw expired(name, expiresAtMs);
    if (role === 'viewer' && !READING.has(method)) {
      throw new CardpollError('auth', 'forbidden', 'a viewer token may only read', {
        hint: 'use an operator token',
      });
    }
    if (role !== 'admin' && adminOnly) {
      throw new CardpollError('auth', 'admin_only', 'this needs a token with the role admin', {
        hint: 'only admins may change polling configs and retention, or delete rules',
      });
    }
    return { name, role };
  };
}

/** Only a caller with the right token gets this answer. */
function expired(name: string, expiresAtMs: number): CardpollError {
  const lastDay = new Date(expiresAtMs - 1).toISOString().slice(0, 10);
  return new CardpollError(
    'auth',
    TOKEN_EXPIRED,
    `the admin token of ${name} expired: ${lastDay} was its last day`,
    { hint: 'make another with `cardpoll token new`, add its line, and reload with SIGHUP' },
  );
}

function localAuthenticator(): Authenticator {
  return ({ host, origin, 'sec-fetch-site': fetchSite }) => {
    if (!isLoopback(hostName(host ?? ''))) {
      throw new CardpollError('auth', 'foreign_host', 'the Host header does not name this machine', {
        hint: 'use http://127.0.0.1 or http://localhost, or configure admin tokens',
      });
    }
    const isForeignPage = fetchSite === 'cross-site' || fetchSite === 'same-site';
    if (
      isForeignPage ||
      (origin !== undefined && !isLoopback(hostName(origin.replace(/^https?:\/\//, ''))))
    ) {
      throw new CardpollError('auth', 'foreign_origin', 'pages of other sites must not use this API');
    }
    return { name: LOCAL, role: 'admin' };
  };
}

/** The host of `host`, `host:port` or `[address]:port`. */
function hostName(host: string): string {
  return (/^\[([^\]]*)\](?::\d+)?$/.exec(host)?.[1] ?? host.replace(/:\d+$/, '')).toLowerCase();
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Whether tokens would cross a network in clear text. Behind a trusted proxy, the proxy provides HTTPS. */
export function tokensInClearText({
  host,
  tls,
  trustedProxies,
}: {
  readonly host: string;
  readonly tls: object | null;
  readonly trustedProxies: readonly unknown[];
}): boolean {
  return tls === null && trustedProxies.length === 0 && !isLoopback(host);
}
