// Whether the gateway speaks the configured profile: one call of every interface that only reads, for one card. Used by
// the doctor. Stops no card, and shows no credentials.
import type { Clock } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import { silentLogger } from '../platform/logger.ts';
import { openGatewayClient } from './client.ts';
import { type CalledCard, GatewayError, type InterfaceName } from './gateway.ts';
import type { GatewayProfile } from './profile.ts';

const READING: readonly InterfaceName[] = ['realname', 'flow', 'card_status'];

export interface ProbeResult {
  readonly interface: InterfaceName;
  /** refused: it speaks the profile, and takes no calls now. */
  readonly outcome: 'answers' | 'refused' | 'fails';
  /** What was called, and what came of it. */
  readonly detail: string;
}

/** @param known whether the gateway should know the card; one that it does not know it may answer as it likes */
export async function probeProfile(
  profile: GatewayProfile,
  card: CalledCard,
  { known, clock }: { readonly known: boolean; readonly clock: Clock },
): Promise<ProbeResult[]> {
  const client = openGatewayClient(profile, { log: silentLogger(), clock });
  try {
    return await Promise.all(
      READING.map(async (name): Promise<ProbeResult> => {
        const { method, path } = profile.interfaces[name];
        const what = `${method} ${profile.baseUrl.replace(/\/+$/, '')}${path}`;
        try {
          const { durationMs } = await client.call(name, card, profile.timeoutMs);
          return { interface: name, outcome: 'answers', detail: `${what}: answers in ${durationMs} ms` };
        } catch (error) {
          return {
            interface: name,
            outcome: outcomeOf(error, known),
            detail: `${what}: ${messageOf(error)}`,
          };
        }
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
  return 'fails';
}
