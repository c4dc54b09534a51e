// Checks the credentials of a call as the profile's kind asks, and issues tokens of OAuth 2 and of logins. Credentials that the
// simulator has must be the same; those it does not have may be any. The inverse of request.ts and token-sources.ts.

import { randomUUID } from 'node:crypto';
import type { GatewayConfig } from '../../domain/gateway/gateway-config.ts';
import { objectIn } from '../../platform/json.ts';
import { SIGNATURE_HEADER, signatureOf, tokenPlaceOf } from '../request/request.ts';
import type { ReceivedCall, Reply } from './dialect.ts';
import { placed } from './placed.ts';
import { queryOf, type RequestTemplate, requestTemplate } from './template-match.ts';

const TOKEN_LIFE_S = 3_600;
/** Most tokens that are good at a time; the oldest one ends early. */
const MAX_TOKENS = 1_000;

export class ProofCheck {
  readonly #tokens = new Map<string, number>();
  readonly #tokenPath: string | null;
  readonly #login: RequestTemplate | null;

  /** @param now milliseconds, of any clock */
  constructor(
    private readonly profile: GatewayConfig,
    private readonly now: () => number,
  ) {
    const { kind, tokenUrl } = profile.auth;
    const url = kind === 'oauth2' && tokenUrl !== null ? new URL(tokenUrl, 'http://simulator') : null;
    this.#tokenPath = url && url.pathname + url.search;
    const { request } = profile.auth;
    const path =
      new URL(request?.url ?? 'http://simulator').pathname.replace(/\/$/, '') + (request?.path ?? '');
    this.#login = kind === 'login' && request !== null ? requestTemplate({ ...request, path }, null) : null;
  }

  accepts(call: ReceivedCall): boolean {
    const { hmacKey } = this.profile;
    return this.#isProven(call) && (hmacKey === null || isSigned(call, hmacKey));
  }

  /** @returns the answer to a request for a token; null: the call is none. */
  grant(call: ReceivedCall): Reply | null {
    return this.#login?.fitsHead(call.method, call.url) === true
      ? this.#logIn(this.#login.valuesOf(call))
      : this.#grantOAuth(call);
  }

  #logIn(given: ReturnType<RequestTemplate['valuesOf']>): Reply {
    if (given === null) return refused(400, 'invalid_request');
    const { username, password, clientId, clientSecret, token, auth, success } = this.profile;
    const own = { username, password, client_id: clientId, client_secret: clientSecret, token };
    for (const [name, value] of Object.entries(own)) {
      const sent = given[name as keyof typeof own];
      if (sent !== undefined && !isSame(sent, value)) return refused(401, 'wrong credentials');
    }
    const lifeS = Math.min(auth.goodFor ?? TOKEN_LIFE_S, TOKEN_LIFE_S);
    const values: Array<[path: string | null, value: unknown]> = [
      [auth.token, this.#issue(lifeS)],
      [auth.expiresIn, lifeS],
      [success?.path ?? null, success?.values[0]],
    ];
    const body = values.reduce<unknown>(
      (made, [path, value]) => (path === null ? made : placed(made, path, value)),
      {},
    );
    return { status: 200, body: JSON.stringify(body) };
  }

  #issue(lifeS: number): string {
    const token = randomUUID();
    this.#tokens.set(token, this.now() + lifeS * 1_000);
    const [oldest] = this.#tokens.keys();
    if (this.#tokens.size > MAX_TOKENS && oldest !== undefined) this.#tokens.delete(oldest);
    return token;
  }

  #grantOAuth({ method, url, headers, body }: ReceivedCall): Reply | null {
    if (this.#tokenPath === null || url !== this.#tokenPath) return null;
    if (method !== 'POST') return refused(405, 'invalid_request');
    const { auth, clientId, clientSecret } = this.profile;
    const asked = fieldsOf(auth.tokenRequest, headers['content-type'], body);
    if (asked?.grant_type !== 'client_credentials') {
      return refused(400, asked === null ? 'invalid_request' : 'unsupported_grant_type');
    }
    const [id, secret] =
      auth.clientAuth === 'body'
        ? [asked.client_id, asked.client_secret]
        : (basicPair(headers.authorization)?.map(auth.tokenRequest === 'json' ? String : formDecoded) ?? []);
    if (!isSame(id, clientId) || !isSame(secret, clientSecret)) return refused(401, 'invalid_client');
    if (auth.scope !== null && asked.scope !== auth.scope) return refused(400, 'invalid_scope');
    const granted = {
      access_token: this.#issue(TOKEN_LIFE_S),
      token_type: 'bearer',
      expires_in: TOKEN_LIFE_S,
    };
    return { status: 200, body: JSON.stringify(granted) };
  }

  #isProven({ url, headers }: ReceivedCall): boolean {
    const { auth, token, username, password } = this.profile;
    if (auth.kind === 'hmac') return SIGNATURE.test(headers[SIGNATURE_HEADER]?.toString() ?? '');
    if (auth.kind === 'basic') {
      const [user, secret] = basicPair(headers.authorization) ?? [];
      return isSame(user, username) && isSame(secret, password);
    }
    const place = tokenPlaceOf(this.profile);
    if (place === null) return true;
    const given =
      place.in === 'query'
        ? (queryOf(url).get(place.name) ?? '')
        : schemeless(headers[place.name.toLowerCase()]?.toString(), place.scheme);
    const isIssued = auth.kind === 'oauth2' || auth.kind === 'login';
    return isIssued ? (this.#tokens.get(given) ?? 0) > this.now() : isSame(given, token);
  }
}

const SIGNATURE = /^t=(\d{1,12}),v1=[0-9a-f]{64}$/;

function isSigned({ method, url, headers, body }: ReceivedCall, key: string): boolean {
  const given = headers[SIGNATURE_HEADER]?.toString() ?? '';
  const seconds = SIGNATURE.exec(given)?.[1];
  if (seconds === undefined) return false;
  return isSame(given, signatureOf({ method, path: url, body }, key, Number(seconds) * 1_000));
}

function schemeless(value = '', scheme: string | null): string {
  if (scheme === null) return value;
  return value.startsWith(`${scheme} `) ? value.slice(scheme.length + 1) : '';
}

/** @param expected null: any text will do. */
function isSame(given: string | undefined, expected: string | null): boolean {
  return given !== undefined && given !== '' && (expected === null || given === expected);
}

/** User and password of an Authorization header. */
function basicPair(authorization = ''): [string, string] | null {
  const encoded = /^Basic ([\w+/=-]+)$/.exec(authorization)?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  return colon === -1 ? null : [text.slice(0, colon), text.slice(colon + 1)];
}

function formDecoded(text: string): string {
  return new URLSearchParams(`v=${text}`).get('v') ?? '';
}

/** The fields of a form or of a JSON object; null: the body is not what was expected. */
function fieldsOf(
  expected: 'form' | 'json',
  type = '',
  body: string,
): Readonly<Record<string, string | undefined>> | null {
  if (!type.startsWith(expected === 'json' ? 'application/json' : 'application/x-www-form-urlencoded'))
    return null;
  if (expected === 'form') return Object.fromEntries(new URLSearchParams(body));
  return objectIn(body) as Record<string, string> | null;
}

function refused(status: number, error: string): Reply {
  return { status, body: JSON.stringify({ error }) };
}
