// Advice on how to change a profile that a call did not fit, for `cardpoll gateway try` and the doctor. Describes only facts of
// the answer: its size, its compression, a page instead of JSON. Pure.
import { parseValuePath, WHOLE } from '../../domain/gateway/profile-syntax.ts';
import type { InterfaceName } from '../../domain/gateway-interface.ts';
import { tlsFaultOf } from '../../platform/errors.ts';
import { jsonIn } from '../../platform/json.ts';
import { namesProxy } from '../../platform/proxy/http-proxy.ts';
import { isSignInPlace, kindOfBody, PAGE, SIGN_IN_PAGE } from '../call/body-kind.ts';
import type { CallTrace } from '../call/client.ts';
import { ALSO_WHEN_NEW } from '../call/session-end.ts';
import type { GatewayError } from '../gateway.ts';

/** Most places of an answer that an advice names. */
const MAX_PLACES = 12;
const MAX_DEPTH = 6;
const EMPTY = ' (an empty list)';
const UNNAMED = ' (only a module can read what is in it)';

const PROXY_ADVICE =
  'check that the proxy runs and lets this machine through to the server; hosts that need no proxy are named in NO_PROXY (docs/proxy.md)';

/** Advice for a trial call that did not fit the profile. */
export function adviceFor(
  name: InterfaceName,
  { failure, message, cause, details }: Pick<GatewayError, 'failure' | 'message' | 'cause' | 'details'>,
  trace: CallTrace | null,
): string {
  const tlsFault = tlsFaultOf(cause);
  if (tlsFault !== null)
    return `${tlsFault}: ask the operator of the gateway; gateway.tls_ca names the file of an authority of your own, gateway.tls_cert and gateway.tls_key those of a client certificate`;
  const where = `gateway.interfaces.${name}`;
  if (message.endsWith(ALSO_WHEN_NEW)) return SIGNED_OUT_WHEN_NEW;
  if (message.startsWith('module '))
    return 'correct the module of gateway.module; it is loaded anew for every trial';
  if (message.startsWith('the charset '))
    return 'ask the operator of the gateway to name the charset of its answers rightly, in Content-Type';
  if (failure === 'connect' && namesProxy(message)) return PROXY_ADVICE;
  switch (failure) {
    case 'connect':
      return message.startsWith('no token')
        ? 'check gateway.auth.token_url (of a login: gateway.auth.request, token and expires_in), and whether the token server can be reached from here'
        : 'check gateway.url: nothing answers there, or no connection to it is allowed from here';
    case 'auth':
      return 'check gateway.auth and the credentials; if the code means something else, name it in gateway.errors';
    case 'timeout':
      return `the gateway is slow or hangs: try again, or raise ${where}.timeout_ms`;
    case 'network':
      return 'the connection broke: check gateway.url (http or https), and try again; some gateways end it without a word for want of a client certificate (gateway.tls_cert)';
    case 'backpressure':
      return 'the gateway refuses calls for now: wait, and set gateway.rate_limits to what it allows';
    case 'card':
      if (details.isUnknownCard === true)
        return 'the gateway says that it does not know this card: compare its number with the one that the vendor shows';
      return trace?.status === 404
        ? `the gateway does not know this card, or ${where}.path is wrong`
        : `the gateway refuses this request: compare ${where} with what it asks for`;
    case 'business':
      return 'if this code means success, add it to gateway.success.values; if it means throttling or an unknown card, name it in gateway.errors';
    case 'no_vendor_id':
      return 'give --vendor-id; for the daemon, import the column vendor_id';
    case 'not_offered':
      return `the profile does not offer it: give ${where}.path`;
    case 'http':
      if (message.includes('redirects are not followed'))
        return isSignInPlace(/ to (\S+): redirects/.exec(message)?.[1] ?? '')
          ? `${SIGNED_OUT}, instead of 401`
          : `the gateway answers elsewhere: correct gateway.url (http or https) or ${where}.path`;
      return 'the gateway failed; if the path is wrong, some gateways answer so, too';
    case 'held':
    case 'aborted':
      return 'the call was not made: try again';
    case 'malformed':
      return malformedAdvice(where, message, trace?.body ?? '');
  }
}

