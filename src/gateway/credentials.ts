// The headers that prove to the gateway who is calling. Used by the client for every call.
//
// Bearer token: `authorization: Bearer <token>`. HMAC: `x-cardpoll-signature: t=<unix seconds>,v1=<hex>`, where <hex> is
// HMAC-SHA256 under the shared key of "<t>.<METHOD>.<path as sent, with query>.<body>". The gateway should refuse a `t`
// more than five minutes away from its own clock, so that a recorded call cannot be replayed. Both may be configured.
import { createHmac } from 'node:crypto';
import type { GatewayConfig } from '../config/daemon-config.ts';

export const SIGNATURE_HEADER = 'x-cardpoll-signature';

interface SignedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** The value of the signature header. */
export function signatureOf(key: string, request: SignedRequest, atMs: number): string {
  const t = Math.floor(atMs / 1000);
  const text = `${t}.${request.method}.${request.path}.${request.body}`;
  return `t=${t},v1=${createHmac('sha256', key).update(text).digest('hex')}`;
}

/** Headers that are the same for every call, as name, value, name, value ... */
export function fixedHeaders({ token }: Pick<GatewayConfig, 'token'>): string[] {
  const headers = ['accept', 'application/json', 'user-agent', 'cardpoll'];
  if (token !== null) headers.push('authorization', `Bearer ${token}`);
  return headers;
}
