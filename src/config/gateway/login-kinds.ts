// The kinds of value that only a login has: the request that asks for a token, and where the token goes in calls. Used by the table
// of a profile's settings; gateway-rules.ts checks that a login has what it needs.
import type { LoginRequest, TokenPlace } from '../../domain/gateway/gateway-config.ts';
import { headerName } from '../../domain/gateway/header-name.ts';
import { LOGIN_PLACEHOLDERS } from '../../domain/gateway/profile-syntax.ts';
import { GATEWAY_METHODS } from '../../domain/gateway-interface.ts';
import { isObject } from '../../platform/json.ts';
import { all, BASE_URL, type Kind, oneOf, refuse, shown, within } from '../kinds.ts';
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
    const part = <T>(key: string, kind: Kind<T>): T | null =>
      raw[key] === undefined ? null : within(`${key}:`, () => kind.parse(raw[key]));
    const isGiven = (key: string) => raw[key] !== undefined;
    const hasBody = isGiven('body') || isGiven('form');
    const [method, url, path, query, headers, body, form] = all(
      () => part('method', METHOD) ?? (hasBody ? 'POST' : 'GET'),
      () => part('url', BASE_URL),
      () => part('path', PATH) ?? '',
      () => part('query', FIELDS) ?? {},
      () => part('headers', HEADERS) ?? {},
      () => part('body', BODY),
      () => part('form', FIELDS),
      () =>
        isGiven('url') === isGiven('path') && refuse('needs path (below gateway.url) or url, and not both'),
      () => isGiven('body') && isGiven('form') && refuse('has both body and form: keep one'),
      () => raw.method === 'GET' && hasBody && refuse('GET has no body: use another method'),
      () => checkKeys(raw, ['method', 'path', 'url', 'query', 'headers', 'body', 'form']),
    );
    return { method, url, path, query, headers, body, bodyText: null, form };
  },
};

/** `{header | query, scheme}`. */
export const TOKEN_PLACE: Kind<TokenPlace> = {
  accepts: '{header: name, scheme: word} or {query: name}',
  parse: (raw) => {
    if (!isObject(raw)) refuse(`${shown(raw)} must be {header: name} or {query: name}`);
    const { header, query, scheme } = raw;
    const [where, allowed] =
      query === undefined ? (['header', TOKEN_HEADER] as const) : (['query', PARAMETER_NAME] as const);
    const [name, word] = all(
      () => {
        if ((header === undefined) === (query === undefined)) refuse('needs header or query, and not both');
        const given = raw[where];
        if (typeof given === 'string' && allowed.test(given)) return given;
        return refuse(`${where}: ${shown(given)} is no name for a token`);
      },
      () => (scheme === undefined ? null : within('scheme:', () => SCHEME.parse(scheme))),
      () => query !== undefined && scheme !== undefined && refuse('scheme is for a header'),
      () => checkKeys(raw, ['header', 'query', 'scheme']),
    );
    return { in: where, name, scheme: word };
  },
};
