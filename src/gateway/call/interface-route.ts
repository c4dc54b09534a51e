// The parts of a call that all calls of an interface share, compiled once from the profile. Used by the client.

import type { MonthCalendar } from '../../domain/cards/month-calendar.ts';
import type { GatewayConfig } from '../../domain/gateway/gateway-config.ts';
import { namesInBraces } from '../../domain/gateway/profile-syntax.ts';
import { INTERFACES, type InterfaceName } from '../../domain/gateway-interface.ts';
import { GATEWAY_CALL } from '../../domain/log-phrases.ts';
import { infoLine, type Logger } from '../../platform/logger.ts';
import { type CalledCard, GatewayError } from '../gateway.ts';
import { requestMaker } from '../request/card-request.ts';
import { AnswerReader } from './answer.ts';
import { finisherOf } from './module-calls.ts';

/** Room for each card in the answer to a batch. */
const BYTES_PER_ITEM = 1_024;

export interface RouteDeps {
  /** Gets one line per call and card, with the fields of contract, "Logs". */
  readonly log: Logger;
  /** Decides the month and the date that a request may name. */
  readonly calendar: MonthCalendar;
}

export type Route = NonNullable<ReturnType<typeof routeOf>>;

/** @returns null when the profile does not offer the interface. */
export function routeOf(profile: GatewayConfig, name: InterfaceName, { log, calendar }: RouteDeps) {
  const call = profile.interfaces[name];
  if (call === null) return null;
  // Carries `path` and `interface`, so that they are serialised once. `path` is the profile's, without the base.
  const ofRoute = log.child({ interface: name, path: call.path });
  const byVendorId = namesInBraces(JSON.stringify(call)).includes('vendor_id');
  return {
    name,
    request: requestMaker(call, profile, calendar),
    /** Adds credentials and signature. */
    finish: finisherOf(profile, name),
    answers: new AnswerReader({ ...profile, ...call, unread: unreadWords(profile, name) }),
    isBatch: call.batch !== null,
    /** Checked before any call, also before a token request. @throws GatewayError `no_vendor_id`. */
    requireNamed: ({ cardId, vendorId = null }: CalledCard) => {
      if (vendorId === null && byVendorId) throw noVendorId(name, cardId);
    },
    /** Limit of an answer. */
    maxBytes: Math.max(profile.maxResponseBytes, (call.batch?.size ?? 0) * BYTES_PER_ITEM),
    timeoutMs: call.timeoutMs ?? profile.timeoutMs,
    log: ofRoute,
    logAnswered: infoLine(ofRoute, GATEWAY_CALL),
  };
}

/** The problem when a module leaves an answer to a profile that cannot read it; null: the profile can read it. */
function unreadWords({ module, interfaces }: GatewayConfig, name: InterfaceName): string | null {
  if (INTERFACES[name].answer === null || interfaces[name]?.reading !== null) return null;
  return `module ${module?.name}: read left the answer to the profile, which does not say where the value is`;
}

function noVendorId(interfaceName: InterfaceName, cardId: number): GatewayError {
  const what = `card ${cardId} has no vendor_id, and the profile calls ${interfaceName} by it`;
  return new GatewayError('no_vendor_id', what, { interfaceName });
}
