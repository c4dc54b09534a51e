// The protocol of the simulated gateway, which is the default profile: reads requests and builds answers. The simulator
// (simulated-gateway.ts) counts, delays and fails calls. Written for speed: benches make 30,000 calls a second.
import type { InterfaceName } from '../../domain/gateway-interface.ts';
import { objectIn } from '../../platform/json.ts';
import type { SimulatedFleet } from './simulated-fleet.ts';

export interface Reply {
  readonly status: number;
  readonly body: string;
  /** Name, value, name, value. */
  readonly headers?: readonly string[];
}

export const INTERFACE_OF_PATH: ReadonlyMap<string, InterfaceName> = new Map([
  ['/card/realname', 'realname'],
  ['/card/flow', 'flow'],
  ['/card/status', 'card_status'],
  ['/card/stop', 'stop'],
  ['/card/start', 'start'],
]);

const OK_HEAD = '{"code":200,"msg":"ok","data":';
const UNKNOWN_CARD: Reply = { status: 200, body: '{"code":404,"msg":"unknown card","data":null}' };
const NO_CARD: Reply = { status: 400, body: '{"code":400,"msg":"no iccid","data":null}' };
/** The answer to a call to no known interface. */
export const NO_INTERFACE: Reply = {
  status: 404,
  body: '{"code":404,"msg":"no such interface","data":null}',
};
/** The answer when too many calls are in flight. */
export const BUSY: Reply = {
  status: 429,
  body: '{"code":429,"msg":"too many calls in flight","data":null}',
  headers: ['Retry-After', '1'],
};
/** The answer to a call that the simulator fails on purpose. */
export const FAILED: Reply = { status: 500, body: '{"code":500,"msg":"simulated failure","data":null}' };

/** @returns the requested ICCID, or the answer that refuses the request. */
export function askedOf(body: string): string | Reply {
  return iccidOf(body) ?? NO_CARD;
}

export function answerTo(name: InterfaceName, iccid: string, fleet: SimulatedFleet): Reply {
  return fleet.knows(iccid)
    ? { status: 200, body: `${OK_HEAD}${dataOf(name, iccid, fleet)}}` }
    : UNKNOWN_CARD;
}

function dataOf(name: InterfaceName, iccid: string, fleet: SimulatedFleet): string {
  switch (name) {
    case 'realname':
      return `{"realStatus":${fleet.realStatus(iccid)}}`;
    case 'flow':
      return `{"used":${fleet.readUsed(iccid)}}`;
    case 'card_status':
      return `{"cardStatus":"${fleet.cardStatus(iccid)}"}`;
    case 'stop':
      fleet.stop(iccid);
      return '{}';
    case 'start':
      fleet.start(iccid);
      return '{}';
  }
}

function iccidOf(body: string): string | null {
  const iccid = objectIn(body)?.iccid;
  return typeof iccid === 'string' && /^\d{1,32}$/.test(iccid) ? iccid : null;
}
