// The kinds of value for logins: the request for a token, and the place of the token in calls. Used by the table of a profile's
// settings; gateway-rules.ts checks that a login is complete.
import type { LoginRequest, TokenPlace } from '../../domain/gateway/gateway-config.ts';
import { headerName, TOKEN } from '../../domain/gateway/header-name.ts';
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
  VALUE_PATH,
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

/** Place of the token in the answer to a login. */
export const TOKEN_VALUE: Kind<string> = {
  accepts: `${VALUE_PATH.accepts}, header:NAME or cookie:NAME`,
  parse: (raw) => {
    const [, name] = /^(?:header|cookie):(.*)$/s.exec(String(raw)) ?? [];
    if (name === undefined) return VALUE_PATH.parse(raw);
    return TOKEN.test(name) ? String(raw) : refuse(`${shown(name)} is no name of a header or a cookie`);
  },
};

const NAME_FOR_TOKEN = { header: TOKEN_HEADER, query: PARAMETER_NAME, cookie: TOKEN } as const;

/** `{header | query | cookie, scheme}`. */
export const TOKEN_PLACE: Kind<TokenPlace> = {
  accepts: '{header: name, scheme: word}, {query: name} or {cookie: name}',
  parse: (raw) => {
    if (!isObject(raw)) refuse(`${shown(raw)} must be {header: name}, {query: name} or {cookie: name}`);
    const { scheme } = raw;
    const given = (['header', 'query', 'cookie'] as const).filter((place) => raw[place] !== undefined);
    const [[where, name], word] = all(
      () => {
        const [place = refuse('needs header, query or cookie')] = given;
        if (given.length > 1) refuse('needs one of header, query and cookie, and not more');
        const name = raw[place];
        if (typeof name === 'string' && NAME_FOR_TOKEN[place].test(name)) return [place, name] as const;
        return refuse(`${place}: ${shown(name)} is no name for a token`);
      },
      () => (scheme === undefined ? null : within('scheme:', () => SCHEME.parse(scheme))),
      () =>
        scheme !== undefined &&
        given.length > 0 &&
        !given.includes('header') &&
        refuse('scheme is for a header'),
      () => checkKeys(raw, ['header', 'query', 'cookie', 'scheme']),
    );
    return { in: where, name, scheme: word };
  },
};
