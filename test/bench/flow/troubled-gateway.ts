// A gateway on a real socket that is healthy until a trouble begins, and counts at its own side: calls and good answers
// by interface. Used by the scenarios of the flow bench; what it may be troubled by stands in troubles.ts. It asks of the
// tree it runs in nothing but the interfaces' paths, so that it also runs in an older one.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { INTERFACES, type InterfaceName, perInterface } from '../../../src/domain/gateway-interface.ts';
import { INTERFACE_OF_PATH } from '../../../src/gateway/simulate/dialect.ts';

export interface Call {
  readonly interfaceName: InterfaceName;
  readonly cardId: number;
  /** Since the trouble began. */
  readonly atMs: number;
  /** 1 for the first call of its connection since the trouble began. */
  readonly callOfConnection: number;
}

export interface Refusal {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** `hang` never answers, `reset` cuts the connection, `late` is a good answer that comes after `lateMs`. */
export type Answer = 'good' | 'hang' | 'reset' | 'late' | Refusal;
export type Trouble = (call: Call) => Answer;

export type Counts = Record<InterfaceName, number>;

const healthy: Trouble = () => 'good';

/** What a running card that is not verified and has used nothing is answered. */
const GOOD_BODIES = perInterface((name) => {
  const { answer } = INTERFACES[name];
  if (answer === null) return '{"code":200,"msg":"ok","data":{}}';
  const value = { verified: false, megabytes: 0, status: 'active' }[answer.kind];
  return JSON.stringify({ code: 200, msg: 'ok', data: { [answer.field]: value } });
});

export class TroubledGateway {
  /** Calls received. */
  readonly calls: Counts = perInterface(() => 0);
  /** Good answers that somebody still waited for. */
  readonly good: Counts = perInterface(() => 0);
  readonly #server = createServer(
    { keepAliveTimeout: 600_000, requestTimeout: 0, headersTimeout: 0 },
    (request, response) => this.#receive(request, response),
  );
  #trouble = healthy;
  #beganAt = performance.now();
  #callsOfConnection = new WeakMap<Socket, number>();

  constructor(
    private readonly latencyMs: number,
    private readonly lateMs: number,
  ) {}

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<void> {
    this.#server.listen({ host: '127.0.0.1', port: 0, backlog: 4_096 });
    await once(this.#server, 'listening');
  }

  begin(trouble: Trouble): void {
    this.#trouble = trouble;
    this.#beganAt = performance.now();
    this.#callsOfConnection = new WeakMap();
  }

  heal(): void {
    this.begin(healthy);
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const interfaceName = INTERFACE_OF_PATH.get(request.url ?? '');
    if (interfaceName === undefined) {
      request.resume();
      response.writeHead(404).end();
      return;
    }
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => this.#serve(interfaceName, cardIdOf(body), request.socket, response));
  }

  #serve(interfaceName: InterfaceName, cardId: number, socket: Socket, response: ServerResponse): void {
    this.calls[interfaceName] += 1;
    const callOfConnection = (this.#callsOfConnection.get(socket) ?? 0) + 1;
    this.#callsOfConnection.set(socket, callOfConnection);
    const atMs = performance.now() - this.#beganAt;
    const answer = this.#trouble({ interfaceName, cardId, atMs, callOfConnection });
    if (answer === 'hang') return;
    if (answer === 'reset') {
      socket.resetAndDestroy();
      return;
    }
    const send = () => {
      // Who hung up gets no answer, so none is counted.
      if (socket.destroyed) return;
      const isGood = answer === 'good' || answer === 'late';
      if (isGood) this.good[interfaceName] += 1;
      const { status, headers, body } = isGood ? { status: 200, headers: {}, body: '' } : answer;
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(isGood ? GOOD_BODIES[interfaceName] : (body ?? `{"code":${status},"msg":"trouble"}`));
    };
    setTimeout(send, answer === 'late' ? this.lateMs : this.latencyMs);
  }
}

/** Cards are named by 8986 and their id, see Stack.insertCards. */
function cardIdOf(body: string): number {
  const { iccid } = JSON.parse(body) as { iccid: string };
  return Number(iccid.slice(4));
}
