// Requests tokens: OAuth 2 by client credentials (RFC 6749, 4.4), or a login as the profile describes it. Each source makes the
// request and reads the token from the answer; tokens.ts decides when. Error messages quote nothing of an answer except a known
// error code: the rest may contain a token or the credentials.

import type { IncomingHttpHeaders } from 'node:http';
import type { MonthCalendar } from '../../domain/cards/month-calendar.ts';
import type { GatewayConfig } from '../../domain/gateway/gateway-config.ts';
import { parseValuePath, valueAt } from '../../domain/gateway/profile-syntax.ts';
import { isObject, jsonIn, objectIn } from '../../platform/json.ts';
import type { Proxies } from '../../platform/proxy/http-proxy.ts';
import { GatewayError } from '../gateway.ts';
import { commonValues } from '../request/common-values.ts';
import {
  basicAuthorization,
  type GatewayRequest,
  maskFor,
  type Proof,
  tokenPlaceOf,
  tokenProof,
} from '../request/request.ts';
import { requestTemplate } from '../request/template.ts';

export interface Issued {
  readonly proof: Proof;
  /** Life that the answer states. */
  readonly lifeS: number;
}

export interface TokenAnswer {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface TokenSource {
  readonly url: string;
  /** The token is outside the body: a login by form is answered by a redirect that already carries it. */
  readonly isRedirected: boolean;
  request(nowMs: number): Pick<GatewayRequest, 'method' | 'path' | 'headers' | 'body'>;
  /** The error of HTTP 400, 401 or 403. */
  refusal(status: number, text: string): GatewayError;
  /** @param answer without an error status. @throws GatewayError */
  read(answer: TokenAnswer): Issued;
}

/** @returns null: calls need no issued token. */
export function tokenSourceOf(
  profile: GatewayConfig,
  calendar: MonthCalendar,
  proxies: Proxies,
): TokenSource | null {
  switch (profile.auth.kind) {
    case 'oauth2':
      return oauthSource(profile);
    case 'login':
      return loginSource(profile, calendar, proxies);
    default:
      return null;
  }
}

const TOKEN = /^[\x21-\x7e]{1,16384}$/;
/** Life of a token without a stated life, seconds: RFC 6749 lets the server leave it out. */
const UNKNOWN_LIFE_S = 3_600;
/** The errors of RFC 6749, 5.2. */
const OAUTH_ERRORS: readonly unknown[] = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
];

function oauthSource(profile: GatewayConfig): TokenSource {
  const { auth, clientId, clientSecret } = profile;
  const { tokenUrl, scope } = auth;
  const url = tokenUrl?.startsWith('/') === true ? `${profile.url}${tokenUrl}` : (tokenUrl ?? '');
  const { pathname, search } = new URL(url);
  const [id, secret] = [clientId ?? '', clientSecret ?? ''];
  const inBody = auth.clientAuth === 'body';
  const isJson = auth.tokenRequest === 'json';
  // RFC 6749, 2.3.1: both are form-encoded before they go into a header. A server that takes JSON does not expect that.
  const pair = isJson ? ([id, secret] as const) : ([formEncoded(id), formEncoded(secret)] as const);
  const fields = {
    grant_type: 'client_credentials',
    ...(scope === null ? {} : { scope }),
    ...(inBody ? { client_id: id, client_secret: secret } : {}),
  };
  const headers = ['accept', 'application/json', 'user-agent', 'cardpoll'];
  headers.push('content-type', isJson ? 'application/json' : 'application/x-www-form-urlencoded');
  if (!inBody) headers.push('authorization', basicAuthorization(...pair));
  const body = isJson ? JSON.stringify(fields) : new URLSearchParams(fields).toString();
  return {
    url,
    isRedirected: false,
    request: () => ({ method: 'POST', path: pathname + search, headers, body }),
    refusal: (status, text) => {
      const error = objectIn(text)?.error;
      const check =
        error === 'invalid_scope'
          ? 'gateway.auth.scope'
          : 'the client id and secret, and gateway.auth.client_auth';
      return refused(status, OAUTH_ERRORS.includes(error) ? error : null, check);
    },
    read: ({ text }) => {
      const { access_token: token, expires_in: given } = tokenFields(text);
      const proof = proofIn(profile, token, 'no access_token');
      return { proof, lifeS: secondsIn(given) ?? UNKNOWN_LIFE_S };
    },
  };
}

