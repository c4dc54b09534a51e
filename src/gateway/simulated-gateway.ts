// The gateway that the simulator serves: the default profile, answered truthfully and counted at the gateway's own side.
// It is fast and well-behaved on purpose: tests have gateways of their own that break the rules.
//
// The counts (GET /stats) promise this: a call is in flight from the moment its head was read until its response is
// handed to the socket or its connection is gone, so a client that disappears frees its slot. A call takes effect when it
// is received, before the simulated latency: a client that gives up waiting may still have stopped a card, as with a
// real gateway. Calls answered 429 or 500 have no effect.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type InterfaceName, perInterface } from '../domain/gateway-interface.ts';
import { DelayLine } from './delay-line.ts';
import { isOneIn, SimulatedFleet } from './simulated-fleet.ts';

export interface SimulatedBehaviour {
  /** Serves this many different cards, in the order of their first call; others are unknown. Absent: any number. */
  readonly cards?: number;
  /** Milliseconds between receiving a call and answering it; default 0, with a capacity 20. */
  readonly latencyMs?: number;
  /** Share of calls answered 500, 0 to 1; default 0. */
  readonly failureRate?: number;
  /** Calls beyond this many in flight are answered 429 with Retry-After: 1; default: no limit. */
  readonly maxConcurrency?: number;
  /**
   * Concurrent calls at full speed. Beyond that every call takes longer, latency times calls in flight / capacity, so the
   * rate stays constant; beyond twice the capacity calls are answered 429. Default: no limit.
   */
  readonly capacity?: number;
  /** Share of flow reads that show new usage; default 0.2. */
  readonly changeRate?: number;
  /** One card in this many fails every call; default: none. */
  readonly failingOneIn?: number;
  /** One card in this many is answered ten times later, if there is a latency; default: none. */
  readonly slowOneIn?: number;
  /** Seed of the random failures; default 1. */
  readonly seed?: number;
}

export interface SimulatorStats {
  /** All calls received, rejected and failed ones included. */
  readonly requests: number;
  readonly byInterface: Readonly<Record<InterfaceName, number>>;
  readonly inFlight: number;
  readonly maxInFlight: number;
  /** By task type, because its concurrency limit bounds the calls of its interfaces. */
  readonly maxInFlightByInterface: Readonly<Record<InterfaceName, number>>;
  /** Calls answered 429; they were never in flight. */
  readonly rejected: number;
  /** Calls answered 500. */
  readonly failed: number;
  /** Stops carried out, by iccid. */
  readonly stops: Readonly<Record<string, number>>;
  /** Starts carried out, by iccid. */
  readonly starts: Readonly<Record<string, number>>;
}

const MAX_BODY_CHARS = 65_536;
const DEFAULT_CHANGE_RATE = 0.2;
/** Used when a capacity is set without a latency, which could not grow. */
const CAPACITY_LATENCY_MS = 20;
const SLOW_TIMES = 10;
/** The kinds of odd cards; they are independent of each other. */
const FAILING = 0xfa11;
const SLOW = 0x510;
/** The paths of the default profile, which this gateway serves. */
export const INTERFACE_OF_PATH: ReadonlyMap<string, InterfaceName> = new Map([
  ['/card/realname', 'realname'],
  ['/card/flow', 'flow'],
  ['/card/status', 'card_status'],
  ['/card/stop', 'stop'],
  ['/card/start', 'start'],
]);

interface Reply {
  readonly status: number;
  readonly body: string;
}

const OK_HEAD = '{"code":200,"msg":"ok","data":';
const UNKNOWN_CARD = '{"code":404,"msg":"unknown card","data":null}';
const FAILED: Reply = { status: 500, body: '{"code":500,"msg":"simulated failure","data":null}' };
const BUSY: Reply = { status: 429, body: '{"code":429,"msg":"too many calls in flight","data":null}' };

const zeroPerInterface = () => perInterface(() => 0);

/** A call from its head to its end; ends once, with its response or its connection. */
interface Call {
  readonly name: InterfaceName;
  readonly socket: Socket;
  readonly response: ServerResponse;
  ended: boolean;
}

export class SimulatedGateway {
  readonly #fleet: SimulatedFleet;
  readonly #delay: DelayLine;
  readonly #failureRate: number;
  readonly #maxConcurrency: number;
  readonly #latencyMs: number;
  #capacity: number | null;
  readonly #byInterface = zeroPerInterface();
  readonly #inFlightBy = zeroPerInterface();
  readonly #maxInFlightBy = zeroPerInterface();
  /** Calls in flight by connection; a client may pipeline several on one. */
  readonly #calls = new Map<Socket, Set<Call>>();
  #random: number;
  #requests = 0;
  #inFlight = 0;
  #maxInFlight = 0;
  #rejected = 0;
  #failed = 0;

  constructor(private readonly options: SimulatedBehaviour) {
    this.#fleet = new SimulatedFleet(options.cards ?? null, options.changeRate ?? DEFAULT_CHANGE_RATE);
    this.#capacity = options.capacity ?? null;
    this.#latencyMs = options.latencyMs ?? (this.#capacity === null ? 0 : CAPACITY_LATENCY_MS);
    this.#delay = new DelayLine(this.#latencyMs);
    this.#failureRate = options.failureRate ?? 0;
    this.#maxConcurrency = options.maxConcurrency ?? Number.POSITIVE_INFINITY;
    this.#random = options.seed ?? 1;
  }

  accept(socket: Socket): void {
    const calls = new Set<Call>();
    this.#calls.set(socket, calls);
    const gone = () => {
      this.#calls.delete(socket);
      for (const call of calls) this.#end(call);
    };
    socket.once('end', gone);
    socket.once('close', gone);
  }

