// Checks that the gateway speaks the configured profile: calls every read-only interface for a card, and once more as long
// as the calls disagree. Says what an operator can do about a gateway that fails. Used by the doctor. Stops no card, and shows
// no credentials.
import type { GatewayConfig } from '../config/daemon-config.ts';
import type { MonthCalendar } from '../domain/cards/usage-month.ts';
import { INTERFACE_NAMES, INTERFACES, type InterfaceName } from '../domain/gateway-interface.ts';
import type { Clock } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import { silentLogger } from '../platform/logger.ts';
import { GatewayClient } from './client.ts';
import { type CalledCard, GatewayError, type GatewayFailure } from './gateway.ts';

const READING = INTERFACE_NAMES.filter((name) => INTERFACES[name].answer !== null);

interface ProbeResult {
  readonly interface: InterfaceName;
  /**
   * refused: it speaks the profile, but takes no calls now. sometimes: most of several calls succeed. unclear: it did not
   * know the card, so nothing is certain.
   */
  readonly outcome: 'answers' | 'sometimes' | 'refused' | 'fails' | 'unclear';
  /** Why the last failed call failed; null: none did. */
  readonly failure: GatewayFailure | null;
  /** The call and its result, for people. */
  readonly detail: string;
}

/** Used when the fleet has no cards; the answer for it proves little. */
const UNKNOWN_CARD: CalledCard = { cardId: 0, iccid: '8986000000000000000', carrierId: 0 };

/** Calls of one kind decide: a fleet of which some polls fail has a gateway that works. */
const DECIDING = 3;

/** @param cards cards of the fleet, tried in turn until the gateway knows one */
export async function probeProfile(
  profile: GatewayConfig,
  cards: readonly CalledCard[],
  clock: Clock,
  calendar: MonthCalendar,
): Promise<ProbeResult[]> {
  // A first call that waits for its token is held back where there are rate limits. The few calls here take no part in them.
  const client = new GatewayClient({ ...profile, rateLimits: [] }, { log: silentLogger(), clock, calendar });
  const offered = READING.flatMap((name) => {
    const call = profile.interfaces[name];
    return call === null ? [] : [{ name, what: `${call.method} ${profile.url}${call.path}` }];
  });
  const known = cards.length > 0;
  const call = (name: InterfaceName) =>
    calledOnce(client, name, known ? cards : [UNKNOWN_CARD], profile.timeoutMs);
  try {
    return await Promise.all(
      offered.map(async ({ name, what }) => judged(name, what, await enoughCalls(() => call(name)), known)),
    );
  } finally {
    await client.close();
  }
}

interface Call {
  /** Null: it failed. */
  readonly durationMs: number | null;
  readonly error: unknown;
}

async function calledOnce(
  client: GatewayClient,
  name: InterfaceName,
  cards: readonly CalledCard[],
  timeoutMs: number,
): Promise<Call> {
  let error: unknown = null;
  for (const card of cards) {
    try {
      const { durationMs } = await client.call(name, card, timeoutMs);
      return { durationMs, error: null };
    } catch (failure) {
      error = failure;
      if (!(failure instanceof GatewayError) || !failure.isCardFault) break;
    }
  }
  return { durationMs: null, error };
}

/** One call is enough if it succeeds. After a failure the calls go on until most of them agree. */
async function enoughCalls(call: () => Promise<Call>): Promise<readonly Call[]> {
  const calls = [await call()];
  const failed = () => calls.filter(({ durationMs }) => durationMs === null).length;
  while (failed() > 0 && failed() < DECIDING && calls.length - failed() < DECIDING) calls.push(await call());
  return calls;
}

function judged(name: InterfaceName, what: string, calls: readonly Call[], known: boolean): ProbeResult {
  const failed = calls.filter(({ durationMs }) => durationMs === null);
  if (failed.length === 0) {
    const detail = `${what}: answers in ${calls[0]?.durationMs} ms`;
    return { interface: name, outcome: 'answers', failure: null, detail };
  }
  const last = failed.at(-1)?.error;
  const failure = last instanceof GatewayError ? last.failure : 'malformed';
  const isDecided = failed.length >= DECIDING;
  const outcome = isDecided ? outcomeOf(failure, known) : 'sometimes';
  const share = isDecided ? '' : `${failed.length} of ${calls.length} calls failed: `;
  return { interface: name, outcome, failure, detail: `${what}: ${share}${messageOf(last)}` };
}

function outcomeOf(failure: GatewayFailure, known: boolean): ProbeResult['outcome'] {
  if (failure === 'backpressure') return 'refused';
  // An envelope with another code is the profile; a bare 4xx is a web server that may know nothing of it.
  if (failure === 'business') return known ? 'refused' : 'answers';
  return failure === 'card' && !known ? 'unclear' : 'fails';
}

const OVERLOADED = 'the gateway is slow or refuses calls: it may get more than it can take';
const HINTS: Partial<Record<GatewayFailure, string>> = {
  connect:
    'no connection: is the gateway running, is gateway.url right, and does the network let the connection through?',
  network: 'the gateway or a device before it breaks the connection: ask the operator of the gateway',
  timeout: OVERLOADED,
  backpressure: OVERLOADED,
  auth: "the gateway does not accept the credentials: compare them with the gateway operator's",
  http: 'the gateway reports an error of its own: ask its operator',
  business: 'the gateway answers, but not for these cards: compare their iccids with what the gateway knows',
};
const OTHER = 'compare gateway.url and gateway.interfaces with what the gateway offers';

/** What an operator can do, by the cause. @param failure null: unknown. @param url base URL of the gateway, without credentials */
export function gatewayRemedy(failure: GatewayFailure | null, url: string) {
  const hint = (failure === null ? undefined : HINTS[failure]) ?? OTHER;
  const command = hint === OVERLOADED ? 'cardpoll concurrency advise' : `curl -siv ${url}`;
  return { hint, command };
}