/** Chosen by the error message about the answer, in this order. */
const OF_ANSWERS: ReadonlyArray<readonly [message: RegExp, advice: (where: string, body: string) => string]> =
  [
    [
      /^the answer is about another card/,
      (where) =>
        `the filter of this call matches other cards: if the answer is a list, let ${where}.find pick the item of the card`,
    ],
    [/separate thousands or decimals$/, () => 'only a module can read a volume that may mean two numbers'],
    [
      /which is not known$|is not a unit of data volume: /,
      () => "say in gateway.units what the vendor's word means, such as units: { M: MB }",
    ],
    [
      /, and the answer reports an error: /,
      () =>
        'the gateway answered with an error, so its value is not read; if that is a code of success, name it in gateway.success, otherwise in gateway.errors',
    ],
    [/^the answer is longer than /, sizeAdvice],
    [
      /^the answer is compressed /,
      (where) =>
        `gzip, deflate and br can be read: ask the operator of the gateway, or send an accept-encoding of identity in ${where}.headers`,
    ],
    [/^the body is a page to sign in/, () => `${SIGNED_OUT}, with a page instead of 401`],
    [
      /^the body is a page of HTML/,
      (where) =>
        `a page for people came back: check gateway.url and ${where}.path, and whether a proxy, a firewall or maintenance answers in place of the gateway`,
    ],
    [/^the body is XML/, () => 'only a module can read XML; some gateways answer JSON at another path'],
  ];

const SIGNED_OUT =
  'the gateway sends callers without a session to sign in: check gateway.auth, the credentials, and how long a login is good';
const SIGNED_OUT_WHEN_NEW =
  'the gateway answers as if no one had signed in, although the token is new: check where calls have it (gateway.auth.send), and what its user may do';

function sizeAdvice(where: string, body: string): string {
  const kind = kindOfBody(body);
  const isPage = kind === PAGE || kind === SIGN_IN_PAGE;
  return isPage
    ? `it is ${kind}: check gateway.url, ${where}.path and gateway.auth`
    : `raise gateway.max_response_bytes if the answer has to be so long; else ask for less of it in ${where}.query`;
}

function malformedAdvice(where: string, message: string, body: string): string {
  const [, advice] = OF_ANSWERS.find(([pattern]) => pattern.test(message)) ?? [];
  if (advice !== undefined) return advice(where, body);
  const ifNothing = /: (null|"[\s–—-]*")$/.test(message)
    ? `; if that means no usage yet, set ${where}.missing_value: 0`
    : '';
  return placesAdvice(where, body) + ifNothing;
}

function placesAdvice(where: string, body: string): string {
  const places = placesIn(body);
  if (places === null)
    return `the answer is not JSON: compare ${where}.path and its headers with what the gateway offers`;
  const all = places.slice(0, MAX_PLACES).join(', ');
  if (places.length === 0) return 'the answer has no values';
  const ifEmpty = all.includes(EMPTY)
    ? '; if the list is empty because the gateway does not know the card, say so in gateway.errors; if because there is no usage yet, set missing_value: 0 (docs/gateways.md, steps 3 and 4)'
    : '';
  return `name the place and the unit of the value under ${where}; the answer has ${all}${places.length > MAX_PLACES ? ', ...' : ''}${ifEmpty}`;
}

/**
 * The places of all values of an answer, as a profile writes them; for a name that a profile cannot write, its container. null:
 * not JSON.
 */
function placesIn(body: string): string[] | null {
  const parsed = jsonIn(body);
  if (parsed === undefined) return null;
  const places: string[] = [];
  const visit = (value: unknown, path: string, depth: number): void => {
    if (places.length > MAX_PLACES || depth > MAX_DEPTH) return;
    if (Array.isArray(value)) {
      if (value.length > 0) visit(value[0], `${path}[0]`, depth + 1);
      else places.push(`${path}${EMPTY}`);
    } else if (typeof value === 'object' && value !== null) {
      const parts = Object.entries(value);
      for (const [key, part] of parts)
        if (isName(key)) visit(part, path === '' ? key : `${path}.${key}`, depth + 1);
      if (!parts.every(([key]) => isName(key))) places.push(`${path || 'the answer'}${UNNAMED}`);
    } else if (path !== '') {
      places.push(path);
    } else if (value !== null) {
      places.push(`"${WHOLE}" (the whole answer)`);
    }
  };
  visit(parsed, '', 0);
  return places;
}

/** A name with a dot, a blank or a bracket cannot be written in a path. */
function isName(key: string): boolean {
  const path = parseValuePath(key);
  return path?.length === 1 && path[0] === key;
}