  receive(request: IncomingMessage, response: ServerResponse): void {
    const name = request.method === 'POST' ? INTERFACE_OF_PATH.get(request.url ?? '') : undefined;
    if (name === undefined) {
      request.resume();
      this.#answerOther(request, response);
      return;
    }
    this.#requests += 1;
    this.#byInterface[name] += 1;
    if (this.#inFlight >= Math.min(this.#maxConcurrency, 2 * (this.#capacity ?? Number.POSITIVE_INFINITY))) {
      this.#rejected += 1;
      request.resume();
      send(response, BUSY, ['Retry-After', '1']);
      return;
    }
    const call = this.#begin(name, request.socket, response);
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      if (body.length <= MAX_BODY_CHARS) body += chunk;
    });
    request.on('end', () => {
      const iccid = iccidOf(body);
      const reply = this.#serve(name, iccid);
      this.#answerLater(iccid, () => this.#reply(call, reply));
    });
  }

  stats(): SimulatorStats {
    return {
      requests: this.#requests,
      byInterface: { ...this.#byInterface },
      inFlight: this.#inFlight,
      maxInFlight: this.#maxInFlight,
      maxInFlightByInterface: { ...this.#maxInFlightBy },
      rejected: this.#rejected,
      failed: this.#failed,
      stops: this.#fleet.stops(),
      starts: this.#fleet.starts(),
    };
  }

  /** Changes the capacity while the gateway runs; null: no limit. */
  setCapacity(capacity: number | null): void {
    this.#capacity = capacity;
  }

  close(): void {
    this.#delay.clear();
  }

  #answerLater(iccid: string | null, answer: () => void): void {
    if (iccid !== null && isOneIn(this.options.slowOneIn, iccid, SLOW)) {
      setTimeout(answer, SLOW_TIMES * this.#latencyMs).unref();
      return;
    }
    const load = this.#capacity === null ? 0 : this.#inFlight / this.#capacity;
    // The delay line is for calls that all take the same time; these do not.
    if (load > 1) setTimeout(answer, this.#latencyMs * load).unref();
    else this.#delay.push(answer);
  }

  #answerOther(request: IncomingMessage, response: ServerResponse): void {
    if (request.method === 'GET' && request.url === '/stats') {
      const { byInterface, inFlight, maxInFlight, maxInFlightByInterface, ...rest } = this.stats();
      const stats = {
        ...rest,
        by_interface: byInterface,
        in_flight: inFlight,
        max_in_flight: maxInFlight,
        max_in_flight_by_interface: maxInFlightByInterface,
      };
      send(response, { status: 200, body: JSON.stringify(stats) });
    } else {
      send(response, { status: 404, body: '{"code":404,"msg":"no such interface","data":null}' });
    }
  }

  #begin(name: InterfaceName, socket: Socket, response: ServerResponse): Call {
    const call = { name, socket, response, ended: false };
    this.#calls.get(socket)?.add(call);
    this.#inFlight += 1;
    this.#inFlightBy[name] += 1;
    this.#maxInFlightBy[name] = Math.max(this.#maxInFlightBy[name], this.#inFlightBy[name]);
    if (this.#inFlight > this.#maxInFlight) this.#maxInFlight = this.#inFlight;
    return call;
  }

  #end(call: Call): void {
    if (call.ended) return;
    call.ended = true;
    this.#inFlight -= 1;
    this.#inFlightBy[call.name] -= 1;
  }

  #reply(call: Call, reply: Reply): void {
    if (call.ended) return;
    this.#calls.get(call.socket)?.delete(call);
    send(call.response, reply);
    this.#end(call);
  }

  #serve(name: InterfaceName, iccid: string | null): Reply {
    if (iccid === null) return { status: 400, body: '{"code":400,"msg":"no iccid","data":null}' };
    const failsByChance = this.#failureRate > 0 && this.#nextRandom() < this.#failureRate;
    if (failsByChance || isOneIn(this.options.failingOneIn, iccid, FAILING)) {
      this.#failed += 1;
      return FAILED;
    }
    if (!this.#fleet.knows(iccid)) return { status: 200, body: UNKNOWN_CARD };
    return { status: 200, body: `${OK_HEAD}${this.#data(name, iccid)}}` };
  }

  #data(name: InterfaceName, iccid: string): string {
    switch (name) {
      case 'realname':
        return `{"realStatus":${this.#fleet.realStatus(iccid)}}`;
      case 'flow':
        return `{"used":${this.#fleet.readUsed(iccid)}}`;
      case 'card_status':
        return `{"cardStatus":"${this.#fleet.cardStatus(iccid)}"}`;
      case 'stop':
        this.#fleet.stop(iccid);
        return '{}';
      case 'start':
        this.#fleet.start(iccid);
        return '{}';
    }
  }

  /** mulberry32: the same seed fails the same calls. */
  #nextRandom(): number {
    this.#random = (this.#random + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#random ^ (this.#random >>> 15), 1 | this.#random);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
}

function iccidOf(body: string): string | null {
  try {
    const { iccid } = JSON.parse(body) as { iccid?: unknown };
    return typeof iccid === 'string' && /^\d{1,32}$/.test(iccid) ? iccid : null;
  } catch {
    return null;
  }
}

/** Bodies are ASCII: their length in characters is their length in bytes. */
function send(response: ServerResponse, { status, body }: Reply, headers: readonly string[] = []): void {
  response.sendDate = false;
  response.writeHead(status, [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(body.length),
    ...headers,
  ]);
  response.end(body);
}
