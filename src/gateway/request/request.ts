// The type of a request. Adds credentials and a signature to it, and masks these in text from the gateway. Used by the client,
// and by trials. template.ts makes requests, and auth/tokens.ts requests tokens.

import { createHmac } from 'node:crypto';
import type { GatewayConfig, TokenPlace } from '../../domain/gateway/gateway-config.ts';
import type { GatewayMethod } from '../../domain/gateway-interface.ts';
import type { Proxies } from '../../platform/proxy/http-proxy.ts';

export interface GatewayRequest {
  readonly method: GatewayMethod;
  /** As sent: the path of the base URL, then the interface's, with the query. */
  readonly path: string;
  /** Name, value, name, value. */
  readonly headers: string[];
  /** null: no body. */
  readonly body: string | null;
  /** The parts with credentials, whose values are never shown. */
  readonly secret: SecretParts;
}

/** Parts of a request, by the names of headers and parameters. */
interface SecretParts {
  readonly headers: readonly string[];
  readonly query: readonly string[];
  readonly body: boolean;
}

export const NO_SECRET: SecretParts = { headers: [], query: [], body: false };

export const SIGNATURE_HEADER = 'x-cardpoll-signature';
export const MASK = '***';
const BASIC = 'Basic ';
/** A shorter secret would also match unrelated text. */
const LEAST_SECRET_CHARS = 6;

/** The credentials that are added to a request. */
export interface Proof {
  /** Name, value, name, value. */
  readonly headers: readonly string[];
  /** `name=value`, or empty. */
  readonly query: string;
}

const NOTHING: Proof = { headers: [], query: '' };

const BEARER: TokenPlace = { in: 'header', name: 'Authorization', scheme: 'Bearer' };

/** Where calls carry their token; null: they have none. */
export function tokenPlaceOf({ auth, token }: Pick<GatewayConfig, 'auth' | 'token'>): TokenPlace | null {
  const { name, scheme, send } = auth;
  switch (auth.kind ?? (token === null ? 'none' : 'bearer')) {
    case 'bearer':
    case 'oauth2':
      return BEARER;
    case 'header':
      return { in: 'header', name: name ?? '', scheme };
    case 'query':
      return { in: 'query', name: name ?? '', scheme: null };
    case 'login':
      return send ?? cookieOf(auth.token) ?? BEARER;
    case 'basic':
    case 'hmac':
    case 'none':
      return null;
  }
}

/** A token from a cookie is sent back in that cookie. */
function cookieOf(token: string | null): TokenPlace | null {
  const [, name] = /^cookie:(.+)$/.exec(token ?? '') ?? [];
  return name === undefined ? null : { in: 'cookie', name, scheme: null };
}

export function tokenProof({ in: where, name, scheme }: TokenPlace, token: string): Proof {
  if (where === 'query')
    return { ...NOTHING, query: `${encodeURIComponent(name)}=${encodeURIComponent(token)}` };
  if (where === 'cookie') return { ...NOTHING, headers: ['cookie', `${name}=${token}`] };
  return { ...NOTHING, headers: [name.toLowerCase(), scheme === null ? token : `${scheme} ${token}`] };
}

/** The proof of every kind of fixed credentials; empty for issued tokens. */
export function fixedProof(config: Pick<GatewayConfig, 'auth' | 'token' | 'username' | 'password'>): Proof {
  const { auth, token, username, password } = config;
  if (auth.kind === 'basic')
    return { ...NOTHING, headers: ['authorization', basicAuthorization(username ?? '', password ?? '')] };
  const isIssued = auth.kind === 'oauth2' || auth.kind === 'login';
  const place = isIssued ? null : tokenPlaceOf(config);
  return place === null ? NOTHING : tokenProof(place, token ?? '');
}

export function basicAuthorization(username: string, password: string): string {
  return `${BASIC}${base64Of(username, password)}`;
}

function base64Of(username: string, password: string): string {
  return Buffer.from(`${username}:${password}`).toString('base64');
}

/** @param query `name=value`, several with `&` between them, or empty. */
export function withQuery(path: string, query: string): string {
  return query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;
}

type Signed = Pick<GatewayRequest, 'path' | 'headers' | 'body' | 'secret'> & { readonly method: string };

export function withProof(request: GatewayRequest, { headers, query }: Proof): GatewayRequest {
  return withSecrets(request, pairs(headers), query);
}

