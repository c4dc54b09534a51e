// Makes a call that follows from a poll: it draws from the rate limits by itself. Used by stop-call.ts and resume-call.ts.
import type { InterfaceName } from '../../domain/gateway-interface.ts';
import type { CalledCard, Gateway, GatewayAnswer } from '../../gateway/gateway.ts';
import type { Deadline } from '../work/task.ts';

/** Half of the time that is left is for the call itself. */
const SHARE_FOR_PACE = 0.5;

export function followUpCall(
  gateway: Gateway,
  interfaceName: InterfaceName,
  card: CalledCard,
  deadline: Deadline,
): Promise<GatewayAnswer> {
  const leftMs = deadline.remainingMs();
  return gateway.call(interfaceName, card, leftMs, SHARE_FOR_PACE * leftMs);
}
