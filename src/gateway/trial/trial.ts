// Tries a gateway's profile with one card: makes each call, and shows the request, the answer and the value that was read, or
// what to change when a call does not fit the profile. Used by `cardpoll gateway try`. Shows no secret.

import { iccidDigits, spellingsOf } from '../../domain/cards/iccid.ts';
import type { CallTrial } from '../../domain/gateway/call-trial.ts';
import type { GatewayConfig, Reading } from '../../domain/gateway/gateway-config.ts';
import { INTERFACE_NAMES, INTERFACES, type InterfaceName } from '../../domain/gateway-interface.ts';
import { silentLogger } from '../../platform/logger.ts';
import { type Proxies, proxyText } from '../../platform/proxy/http-proxy.ts';
import { proxyFor } from '../../platform/proxy/proxy-for.ts';
import { type CallTrace, GatewayClient, type GatewayClientDeps } from '../call/client.ts';
import { type CalledCard, type GatewayAnswer, GatewayError } from '../gateway.ts';
import { type GatewayRequest, MASK, maskFor, pairs } from '../request/request.ts';
import { adviceFor } from './advice.ts';

/** Longest answer that is shown, characters. */
const MAX_ANSWER_CHARS = 4_000;

export type TrialDeps = Omit<GatewayClientDeps, 'log'>;

type CallByHand = (name: InterfaceName, card: CalledCard) => Promise<GatewayAnswer | GatewayError>;

/** Makes a few calls without a daemon: no rate limit grants them, and none is logged. */
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

/** The offered interfaces that read something. */
export function offeredReadings({ interfaces }: Pick<GatewayConfig, 'interfaces'>) {
  const reading = INTERFACE_NAMES.filter((name) => INTERFACES[name].answer !== null);
  return reading.flatMap((name) => {
    const call = interfaces[name];
    return call === null ? [] : [{ name, ...call }];
  });
}

/** @param only null: every offered interface that reads something. */
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
    pending_for_seconds: null,
  };
  if (!(outcome instanceof GatewayError)) {
    const { value, durationMs: duration_ms, pendingForMs = null } = outcome;
    const warning = strangerWarning(profile, name, card, trace?.body ?? '');
    const pending_for_seconds = pendingForMs && pendingForMs / 1_000;
    return {
      ...called,
      duration_ms,
      ok: true,
      value,
      pending_for_seconds,
      error: null,
      reason: null,
      hint: null,
      warning,
    };
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

/** A value that is read by position may belong to another card in the next call. */
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

/** Masks the places of credentials and of the module's signature, however short their values are. */
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
