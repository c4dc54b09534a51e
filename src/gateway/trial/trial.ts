// Tries a gateway's profile with one card: makes each call, and shows what was sent, what came back and what was read from it,
// or what to change when a call does not fit the profile. Used by `cardpoll gateway try`. Shows no secret.

import { iccidDigits, spellingsOf } from '../../domain/cards/iccid.ts';
import type { CallTrial } from '../../domain/gateway/call-trial.ts';
import type { GatewayConfig, Reading } from '../../domain/gateway/gateway-config.ts';
import { parseValuePath } from '../../domain/gateway/profile-syntax.ts';
import { INTERFACE_NAMES, INTERFACES, type InterfaceName } from '../../domain/gateway-interface.ts';
import { tlsFaultOf } from '../../platform/errors.ts';
import { jsonIn } from '../../platform/json.ts';
import { silentLogger } from '../../platform/logger.ts';
import { namesProxy, type Proxies, proxyText } from '../../platform/proxy/http-proxy.ts';
import { proxyFor } from '../../platform/proxy/proxy-for.ts';
import { type CallTrace, GatewayClient, type GatewayClientDeps } from '../call/client.ts';
import { type CalledCard, type GatewayAnswer, GatewayError } from '../gateway.ts';
import { type GatewayRequest, MASK, maskFor, pairs } from '../request/request.ts';

/** Longest answer that is shown. */
const MAX_ANSWER_CHARS = 4_000;
/** Places of an answer that an advice names. */
const MAX_PLACES = 12;
const MAX_DEPTH = 6;
const EMPTY = ' (an empty list)';
const UNNAMED = ' (only a module can read what is in it)';

export type TrialDeps = Omit<GatewayClientDeps, 'log'>;

type CallByHand = (name: InterfaceName, card: CalledCard) => Promise<GatewayAnswer | GatewayError>;

/** Makes a few calls without a daemon: no one grants them, so rate limits hold none back. None is logged. */
export async function byHand<T>(
  profile: GatewayConfig,
  deps: TrialDeps,
  work: (call: CallByHand) => Promise<T>,
  onCall?: (trace: CallTrace) => void,
): Promise<T> {
  const client = new GatewayClient({ ...profile, rateLimits: [] }, { ...deps, log: silentLogger() }, onCall);
  try {
    return await work((name, card) =>
      client.call(name, card, Number.POSITIVE_INFINITY).catch((error: GatewayError) => error),
    );
  } finally {
    await client.close();
  }
}

/** The calls of the interfaces that read something. */
export function offeredReadings({ interfaces }: Pick<GatewayConfig, 'interfaces'>) {
  const reading = INTERFACE_NAMES.filter((name) => INTERFACES[name].answer !== null);
  return reading.flatMap((name) => {
    const call = interfaces[name];
    return call === null ? [] : [{ name, ...call }];
  });
}

/** @param only null: every interface that reads something and is offered. */
export async function tryInterfaces(
  profile: GatewayConfig,
  only: InterfaceName | null,
  card: CalledCard,
  deps: TrialDeps,
): Promise<CallTrial[]> {
  const names = only === null ? offeredReadings(profile).map(({ name }) => name) : [only];
  const trials: CallTrial[] = [];
  let trace: CallTrace | null = null;
  const tryAll = async (call: CallByHand) => {
    for (const name of names) {
      trace = null;
      trials.push(trialOf(profile, name, card, await call(name, card), trace, deps.proxies));
    }
  };
  await byHand(profile, deps, tryAll, (made) => {
    trace = made;
  });
  return trials;
}

function trialOf(
  profile: GatewayConfig,
  name: InterfaceName,
  card: CalledCard,
  outcome: GatewayAnswer | GatewayError,
  trace: CallTrace | null,
  proxies: Proxies,
): CallTrial {
  const mask = maskFor(profile, trace?.request ?? null, proxies);
  const proxy = proxyFor(profile.url, proxies);
  const called = {
    interface: name,
    request: trace && shownRequest(profile, trace.request, mask),
    proxy: proxy && proxyText(proxy),
    status: trace === null || trace.status === 0 ? null : trace.status,
    answer: trace === null ? null : mask(trace.body).slice(0, MAX_ANSWER_CHARS),
    read_from: readFrom(profile, name),
  };
  if (!(outcome instanceof GatewayError)) {
    const { value, durationMs: duration_ms } = outcome;
    const warning = strangerWarning(profile, name, card, trace?.body ?? '');
    return { ...called, duration_ms, ok: true, value, error: null, reason: null, hint: null, warning };
  }
  return {
    ...called,
    warning: null,
    duration_ms: outcome.details.durationMs ?? null,
    ok: false,
    value: null,
    error: outcome.failure,
    reason: mask(outcome.message),
    hint: adviceFor(name, outcome, trace),
  };
}

