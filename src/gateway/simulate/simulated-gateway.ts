// The gateway that the simulator serves: calls answered truthfully, in the dialect of a profile (dialect.ts), and counted at the
// gateway's own side. It is fast and well-behaved on purpose: tests have gateways of their own that break the rules.
//
// The counts (GET /stats) promise this: a call is in flight from the moment its head was read until its response is
// handed to the socket or its connection is gone, so a client that disappears frees its slot. A call takes effect when it
// is received, before the simulated latency: a client that gives up waiting may still have stopped a card, as with a
// real gateway. Calls answered 429 or 500 have no effect.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { SimulatedBehaviour } from '../../domain/gateway/simulated-behaviour.ts';
import { type InterfaceName, perInterface } from '../../domain/gateway-interface.ts';
import { mix32 } from '../../domain/schedule/phase.ts';
import { snakeKeys } from '../../platform/snake-keys.ts';
import type { Asked, Dialect, ReceivedCall, Reply } from './dialect.ts';
import { isOneIn, SimulatedFleet } from './simulated-fleet.ts';

const MAX_BODY_CHARS = 65_536;
const DEFAULT_CHANGE_RATE = 0.2;
/** Used when a capacity is set without a latency, which could not grow. */
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

/** A call from its head to its end; ends once, with its response or its connection. */
interface Call {
  /** null until the call is understood. */
  name: InterfaceName | null;
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

  constructor(
    private readonly options: SimulatedBehaviour,
    private readonly dialect: Dialect,
  ) {
    this.#fleet = new SimulatedFleet(options.cards ?? null, options.changeRate ?? DEFAULT_CHANGE_RATE);
    this.capacity = options.capacity ?? null;
    this.#latencyMs = options.latencyMs ?? (this.capacity === null ? 0 : CAPACITY_LATENCY_MS);
    this.#random = mix32(options.seed ?? 1);
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
    this.#counts.requests += 1;
    if (name !== 'in_body') this.#counts.byInterface[name] += 1;
    const { maxConcurrency = Number.POSITIVE_INFINITY } = this.options;
    if (this.#counts.inFlight >= Math.min(maxConcurrency, 2 * (this.capacity ?? Number.POSITIVE_INFINITY))) {
      this.#counts.rejected += 1;
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
        this.#counts.byInterface[asked.name] += 1;
        this.#assign(call, asked.name);
      }
      const reply = this.#serve(asked);
      this.#answerLater(asked.cards[0], () => this.#reply(call, reply));
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

  #begin(socket: Socket, response: ServerResponse): Call {
    const end = () => {
      socket.off('end', end).off('close', end);
      call.ended = true;
      this.#counts.inFlight -= 1;
      if (call.name !== null) this.#inFlightBy[call.name] -= 1;
    };
    const call: Call = { name: null, response, end, ended: false };
    // A client may pipeline any number of calls on a connection.
    socket.setMaxListeners(0).once('end', end).once('close', end);
    this.#counts.inFlight += 1;
    this.#counts.maxInFlight = Math.max(this.#counts.maxInFlight, this.#counts.inFlight);
    return call;
  }

  #assign(call: Call, name: InterfaceName): void {
    if (call.ended) return;
    call.name = name;
    this.#inFlightBy[name] += 1;
    const { maxInFlightByInterface: most } = this.#counts;
    most[name] = Math.max(most[name], this.#inFlightBy[name]);
  }

  #reply(call: Call, reply: Reply): void {
    if (call.ended) return;
    send(call.response, reply);
    call.end();
  }

  #serve(asked: Asked): Reply {
    const { failureRate = 0 } = this.options;
    this.#random += 1;
    const failsByChance = mix32(this.#random) < failureRate * 2 ** 32;
    if (failsByChance || asked.cards.some((card) => isOneIn(this.options.failingOneIn, card, FAILING))) {
      this.#counts.failed += 1;
      return this.dialect.failed;
    }
    return this.dialect.answer(asked, this.#fleet);
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
