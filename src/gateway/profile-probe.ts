// Checks that the gateway speaks the configured profile: calls every read-only interface for a card. Used by the doctor.
// Stops no card, and shows no credentials.
import type { GatewayConfig } from '../config/daemon-config.ts';
import type { MonthCalendar } from '../domain/cards/usage-month.ts';
import { INTERFACE_NAMES, INTERFACES, type InterfaceName } from '../domain/gateway-interface.ts';
import type { Clock } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import { silentLogger } from '../platform/logger.ts';
import { GatewayClient } from './client.ts';
import { type CalledCard, GatewayError } from './gateway.ts';

const READING = INTERFACE_NAMES.filter((name) => INTERFACES[name].answer !== null);

interface ProbeResult {
  readonly interface: InterfaceName;
  /** refused: it speaks the profile, but takes no calls now. unclear: it did not know the card, so nothing is certain. */
  readonly outcome: 'answers' | 'refused' | 'fails' | 'unclear';
  /** The call and its result, for people. */
  readonly detail: string;
}

/** Used when the fleet has no cards; the answer for it proves little. */
const UNKNOWN_CARD: CalledCard = { cardId: 0, iccid: '8986000000000000000', carrierId: 0 };

/** @param cards cards of the fleet, tried in turn until the gateway knows one */
export async function probeProfile(
  profile: GatewayConfig,
  cards: readonly CalledCard[],
  clock: Clock,
  calendar: MonthCalendar,
): Promise<ProbeResult[]> {
  const client = new GatewayClient(profile, { log: silentLogger(), clock, calendar });
  const offered = READING.flatMap((name) => {
    const call = profile.interfaces[name];
    return call === null ? [] : [{ name, what: `${call.method} ${profile.url}${call.path}` }];
  });
  const known = cards.length > 0;
  try {
    return await Promise.all(
      offered.map(async ({ name, what }): Promise<ProbeResult> => {
        let last: unknown = null;
        for (const card of known ? cards : [UNKNOWN_CARD]) {
          try {
            const { durationMs } = await client.call(name, card, profile.timeoutMs);
            return { interface: name, outcome: 'answers', detail: `${what}: answers in ${durationMs} ms` };
          } catch (error) {
            last = error;
            if (!(error instanceof GatewayError) || !error.isCardFault) break;
          }
        }
        return { interface: name, outcome: outcomeOf(last, known), detail: `${what}: ${messageOf(last)}` };
      }),
    );
  } finally {
    await client.close();
  }
}

function outcomeOf(error: unknown, known: boolean): ProbeResult['outcome'] {
  const failure = error instanceof GatewayError ? error.failure : 'malformed';
  if (failure === 'backpressure') return 'refused';
  // An envelope with another code is the profile; a bare 4xx is a web server that may know nothing of it.
  if (failure === 'business') return known ? 'refused' : 'answers';
  return failure === 'card' && !known ? 'unclear' : 'fails';
}