/** @throws GatewayError if the answer cannot be understood; a login with a wrong password may get such an answer. */
function loginSource(profile: GatewayConfig, calendar: MonthCalendar, proxies: Proxies): TokenSource {
  const { request: login, token, expiresIn, goodFor } = profile.auth;
  const { errors } = profile;
  if (login === null) throw new Error('a login without a request');
  const url = login.url ?? profile.url;
  const request = requestTemplate(login, url);
  const valuesAt = commonValues(login, profile, calendar);
  const mask = maskFor(profile, null, proxies);
  const at = (body: unknown, path: string | null) =>
    path === null ? undefined : valueAt(body, parseValuePath(path) ?? []);
  /** The error code of an answer, if the field holds a code and nothing else. */
  const codeIn = (body: unknown) => {
    const code = String(at(body, errors.path) ?? '');
    return /^[\w.-]{1,40}$/.test(code) && mask(code) === code ? code : null;
  };
  const check = 'the credentials and gateway.auth.request';
  const [, place, name = ''] = OUTSIDE.exec(token ?? '') ?? [];
  const tokenIn = ({ headers }: TokenAnswer, body: unknown) => {
    if (place === undefined) return at(body, token);
    return place === 'cookie' ? cookieIn(headers['set-cookie'], name) : headers[name.toLowerCase()];
  };
  return {
    url,
    isRedirected: place !== undefined,
    request: (nowMs) => request(valuesAt(nowMs)),
    refusal: (status, text) => refused(status, codeIn(jsonIn(text)), check),
    read: (answer) => {
      const body = place === undefined ? jsonOf(answer.text) : jsonIn(answer.text);
      const code = codeIn(body);
      const said = code === null ? '' : `, and ${errors.path} ${code}`;
      const proof = proofIn(
        profile,
        tokenIn(answer, body),
        `none at ${token}${said}`,
        code !== null && errors.auth.includes(code),
      );
      const lifeS = secondsIn(at(body, expiresIn)) ?? goodFor;
      if (lifeS === null)
        throw new GatewayError(
          'connect',
          `no token: the answer does not say at ${expiresIn} how many seconds it is good`,
        );
      return { proof, lifeS };
    },
  };
}

/** Places outside the body: `header:X-Subject-Token`, `cookie:SESSION`. */
const OUTSIDE = /^(header|cookie):(.+)$/;

/**
 * @param lines Set-Cookie headers; the last one of a name counts. @returns undefined: no such cookie, or the server deletes it.
 */
function cookieIn(lines: string | readonly string[] = [], name: string): string | undefined {
  const values = [lines].flat().flatMap((line) => {
    const [pair = ''] = line.split(';', 1);
    const [own, ...value] = pair.split('=');
    return own?.trim() === name ? [value.join('=').trim()] : [];
  });
  return values.at(-1) || undefined;
}

function tokenFields(text: string): Record<string, unknown> {
  const body = jsonOf(text);
  return isObject(body) ? body : {};
}

function jsonOf(text: string): unknown {
  const body = jsonIn(text);
  if (body !== undefined) return body;
  throw new GatewayError('connect', 'no token: the answer of the token server is not JSON');
}

/** @param otherwise what the answer contains instead. @param isRefusal the answer says that the credentials are wrong. */
function proofIn(profile: GatewayConfig, token: unknown, otherwise: string, isRefusal = false): Proof {
  const place = tokenPlaceOf(profile);
  if (place !== null && typeof token === 'string' && TOKEN.test(token)) return tokenProof(place, token);
  throw new GatewayError(
    isRefusal ? 'auth' : 'connect',
    `no token: the answer of the token server has ${otherwise}`,
  );
}

function refused(status: number, error: unknown, check: string): GatewayError {
  const reason = error === null ? '' : `: ${error}`;
  return new GatewayError('auth', `no token: HTTP ${status} of the token server${reason}; check ${check}`);
}

/** @returns null: not a number. */
function secondsIn(given: unknown): number | null {
  const seconds = typeof given === 'string' && /^-?\d+(\.\d+)?$/.test(given) ? Number(given) : given;
  return typeof seconds === 'number' ? seconds : null;
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}
