// How a simulated gateway speaks: what a call asks for, and what its answer looks like. The simulator (simulated-gateway.ts)
// counts, delays and fails calls; it does not know what they look like. Here is also the dialect of the default profile, written
// for speed: benches make 30,000 calls a second.
import type { IncomingHttpHeaders } from 'node:http';
import type { InterfaceName } from '../../domain/gateway-interface.ts';
import { objectIn } from '../../platform/json.ts';
import type { SimulatedFleet } from './simulated-fleet.ts';

export interface Reply {
  readonly status: number;
  readonly body: string;
  /** Name, value, name, value. */
  readonly headers?: readonly string[];
}

export interface ReceivedCall {
  readonly method: string;
  /** Path and query, as received. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What a call asks for. */
export interface Asked {
  readonly name: InterfaceName;
  /** At least one. */
  readonly cards: readonly [string, ...string[]];
}

export interface Dialect {
  /** @returns the interface that a call is for; `in_body`: the rest of the call decides; null: none. */
  interfaceOf(method: string, url: string): InterfaceName | 'in_body' | null;
  /** @returns what a call to an interface asks for, or the answer that refuses it. */
  understand(call: ReceivedCall): Asked | Reply;
  answer(asked: Asked, fleet: SimulatedFleet): Reply;
  /** The answer to a call that is for no interface. */
  answerOther(call: ReceivedCall): Reply;
  /** Too many calls are in flight. */
  readonly busy: Reply;
  /** The call is one that the simulator fails. */
  readonly failed: Reply;
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
const NO_INTERFACE: Reply = { status: 404, body: '{"code":404,"msg":"no such interface","data":null}' };

export const DEFAULT_DIALECT: Dialect = {
  busy: {
    status: 429,
    body: '{"code":429,"msg":"too many calls in flight","data":null}',
    headers: ['Retry-After', '1'],
  },
  failed: { status: 500, body: '{"code":500,"msg":"simulated failure","data":null}' },

  interfaceOf: (method, url) => (method === 'POST' ? (INTERFACE_OF_PATH.get(url) ?? null) : null),

  understand: ({ url, body }: ReceivedCall) => {
    const iccid = iccidOf(body);
    const name = INTERFACE_OF_PATH.get(url);
    return iccid === null || name === undefined ? NO_CARD : { name, cards: [iccid] };
  },

  answer: ({ name, cards: [iccid] }: Asked, fleet) =>
    fleet.knows(iccid) ? { status: 200, body: `${OK_HEAD}${dataOf(name, iccid, fleet)}}` } : UNKNOWN_CARD,

  answerOther: () => NO_INTERFACE,
};

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
