// Tries a gateway's profile with one card: makes each call, and shows what was sent, what came back and what was read from it.
// Used by `cardpoll gateway try`. Shows no secret.
import type { GatewayConfig, Reading } from '../config/daemon-config.ts';
import type { MonthCalendar } from '../domain/cards/usage-month.ts';
import type { CallTrial } from '../domain/gateway/call-trial.ts';
import { INTERFACE_NAMES, INTERFACES, type InterfaceName } from '../domain/gateway-interface.ts';
import type { Clock } from '../platform/clock.ts';
import { silentLogger } from '../platform/logger.ts';
import { type CallTrace, GatewayClient } from './client.ts';
import { type CalledCard, GatewayError } from './gateway.ts';
import type { GatewayRequest } from './request.ts';
import { MASK, maskFor, pairs, SECRET_HEADERS } from './secrets.ts';
import { adviceFor } from './trial-advice.ts';

/** Longest answer that is shown. */
const MAX_ANSWER_CHARS = 4_000;

/** The interfaces that read something and are offered. */
function readingInterfaces({ interfaces }: Pick<GatewayConfig, 'interfaces'>): InterfaceName[] {
  return INTERFACE_NAMES.filter((name) => INTERFACES[name].answer !== null && interfaces[name] !== null);
}

/** @param only null: every interface that reads something and is offered. */
export async function tryInterfaces(
  profile: GatewayConfig,
  only: InterfaceName | null,
  card: CalledCard,
  deps: { readonly clock: Clock; readonly calendar: MonthCalendar },
): Promise<CallTrial[]> {
  let trace: CallTrace | null = null;
  // A few calls by hand: no one grants them.
  const client = new GatewayClient(
    { ...profile, rateLimits: [] },
    { ...deps, log: silentLogger() },
    (made) => {
      trace = made;
    },
  );
  const trials: CallTrial[] = [];
  try {
    for (const name of only === null ? readingInterfaces(profile) : [only]) {
      trace = null;
      const outcome = await client.call(name, card, profile.timeoutMs).catch((error: unknown) => error);
      trials.push(trialOf(profile, name, outcome, trace));
    }
  } finally {
    await client.close();
  }
  return trials;
}

function trialOf(
  profile: GatewayConfig,
  name: InterfaceName,
  outcome: unknown,
  trace: CallTrace | null,
): CallTrial {
  const mask = maskFor(profile, trace?.request.headers ?? []);
  const called = {
    interface: name,
    request: trace && shownRequest(profile, trace.request, mask),
    status: trace === null || trace.status === 0 ? null : trace.status,
    answer: trace === null ? null : mask(trace.body).slice(0, MAX_ANSWER_CHARS),
    read_from: placeOf(profile.interfaces[name]?.reading ?? null) ?? readerOf(profile, name),
  };
  if (!(outcome instanceof Error)) {
    const { value, durationMs } = outcome as { value: CallTrial['value']; durationMs: number };
    return { ...called, duration_ms: durationMs, ok: true, value, error: null, reason: null, hint: null };
  }
  const error = outcome instanceof GatewayError ? outcome : new GatewayError('malformed', outcome.message);
  return {
    ...called,
    duration_ms: error.details.durationMs ?? null,
    ok: false,
    value: null,
    error: error.failure,
    reason: mask(error.message),
    hint: adviceFor(name, error, trace),
  };
}

/** Without a place in the profile, a module has read the value. */
function readerOf({ module }: GatewayConfig, name: InterfaceName): string | null {
  return module !== null && INTERFACES[name].answer !== null ? `module ${module.name}` : null;
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
