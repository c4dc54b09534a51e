// The gateway that the simulator serves: calls answered truthfully, in the dialect of a profile (dialect/), and counted at the
// gateway's own side. It is fast and well-behaved on purpose: tests have gateways of their own that break the rules.
//
// The counts (GET /stats) promise this: a call is in flight from the moment its head was read until its response is
// handed to the socket or its connection is gone, so a client that disappears frees its slot. A call takes effect when it
// is received, before the simulated latency: a client that gives up waiting may still have stopped a card, as with a
// real gateway. Calls answered 429 or 500 have no effect.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type InterfaceName, perInterface } from '../domain/gateway-interface.ts';
import { snakeKeys } from '../platform/snake-keys.ts';
import type { Asked, Dialect, ReceivedCall, Reply } from './dialect/dialect.ts';
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
const zeroPerInterface = () => perInterface(() => 0);

/** A call from its head to its end; ends once, with its response or its connection. */
interface Call {
  /** null until the call is understood. */
  name: InterfaceName | null;
  readonly socket: Socket;
  readonly response: ServerResponse;
  ended: boolean;
}

export class SimulatedGateway {
  readonly #fleet: SimulatedFleet;
  readonly #latencyMs: number;
  /** May change while the gateway runs; null: no limit. */
  capacity: number | null;
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

  constructor(
    private readonly options: SimulatedBehaviour,
    private readonly dialect: Dialect,
  ) {
    this.#fleet = new SimulatedFleet(options.cards ?? null, options.changeRate ?? DEFAULT_CHANGE_RATE);
    this.capacity = options.capacity ?? null;
    this.#latencyMs = options.latencyMs ?? (this.capacity === null ? 0 : CAPACITY_LATENCY_MS);
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
    const { method = '', url = '', headers } = request;
    const withBody = (use: (received: ReceivedCall) => void) =>
      readBody(request, (body) => use({ method, url, headers, body }));
    const name = this.dialect.interfaceOf(method, url);
    if (name === null) {
      if (method === 'GET' && url === '/stats')
        send(response, { status: 200, body: JSON.stringify(snakeKeys(this.stats())) });
      else withBody((received) => send(response, this.dialect.answerOther(received)));
      return;
    }
    this.#requests += 1;
    if (name !== 'in_body') this.#byInterface[name] += 1;
    const { maxConcurrency = Number.POSITIVE_INFINITY } = this.options;
    if (this.#inFlight >= Math.min(maxConcurrency, 2 * (this.capacity ?? Number.POSITIVE_INFINITY))) {
      this.#rejected += 1;
      request.resume();
      send(response, this.dialect.busy);
      return;
    }
    const call = this.#begin(request.socket, response);
    if (name !== 'in_body') this.#assign(call, name);
    withBody((received) => {
      const asked = this.dialect.understand(received);
      if ('status' in asked) return this.#answerLater(null, () => this.#reply(call, asked));
      if (call.name === null) {
        this.#byInterface[asked.name] += 1;
        this.#assign(call, asked.name);
      }
      const reply = this.#serve(asked);
      this.#answerLater(asked.cards[0], () => this.#reply(call, reply));
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

  #answerLater(iccid: string | null, answer: () => void): void {
    const isSlow = iccid !== null && isOneIn(this.options.slowOneIn, iccid, SLOW);
    const load = this.capacity === null ? 0 : this.#inFlight / this.capacity;
    const delayMs = this.#latencyMs * (isSlow ? SLOW_TIMES : Math.max(1, load));
    if (delayMs === 0) answer();
    else setTimeout(answer, delayMs).unref();
  }

  #begin(socket: Socket, response: ServerResponse): Call {
    const call = { name: null, socket, response, ended: false };
    this.#calls.get(socket)?.add(call);
    this.#inFlight += 1;
    if (this.#inFlight > this.#maxInFlight) this.#maxInFlight = this.#inFlight;
    return call;
  }

  #assign(call: Call, name: InterfaceName): void {
    if (call.ended) return;
    call.name = name;
    this.#inFlightBy[name] += 1;
    this.#maxInFlightBy[name] = Math.max(this.#maxInFlightBy[name], this.#inFlightBy[name]);
  }

  #end(call: Call): void {
    if (call.ended) return;
    call.ended = true;
    this.#inFlight -= 1;
    if (call.name !== null) this.#inFlightBy[call.name] -= 1;
  }

  #reply(call: Call, reply: Reply): void {
    if (call.ended) return;
    this.#calls.get(call.socket)?.delete(call);
    send(call.response, reply);
    this.#end(call);
  }

  #serve(asked: Asked): Reply {
    const { failureRate = 0 } = this.options;
    const failsByChance = failureRate > 0 && this.#nextRandom() < failureRate;
    if (failsByChance || asked.cards.some((card) => isOneIn(this.options.failingOneIn, card, FAILING))) {
      this.#failed += 1;
      return this.dialect.failed;
    }
    return this.dialect.answer(asked, this.#fleet);
  }

  /** mulberry32: the same seed fails the same calls. */
  #nextRandom(): number {
    this.#random = (this.#random + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#random ^ (this.#random >>> 15), 1 | this.#random);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
}

/** @param use gets the body when it is complete. */
function readBody(request: IncomingMessage, use: (body: string) => void): void {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    if (body.length <= MAX_BODY_CHARS) body += chunk;
  });
  request.on('end', () => use(body));
}

function send(response: ServerResponse, { status, body, headers = [] }: Reply): void {
  response.sendDate = false;
  response.writeHead(status, [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(Buffer.byteLength(body)),
    ...headers,
  ]);
  response.end(body);
}
