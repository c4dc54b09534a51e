// The kinds of value that only a login has: the request that asks for a token, and where the token goes in calls. Used by the table
// of a profile's settings; gateway-rules.ts checks that a login has what it needs.
import type { LoginRequest, TokenPlace } from '../../domain/gateway/gateway-config.ts';
import { headerName } from '../../domain/gateway/header-name.ts';
import { LOGIN_PLACEHOLDERS } from '../../domain/gateway/profile-syntax.ts';
import { GATEWAY_METHODS } from '../../domain/gateway-interface.ts';
import { isObject } from '../../platform/json.ts';
import { BASE_URL, type Kind, oneOf, refuse, shown, within } from '../kinds.ts';
import {
  checkKeys,
  jsonTemplate,
  PARAMETER_NAME,
  pathTemplate,
  SCHEME,
  TOKEN_HEADER,
  templates,
} from './profile-kinds.ts';

const METHOD = oneOf(GATEWAY_METHODS);
const PATH = pathTemplate(LOGIN_PLACEHOLDERS);
const BODY = jsonTemplate(LOGIN_PLACEHOLDERS);
const FIELDS = templates('fields', undefined, LOGIN_PLACEHOLDERS);
const HEADERS = templates('headers', headerName(), LOGIN_PLACEHOLDERS);

/** `{method, path | url, query, headers, body | form}`. */
export const LOGIN_REQUEST: Kind<LoginRequest> = {
  accepts: '{method, path or url, query, headers, body or form}, with placeholders',
  parse: (raw) => {
    if (!isObject(raw)) refuse(`${shown(raw)} must be {method, path, body}`);
    checkKeys(raw, ['method', 'path', 'url', 'query', 'headers', 'body', 'form']);
    const part = <T>(key: string, kind: Kind<T>): T | null =>
      raw[key] === undefined ? null : within(`${key}:`, () => kind.parse(raw[key]));
    const [body, form] = [part('body', BODY), part('form', FIELDS)];
    const [url, path] = [part('url', BASE_URL), part('path', PATH)];
    if ((url === null) === (path === null)) refuse('needs path (below gateway.url) or url, and not both');
    if (body !== null && form !== null) refuse('has both body and form: keep one');
    const method = part('method', METHOD) ?? ((body ?? form) === null ? 'GET' : 'POST');
    if (method === 'GET' && (body ?? form) !== null) refuse('GET has no body: use another method');
    return {
      method,
      url,
      path: path ?? '',
      query: part('query', FIELDS) ?? {},
      headers: part('headers', HEADERS) ?? {},
      body,
      bodyText: null,
      form,
    };
  },
};

/** `{header | query, scheme}`. */
export const TOKEN_PLACE: Kind<TokenPlace> = {
  accepts: '{header: name, scheme: word} or {query: name}',
  parse: (raw) => {
    if (!isObject(raw)) refuse(`${shown(raw)} must be {header: name} or {query: name}`);
    checkKeys(raw, ['header', 'query', 'scheme']);
    const { header, query, scheme } = raw;
    if ((header === undefined) === (query === undefined)) refuse('needs header or query, and not both');
    if (query !== undefined && scheme !== undefined) refuse('scheme is for a header');
    const [where, allowed] =
      query === undefined ? (['header', TOKEN_HEADER] as const) : (['query', PARAMETER_NAME] as const);
    const name = raw[where];
    if (typeof name !== 'string' || !allowed.test(name))
      refuse(`${where}: ${shown(name)} is no name for a token`);
    return {
      in: where,
      name,
      scheme: scheme === undefined ? null : within('scheme:', () => SCHEME.parse(scheme)),
    };
  },
};
