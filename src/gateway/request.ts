// Makes the requests of one interface from its profile: the template is compiled once, and a call only fills in the card. Then
// it shows who makes the call, by credentials and a signature; and it masks these in text that comes from the gateway. Used by
// the client, and by trials. Tokens of OAuth are from oauth-tokens.ts.
import { createHmac } from 'node:crypto';
import type { GatewayConfig, GatewayInterface } from '../config/daemon-config.ts';
import type { JsonTemplate } from '../config/gateway/profile-kinds.ts';
import type { MonthCalendar } from '../domain/cards/usage-month.ts';
import { type Placeholder, partsOf } from '../domain/gateway/profile-syntax.ts';
import type { GatewayMethod } from '../domain/gateway-interface.ts';
import type { CalledCard } from './gateway.ts';

export interface GatewayRequest {
  readonly method: GatewayMethod;
  /** As sent: the path of the base URL, then the interface's, with the query. */
  readonly path: string;
  /** Name, value, name, value. */
  readonly headers: string[];
  /** null without one. */
  readonly body: string | null;
  /** The parts that show who makes the call; nobody is shown what they hold. */
  readonly secret: SecretParts;
}

/** Parts of a request, by the names of headers and parameters. */
interface SecretParts {
  readonly headers: readonly string[];
  readonly query: readonly string[];
  readonly body: boolean;
}

const NO_SECRET: SecretParts = { headers: [], query: [], body: false };

/** What the placeholders stand for in one call. */
type Values = Readonly<Record<Exclude<Placeholder, 'iccids'>, string>> & {
  readonly iccids: readonly string[];
};

type Fill = (values: Values) => string;

export const SIGNATURE_HEADER = 'x-cardpoll-signature';
export const MASK = '***';
/** A secret of fewer characters is found in places that have nothing to do with it. */
const LEAST_SECRET_CHARS = 6;
const FIXED_HEADERS = ['accept', 'application/json', 'user-agent', 'cardpoll'];

/**
 * @param basePath path of the base URL, without a slash at its end.
 * @returns a function that makes the request for some cards; the time decides {month} and {date}.
 */
export function requestMaker(call: GatewayInterface, basePath: string, calendar: MonthCalendar) {
  const { method, path, query, body, bodyText, form } = call;
  const join = call.batch?.join ?? ',';
  const fillPath = filled(withQuery(basePath + path, formText(query)), join, encodeURIComponent);
  const fillHeaders = Object.entries(call.headers).map(
    ([name, text]) => [name.toLowerCase(), filled(text, join, encodeURIComponent)] as const,
  );
  const fillForm = form && filled(formText(form), join, encodeURIComponent);
  const fillText = bodyText === null ? fillForm : filled(bodyText, join, textCodec(bodyText));
  const fillBody = body === null ? fillText : jsonBody(body, join);
  const fixedHeaders = without(
    fillHeaders.map(([name]) => name),
    [...FIXED_HEADERS, ...contentTypeOf(call)],
  );
  const usesDate = /\{(month|date|yyyymm|yyyymmdd)\}/.test(JSON.stringify(call));
  return (cards: readonly [CalledCard, ...CalledCard[]], nowMs: number): GatewayRequest => {
    const [{ iccid, cardId, carrierId, vendorId }] = cards;
    const date = usesDate ? calendar.dateOf(nowMs) : '';
    const values = {
      iccid,
      card_id: String(cardId),
      carrier_id: String(carrierId),
      vendor_id: vendorId ?? '',
      date,
      month: date.slice(0, 7),
      yyyymmdd: date.replaceAll('-', ''),
      yyyymm: date.slice(0, 7).replace('-', ''),
      iccids: cards.map((card) => card.iccid),
    };
    const headers = [...fixedHeaders];
    for (const [name, fill] of fillHeaders) headers.push(name, fill(values));
    return { method, path: fillPath(values), headers, body: fillBody?.(values) ?? null, secret: NO_SECRET };
  };
}

/** @param query `name=value`, several with `&` between them, or empty. */
function withQuery(path: string, query: string): string {
  return query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;
}

function contentTypeOf({ method, body, bodyText, form }: GatewayInterface): readonly string[] {
  if (form !== null) return ['content-type', 'application/x-www-form-urlencoded'];
  if (bodyText !== null) return ['content-type', isXml(bodyText) ? 'application/xml' : 'text/plain'];
  const isBare = method === 'GET' || method === 'DELETE';
  return body !== null || !isBare ? ['content-type', 'application/json'] : [];
}

function isXml(text: string): boolean {
  return text.trimStart().startsWith('<');
}

