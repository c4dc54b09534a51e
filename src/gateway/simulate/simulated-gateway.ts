// The gateway that the simulator serves: answers calls truthfully by the default profile (dialect.ts), and counts them on the
// gateway's side. It is fast and well-behaved on purpose: tests have other gateways that break the rules.
//
// The counts (GET /stats) promise this: a call is in flight from the moment its head was read until its response is handed to the
// socket or its connection is gone, so a client that disappears frees its slot. A call takes effect when it is received, before
// the simulated latency: a client that gives up waiting may still have stopped a card, as with a real gateway. Calls answered 429
// or 500 have no effect.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { SimulatedBehaviour } from '../../domain/gateway/simulated-behaviour.ts';
import { type InterfaceName, perInterface } from '../../domain/gateway-interface.ts';
import { mix32 } from '../../domain/schedule/phase.ts';
import { snakeKeys } from '../../platform/snake-keys.ts';
import { answerTo, askedOf, BUSY, FAILED, INTERFACE_OF_PATH, NO_INTERFACE, type Reply } from './dialect.ts';
import { isOneIn, SimulatedFleet } from './simulated-fleet.ts';

const MAX_BODY_CHARS = 65_536;
const DEFAULT_CHANGE_RATE = 0.2;
/** Default latency when only a capacity is set: without a latency, overload could not slow the gateway. */
const CAPACITY_LATENCY_MS = 20;
const SLOW_TIMES = 10;
/** The kinds of odd cards; they are independent of each other. */
const FAILING = 0xfa11;
const SLOW = 0x510;

const newCounts = () => ({
  /** All calls received, rejected and failed ones included. */
  requests: 0,
  byInterface: perInterface(() => 0),
  inFlight: 0,
  maxInFlight: 0,
  maxInFlightByInterface: perInterface(() => 0),
  /** Calls answered 429; they were never in flight. */
  rejected: 0,
  /** Calls answered 500. */
  failed: 0,
});

/** A call from its head to its end. Ends once, with its response or its connection. */
interface Call {
  readonly response: ServerResponse;
  readonly end: () => void;
  ended: boolean;
}

export class SimulatedGateway {
  readonly #fleet: SimulatedFleet;
  readonly #latencyMs: number;
  /** May change while the gateway runs; null: no limit. */
  capacity: number | null;
  readonly #counts = newCounts();
  readonly #inFlightBy = perInterface(() => 0);
  /** The same seed fails the same calls. */
  #random: number;

  constructor(private readonly options: SimulatedBehaviour) {
    this.#fleet = new SimulatedFleet(options.cards ?? null, options.changeRate ?? DEFAULT_CHANGE_RATE);
    this.capacity = options.capacity ?? null;
    this.#latencyMs = options.latencyMs ?? (this.capacity === null ? 0 : CAPACITY_LATENCY_MS);
    this.#random = mix32(options.seed ?? 1);
  }

  receive(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url = '' } = request;
    const name = method === 'POST' ? INTERFACE_OF_PATH.get(url) : undefined;
    if (name === undefined) {
      const isStats = method === 'GET' && url === '/stats';
      const reply = isStats ? { status: 200, body: JSON.stringify(snakeKeys(this.stats())) } : NO_INTERFACE;
      readBody(request, () => send(response, reply));
      return;
    }
    this.#counts.requests += 1;
    this.#counts.byInterface[name] += 1;
    const { maxConcurrency = Number.POSITIVE_INFINITY } = this.options;
    if (this.#counts.inFlight >= Math.min(maxConcurrency, 2 * (this.capacity ?? Number.POSITIVE_INFINITY))) {
      this.#counts.rejected += 1;
      request.resume();
      send(response, BUSY);
      return;
    }
    const call = this.#begin(name, request.socket, response);
    readBody(request, (body) => {
      const iccid = askedOf(body);
      if (typeof iccid !== 'string') return this.#answerLater(null, () => this.#reply(call, iccid));
      const reply = this.#serve(name, iccid);
      this.#answerLater(iccid, () => this.#reply(call, reply));
    });
  }

  stats() {
    const { stops, starts } = this.#fleet;
    return {
      ...structuredClone(this.#counts),
      stops: Object.fromEntries(stops),
      starts: Object.fromEntries(starts),
    };
  }

  #answerLater(iccid: string | null, answer: () => void): void {
    const isSlow = iccid !== null && isOneIn(this.options.slowOneIn, iccid, SLOW);
    const load = this.capacity === null ? 0 : this.#counts.inFlight / this.capacity;
    const delayMs = this.#latencyMs * (isSlow ? SLOW_TIMES : Math.max(1, load));
    if (delayMs === 0) answer();
    else setTimeout(answer, delayMs).unref();
  }

  #begin(name: InterfaceName, socket: Socket, response: ServerResponse): Call {
    const end = () => {
      socket.off('end', end).off('close', end);
      call.ended = true;
      this.#counts.inFlight -= 1;
      this.#inFlightBy[name] -= 1;
    };
    const call: Call = { response, end, ended: false };
    // A client may pipeline any number of calls on a connection.
    socket.setMaxListeners(0).once('end', end).once('close', end);
    this.#counts.inFlight += 1;
    this.#counts.maxInFlight = Math.max(this.#counts.maxInFlight, this.#counts.inFlight);
    this.#inFlightBy[name] += 1;
    const { maxInFlightByInterface: most } = this.#counts;
    most[name] = Math.max(most[name], this.#inFlightBy[name]);
    return call;
  }

  #reply(call: Call, reply: Reply): void {
    if (call.ended) return;
    send(call.response, reply);
    call.end();
  }

  #serve(name: InterfaceName, iccid: string): Reply {
    const { failureRate = 0 } = this.options;
    this.#random += 1;
    const failsByChance = mix32(this.#random) < failureRate * 2 ** 32;
    if (failsByChance || isOneIn(this.options.failingOneIn, iccid, FAILING)) {
      this.#counts.failed += 1;
      return FAILED;
    }
    return answerTo(name, iccid, this.#fleet);
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
