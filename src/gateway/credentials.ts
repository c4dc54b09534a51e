// How a call shows who makes it: what is added to a request. Used by the client. Kind oauth2 gets its tokens from
// oauth-tokens.ts; the others never change.
import { createHmac } from 'node:crypto';
import type { GatewayConfig } from '../config/daemon-config.ts';
import type { GatewayRequest } from './request.ts';

/** What is added to a request. */
export interface Proof {
  /** Name, value, name, value. */
  readonly headers: readonly string[];
  /** `name=value`, or empty. */
  readonly query: string;
}

export interface Credentials {
  /** @returns null when a token is needed first: `prove` gets it. */
  proof(): Proof | null;
  /** @throws GatewayError when there is no token to be had. */
  prove(): Promise<Proof>;
  /** The gateway did not accept a call with this proof. */
  refused(proof: Proof): void;
  close(): Promise<void>;
}

const NOTHING: Proof = { headers: [], query: '' };

/** The proof of every kind that does not change. */
export function fixedProof(config: Pick<GatewayConfig, 'auth' | 'token' | 'username' | 'password'>): Proof {
  const { auth, token, username, password } = config;
  const given = token ?? '';
  const name = auth.name ?? '';
  switch (auth.kind ?? (token === null ? 'none' : 'bearer')) {
    case 'bearer':
      return { ...NOTHING, headers: ['authorization', `Bearer ${given}`] };
    case 'basic':
      return { ...NOTHING, headers: ['authorization', basicAuthorization(username ?? '', password ?? '')] };
    case 'header':
      return { ...NOTHING, headers: [name.toLowerCase(), given] };
    case 'query':
      return { ...NOTHING, query: `${encodeURIComponent(name)}=${encodeURIComponent(given)}` };
    case 'oauth2':
    case 'hmac':
    case 'none':
      return NOTHING;
  }
}

export function basicAuthorization(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

export class FixedCredentials implements Credentials {
  constructor(private readonly fixed: Proof) {}

  proof(): Proof {
    return this.fixed;
  }

  prove(): Promise<Proof> {
    return Promise.resolve(this.fixed);
  }

  refused(): void {}

  close(): Promise<void> {
    return Promise.resolve();
  }
}

export const SIGNATURE_HEADER = 'x-cardpoll-signature';

type Signed = Pick<GatewayRequest, 'path' | 'headers' | 'body'> & { readonly method: string };

export function withProof(request: GatewayRequest, { headers, query }: Proof): GatewayRequest {
  const separator = request.path.includes('?') ? '&' : '?';
  return {
    ...request,
    path: query === '' ? request.path : `${request.path}${separator}${query}`,
    headers: headers.length === 0 ? request.headers : [...request.headers, ...headers],
  };
}

/**
 * Adds the signature header: `t=<unix seconds>,v1=<hex>`, where <hex> is HMAC-SHA256 under the shared key of
 * "<t>.<METHOD>.<path as sent, with query>.<body>". The gateway should refuse a `t` more than five minutes away from its
 * own clock, so that a recorded call cannot be replayed.
 */
export function withSignature<R extends Signed>(request: R, key: string, atMs: number): R {
  const t = Math.floor(atMs / 1000);
  const text = `${t}.${request.method}.${request.path}.${request.body ?? ''}`;
  const signature = `t=${t},v1=${createHmac('sha256', key).update(text).digest('hex')}`;
  return { ...request, headers: [...request.headers, SIGNATURE_HEADER, signature] };
}