const LONG_NUMBER = /(?<![\w.])\d{18,22}F*(?![\w.])/gi;

/** A value that is read by its position may be another card's at the next call. */
function strangerWarning(
  { interfaces }: GatewayConfig,
  name: InterfaceName,
  { iccid }: CalledCard,
  body: string,
): string | null {
  const call = interfaces[name];
  if ((call?.find ?? call?.batch ?? call?.iccidValue ?? null) !== null) return null;
  const own = spellingsOf(iccid);
  const stranger = [...body.matchAll(LONG_NUMBER)].find(
    ([number]) => !own.includes(iccidDigits(number) ?? ''),
  );
  if (stranger === undefined) return null;
  return `the answer also has the number ${stranger[0]}: if it is another card's, let gateway.interfaces.${name}.find pick the item of the card, or name the place of the card's number in iccid_value`;
}

/** A module may leave an answer to the profile. */
function readFrom({ module, interfaces }: GatewayConfig, name: InterfaceName): string | null {
  const place = placeOf(interfaces[name]?.reading ?? null);
  if (module === null || module.read === null || INTERFACES[name].answer === null) return place;
  return `module ${module.name}${place === null ? '' : `, else ${place}`}`;
}

function placeOf(reading: Reading | null): string | null {
  switch (reading?.kind) {
    case 'megabytes':
      return `${reading.value} (${reading.unit})`;
    case 'remainder':
      return `${reading.total} less ${reading.remaining} (${reading.unit})`;
    case 'verified':
      return `${reading.value}, verified if ${reading.trueValues.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'status':
      return reading.value;
    case undefined:
      return null;
  }
}

/** Masks the places where credentials go, and what a module signs with, however short they are. */
function shownRequest(
  { url }: GatewayConfig,
  { method, path, headers, body, secret }: GatewayRequest,
  mask: (text: string) => string,
): CallTrial['request'] {
  const [bare = ''] = path.split('?', 1);
  const parameters = path.slice(bare.length).split('&');
  const shown = parameters.map((parameter) => {
    const [name = ''] = new URLSearchParams(parameter).keys();
    return secret.query.includes(name) ? parameter.replace(/=.*/s, `=${MASK}`) : mask(parameter);
  });
  return {
    method,
    url: new URL(url).origin + mask(bare) + shown.join('&'),
    headers: pairs(headers).map(
      ([name, value]) => `${name}: ${secret.headers.includes(name) ? MASK : mask(value)}`,
    ),
    body: body !== null && secret.body ? MASK : body && mask(body),
  };
}

const PROXY_ADVICE =
  'check that the proxy runs and lets this machine through to the server; hosts that need no proxy are named in NO_PROXY (docs/gateways.md, "Behind a proxy")';

/** What to change when a call of a trial did not fit the profile. */
export function adviceFor(
  name: InterfaceName,
  { failure, message, cause, details }: Pick<GatewayError, 'failure' | 'message' | 'cause' | 'details'>,
  trace: CallTrace | null,
): string {
  const tlsFault = tlsFaultOf(cause);
  if (tlsFault !== null)
    return `${tlsFault}: ask the operator of the gateway; gateway.tls_ca names the file of an authority of your own, gateway.tls_cert and gateway.tls_key those of a client certificate`;
  const where = `gateway.interfaces.${name}`;
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
        return `the gateway answers elsewhere: correct gateway.url (http or https) or ${where}.path`;
      return 'the gateway failed; if the path is wrong, some gateways answer so, too';
    case 'held':
    case 'aborted':
      return 'the call was not made: try again';
    case 'malformed':
      return malformedAdvice(where, message, trace?.body ?? '');
  }
}

function malformedAdvice(where: string, message: string, body: string): string {
  if (message.startsWith('the answer is about another card'))
    return `the filter of this call matches other cards: if the answer is a list, let ${where}.find pick the item of the card`;
  if (message.endsWith('separate thousands or decimals'))
    return 'only a module can read a volume that may mean two numbers';
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

/** The places of all values of an answer, as a profile names them; of names that it cannot write, where they are. null: not JSON. */
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
