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
import { adviceFor } from './trial-advice.ts';

/** Longest answer that is shown. */
const MAX_ANSWER_CHARS = 4_000;
const MASK = '***';

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
  const client = new GatewayClient(profile, { ...deps, log: silentLogger() }, (made) => {
    trace = made;
  });
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
  const shown = shownBy(profile, trace);
  const called = {
    interface: name,
    request: trace && {
      method: trace.request.method,
      url: shown(new URL(profile.url).origin + trace.request.path),
      headers: pairs(trace.request.headers).map(([header, value]) => `${header}: ${shown(value)}`),
      body: trace.request.body === null ? null : shown(trace.request.body),
    },
    status: trace === null || trace.status === 0 ? null : trace.status,
    answer: trace === null ? null : shown(trace.body).slice(0, MAX_ANSWER_CHARS),
    read_from: placeOf(profile.interfaces[name]?.reading ?? null),
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
    reason: shown(error.message),
    hint: adviceFor(name, error, trace),
  };
}

function placeOf(reading: Reading | null): string | null {
  switch (reading?.kind) {
    case 'megabytes':
      return `${reading.value} in ${reading.unit}`;
    case 'remainder':
      return `${reading.total} less ${reading.remaining}, in ${reading.unit}`;
    case 'verified':
      return `${reading.value}, verified if ${reading.trueValues.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'status':
      return reading.value;
    case undefined:
      return null;
  }
}

/** @returns a function that replaces every secret of the profile, and the token that a call carried. */
function shownBy(
  { token, password, clientSecret, hmacKey, username }: GatewayConfig,
  trace: CallTrace | null,
): (text: string) => string {
  const sent = pairs(trace?.request.headers ?? []).filter(([name]) =>
    /^(authorization|x-cardpoll-signature)$/.test(name),
  );
  const secrets = [
    ...sent.flatMap(([, value]) => [value, value.replace(/^\w+ /, '')]),
    ...[token, password, clientSecret, hmacKey, username].flatMap((secret) =>
      secret === null ? [] : [secret, encodeURIComponent(secret)],
    ),
  ].sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((masked, secret) => masked.replaceAll(secret, MASK), text);
}

function pairs(headers: readonly string[]): Array<[string, string]> {
  return headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1] ?? '']] : [])) as Array<
    [string, string]
  >;
}