/** @returns a function that adds a proof to a request. Headers that are unchanged since the last request are built only once. */
export function prover(): (request: GatewayRequest, proof: Proof) => GatewayRequest {
  let last: { readonly from: GatewayRequest; readonly by: Proof; readonly made: GatewayRequest } | null =
    null;
  return (request, proof) => {
    if (last?.from.headers !== request.headers || last.from.secret !== request.secret || last.by !== proof)
      last = { from: request, by: proof, made: withProof(request, proof) };
    const { headers, secret } = last.made;
    const { method, path, body } = request;
    return { method, path: withQuery(path, proof.query), headers, body, secret };
  };
}

/** These describe the form of a body, not its sender. */
const PUBLIC_HEADERS = ['accept', 'accept-encoding', 'content-type'];

/** @param headers names in lower case; each replaces a header of that name. @param body replaces the request's body. */
export function withSecrets<R extends Signed>(
  request: R,
  headers: ReadonlyArray<readonly [name: string, value: string]>,
  query: string,
  body = request.body,
): R {
  const names = headers.map(([name]) => name);
  const { secret } = request;
  return {
    ...request,
    path: withQuery(request.path, query),
    headers: [...without(names, request.headers), ...headers.flat()],
    body,
    secret: {
      headers: [...secret.headers, ...names.filter((name) => !PUBLIC_HEADERS.includes(name))],
      query: [...secret.query, ...new URLSearchParams(query).keys()],
      body: secret.body || body !== request.body,
    },
  };
}

/**
 * Adds the signature header: `t=<unix seconds>,v1=<hex>`, where <hex> is HMAC-SHA256 under the shared key of
 * "<t>.<METHOD>.<path as sent, with query>.<body>". The gateway should refuse a `t` more than five minutes away from its
 * own clock, so that a recorded call cannot be replayed.
 */
export function withSignature<R extends Signed>(request: R, key: string, atMs: number): R {
  return withSecrets(request, [[SIGNATURE_HEADER, signatureOf(request, key, atMs)]], '');
}

/** The value of the signature header. */
export function signatureOf(
  request: Pick<GatewayRequest, 'path' | 'body'> & { readonly method: string },
  key: string,
  atMs: number,
): string {
  const t = Math.floor(atMs / 1000);
  const text = `${t}.${request.method}.${request.path}.${request.body ?? ''}`;
  return `t=${t},v1=${createHmac('sha256', key).update(text).digest('hex')}`;
}

type Secrets = Pick<GatewayConfig, 'token' | 'username' | 'password' | 'clientSecret' | 'hmacKey'>;

/**
 * Masks credentials in text from the gateway or a module: a vendor may quote the token that it refuses.
 * @param request null: no request was made.
 * @param proxies a proxy may quote the request that it refuses.
 * @returns a function that replaces every secret of the profile and of the signature, anywhere in a text.
 */
export function maskFor(
  profile: Secrets,
  request: GatewayRequest | null,
  { http, https }: Proxies,
): (text: string) => string {
  const { token, username, password, clientSecret } = profile;
  const basic = username === null || password === null ? [] : [base64Of(username, password)];
  const carried = request === null ? [] : secretValues(request);
  const ofProxies = [http, https].map((proxy) => proxy?.authorization?.slice(BASIC.length) ?? null);
  const secrets = [token, password, clientSecret, ...ofProxies, ...keyParts(profile), ...basic, ...carried]
    .filter((secret) => secret !== null)
    .filter((secret) => secret.length >= LEAST_SECRET_CHARS)
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    // Longest first: a secret that is a part of another one would leave the rest visible.
    .sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((masked, secret) => masked.replaceAll(secret, MASK), text);
}

/** A vendor's several secrets are in one key, which a module takes apart. */
function keyParts({ hmacKey }: Pick<Secrets, 'hmacKey'>): string[] {
  return hmacKey === null ? [] : [hmacKey, ...hmacKey.split(/[\s"'{}|,;:]+/)];
}

function secretValues({ path, headers, secret }: GatewayRequest): string[] {
  const query = new URLSearchParams(path.slice(path.split('?', 1)[0]?.length));
  return [
    // Without the scheme, or the name of the cookie: the token may be quoted alone.
    ...pairs(headers).flatMap(([name, value]) =>
      secret.headers.includes(name) ? [value, value.replace(/^[^\s=]+[ =]/, '')] : [],
    ),
    ...secret.query.flatMap((name) => query.getAll(name)),
  ];
}

export function pairs(headers: readonly string[]): Array<[name: string, value: string]> {
  return headers.flatMap((name, i) =>
    i % 2 === 0 ? [[name, headers[i + 1] ?? ''] as [string, string]] : [],
  );
}

/** @returns the headers, except the replaced ones. All names are in lower case. */
export function without(replaced: readonly string[], headers: readonly string[]): string[] {
  return pairs(headers).flatMap((header) => (replaced.includes(header[0]) ? [] : header));
}
