// Tries a gateway's profile with one card: makes each call, and shows what was sent, what came back and what was read from it,
// or what to change when a call does not fit the profile. Used by `cardpoll gateway try`. Shows no secret.
import type { GatewayConfig, Reading } from '../config/daemon-config.ts';
import type { CallTrial } from '../domain/gateway/call-trial.ts';
import { parseValuePath } from '../domain/gateway/profile-syntax.ts';
import { INTERFACE_NAMES, INTERFACES, type InterfaceName } from '../domain/gateway-interface.ts';
import { tlsFaultOf } from '../platform/errors.ts';
import { jsonIn } from '../platform/json.ts';
import { silentLogger } from '../platform/logger.ts';
import { type CallTrace, GatewayClient, type GatewayClientDeps } from './client.ts';
import { type CalledCard, type GatewayAnswer, GatewayError } from './gateway.ts';
import { type GatewayRequest, MASK, maskFor, pairs, SECRET_HEADERS } from './request.ts';

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
      trials.push(trialOf(profile, name, await call(name, card), trace));
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
  outcome: GatewayAnswer | GatewayError,
  trace: CallTrace | null,
): CallTrial {
  const mask = maskFor(profile, trace?.request.headers ?? []);
  const called = {
    interface: name,
    request: trace && shownRequest(profile, trace.request, mask),
    status: trace === null || trace.status === 0 ? null : trace.status,
    answer: trace === null ? null : mask(trace.body).slice(0, MAX_ANSWER_CHARS),
    read_from: readFrom(profile, name),
  };
  if (!(outcome instanceof GatewayError)) {
    const { value, durationMs } = outcome;
    return { ...called, duration_ms: durationMs, ok: true, value, error: null, reason: null, hint: null };
  }
  return {
    ...called,
    duration_ms: outcome.details.durationMs ?? null,
    ok: false,
    value: null,
    error: outcome.failure,
    reason: mask(outcome.message),
    hint: adviceFor(name, outcome, trace),
  };
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

/** Masks the places where credentials go, however short they are. */
function shownRequest(
  profile: GatewayConfig,
  { method, path, headers, body }: GatewayRequest,
  mask: (text: string) => string,
): CallTrial['request'] {
  const { kind, name } = profile.auth;
  const url = new URL(profile.url).origin + path;
  const inQuery = kind === 'query' && name !== null ? `${encodeURIComponent(name)}=` : null;
  const cut = inQuery === null ? -1 : url.lastIndexOf(inQuery);
  const secretHeaders =
    kind === 'header' && name !== null ? [...SECRET_HEADERS, name.toLowerCase()] : SECRET_HEADERS;
  return {
    method,
    url: mask(cut === -1 || inQuery === null ? url : `${url.slice(0, cut)}${inQuery}${MASK}`),
    headers: pairs(headers).map(
      ([header, value]) => `${header}: ${secretHeaders.includes(header) ? MASK : mask(value)}`,
    ),
    body: body === null ? null : mask(body),
  };
}

/** What to change when a call of a trial did not fit the profile. */
export function adviceFor(
  name: InterfaceName,
  { failure, message, cause }: Pick<GatewayError, 'failure' | 'message' | 'cause'>,
  trace: CallTrace | null,
): string {
  const tlsFault = tlsFaultOf(cause);
  if (tlsFault !== null)
    return `${tlsFault}: ask the operator of the gateway; the file of an authority of your own is named in NODE_EXTRA_CA_CERTS`;
  const where = `gateway.interfaces.${name}`;
  if (message.startsWith('module '))
    return 'correct the module of gateway.module; it is loaded anew for every trial';
  if (message.startsWith('the charset '))
    return 'ask the operator of the gateway to name the charset of its answers rightly, in Content-Type';
  switch (failure) {
    case 'connect':
      return message.startsWith('no token')
        ? 'check gateway.auth.token_url, and whether the token server can be reached from here'
        : 'check gateway.url: nothing answers there, or no connection to it is allowed from here';
    case 'auth':
      return 'check gateway.auth and the credentials; if the code means something else, name it in gateway.errors';
    case 'timeout':
      return `the gateway is slow or hangs: try again, or raise ${where}.timeout_ms`;
    case 'network':
      return 'the connection broke: check gateway.url (http or https), and try again';
    case 'backpressure':
      return 'the gateway refuses calls for now: wait, and set gateway.rate_limits to what it allows';
    case 'card':
      return trace?.status === 404
        ? `the gateway does not know this card, or ${where}.path is wrong`
        : `the gateway refuses this request: compare ${where} with what it asks for`;
    case 'business':
      return 'if this code means success, add it to gateway.success.values; if it means throttling or an unknown card, name it in gateway.errors';
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
      return placesAdvice(where, trace?.body ?? '');
  }
}

function placesAdvice(where: string, body: string): string {
  const places = placesIn(body);
  if (places === null)
    return `the answer is not JSON: compare ${where}.path and its headers with what the gateway offers`;
  const all = places.slice(0, MAX_PLACES).join(', ');
  if (places.length === 0) return 'the answer has no values';
  const ifEmpty = all.includes(EMPTY)
    ? '; if the list is empty because the gateway does not know the card, say so in gateway.errors (docs/gateways.md, step 4)'
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