/** How a value is written in a text of this form. */
function textCodec(text: string): (value: string) => string {
  if (!isXml(text)) return (value) => value;
  return (value) => value.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** Names and texts as in a query, with placeholders left as they are. */
function formText(texts: Readonly<Record<string, string>>): string {
  return Object.entries(texts)
    .map(([name, text]) => `${encodeURIComponent(name)}=${keepingPlaceholders(text)}`)
    .join('&');
}

function keepingPlaceholders(text: string): string {
  const { texts, placeholders } = partsOf(text);
  return texts
    .map((part, i) => encodeURIComponent(part) + (i < placeholders.length ? `{${placeholders[i]}}` : ''))
    .join('');
}

/** @param join between the cards of a batch. @param encode for the values; the rest of the template is sent as it is. */
function filled(template: string, join: string, encode: (value: string) => string): Fill {
  const { texts, placeholders } = partsOf(template);
  return (values) => {
    let text = texts[0] ?? '';
    placeholders.forEach((placeholder, i) => {
      const value = values[placeholder];
      // What joins a list is no part of a card number, so it stays as it is.
      text += typeof value === 'string' ? encode(value) : value.map(encode).join(join);
      text += texts[i + 1];
    });
    return text;
  };
}

/** A text that is exactly {iccids} becomes the list, and so does a list of this text alone. */
function jsonBody(body: JsonTemplate, join: string): Fill {
  const lists = JSON.stringify(body)
    .split(/\["\{iccids\}"\]|"\{iccids\}"/)
    .map((part) => filled(part, join, quoted));
  return (values) => lists.map((fill) => fill(values)).join(JSON.stringify(values.iccids));
}

/** As within a JSON text. */
function quoted(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

/** What is added to a request to show who makes it. */
export interface Proof {
  /** Name, value, name, value. */
  readonly headers: readonly string[];
  /** `name=value`, or empty. */
  readonly query: string;
}

const NOTHING: Proof = { headers: [], query: '' };

/** The proof of every kind of credentials that does not change; tokens of OAuth do. */
export function fixedProof(config: Pick<GatewayConfig, 'auth' | 'token' | 'username' | 'password'>): Proof {
  const { auth, token, username, password } = config;
  const given = token ?? '';
  const { scheme } = auth;
  const name = auth.name ?? '';
  switch (auth.kind ?? (token === null ? 'none' : 'bearer')) {
    case 'bearer':
      return { ...NOTHING, headers: ['authorization', `Bearer ${given}`] };
    case 'basic':
      return { ...NOTHING, headers: ['authorization', basicAuthorization(username ?? '', password ?? '')] };
    case 'header':
      return { ...NOTHING, headers: [name.toLowerCase(), scheme === null ? given : `${scheme} ${given}`] };
    case 'query':
      return { ...NOTHING, query: `${encodeURIComponent(name)}=${encodeURIComponent(given)}` };
    case 'oauth2':
    case 'hmac':
    case 'none':
      return NOTHING;
  }
}

export function basicAuthorization(username: string, password: string): string {
  return `Basic ${base64Of(username, password)}`;
}

function base64Of(username: string, password: string): string {
  return Buffer.from(`${username}:${password}`).toString('base64');
}

type Signed = Pick<GatewayRequest, 'path' | 'headers' | 'body' | 'secret'> & { readonly method: string };

export function withProof(request: GatewayRequest, { headers, query }: Proof): GatewayRequest {
  return withSecrets(request, pairs(headers), query);
}

/** They say in which form a body is, not who sends it. */
const PUBLIC_HEADERS = ['accept', 'content-type'];

/** @param headers names in lower case; each replaces one of the same name. @param body replaces that of the request. */
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
 * Replaces credentials in text that comes from the gateway or a module: a vendor may quote the token that it refuses.
 * @param request null: none was made.
 * @returns a function that replaces every secret of the profile, and what the request was signed with, wherever they are.
 */
export function maskFor(profile: Secrets, request: GatewayRequest | null): (text: string) => string {
  const { token, username, password, clientSecret } = profile;
  const basic = username === null || password === null ? [] : [base64Of(username, password)];
  const carried = request === null ? [] : secretValues(request);
  const secrets = [token, password, clientSecret, ...keyParts(profile), ...basic, ...carried]
    .filter((secret) => secret !== null)
    .filter((secret) => secret.length >= LEAST_SECRET_CHARS)
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    // One that is part of another would leave the rest of it.
    .sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((masked, secret) => masked.replaceAll(secret, MASK), text);
}

/** Where a vendor gives several secrets, they are in one key, and a module takes it apart. */
function keyParts({ hmacKey }: Pick<Secrets, 'hmacKey'>): string[] {
  return hmacKey === null ? [] : [hmacKey, ...hmacKey.split(/[\s"'{}|,;:]+/)];
}

function secretValues({ path, headers, secret }: GatewayRequest): string[] {
  const query = new URLSearchParams(path.slice(path.split('?', 1)[0]?.length));
  return [
    // Without its scheme: the token may be quoted alone.
    ...pairs(headers).flatMap(([name, value]) =>
      secret.headers.includes(name) ? [value, value.replace(/^\S+ /, '')] : [],
    ),
    ...secret.query.flatMap((name) => query.getAll(name)),
  ];
}

export function pairs(headers: readonly string[]): Array<[name: string, value: string]> {
  return headers.flatMap((name, i) =>
    i % 2 === 0 ? [[name, headers[i + 1] ?? ''] as [string, string]] : [],
  );
}

/** @returns the headers, except those that are replaced. All names are in lower case. */
export function without(replaced: readonly string[], headers: readonly string[]): string[] {
  return pairs(headers).flatMap((header) => (replaced.includes(header[0]) ? [] : header));
}
