// A gateway on a real socket that answers as the test says, call by call: some cards fail, an interface is broken, a
// stop is acknowledged and not carried out. It counts at its own side. For gateways that break HTTP itself see
// bad-gateway.ts; a well-behaved one is the simulator (src/gateway/simulate/simulator.ts).
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { INTERFACE_NAMES, type InterfaceName, perInterface } from '../../src/domain/gateway-interface.ts';
import { INTERFACE_OF_PATH } from '../../src/gateway/simulate/dialect.ts';
import { HEALTHY } from './healthy-answers.ts';

export interface ScriptedCall {
  readonly interfaceName: InterfaceName;
  readonly iccid: string;
  /** Calls in flight, this one included. */
  readonly inFlight: number;
}

export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is, anything else as `data` of a successful envelope. */
  readonly body?: unknown;
  readonly delayMs?: number;
  /** It is sent once this is fulfilled. */
  readonly after?: Promise<unknown>;
}

export type Script = (call: ScriptedCall) => ScriptedAnswer;

export interface ScriptedGateway {
  readonly url: string;
  /** Calls received since the start or the last `forget()`, by interface. */
  readonly calls: Readonly<Record<InterfaceName, number>>;
  /** The same by `<interface> <iccid>`. */
  readonly callsOf: ReadonlyMap<string, number>;
  /** Answers by another script from the next call on. */
  follow(script: Script): void;
  /** Ends all connections: calls need new ones. */
  dropConnections(): void;
  /** Counts from zero. */
  forget(): void;
  close(): Promise<void>;
}

/** Every call succeeds. */
export const healthy: Script = ({ interfaceName }) => ({ body: HEALTHY[interfaceName] });

/** HTTP 500. */
export const broken: ScriptedAnswer = { status: 500, body: '{"code":500,"msg":"broken"}' };

/** @param onPort 0: any free one. */
export async function startScriptedGateway(first: Script = healthy, onPort = 0): Promise<ScriptedGateway> {
  let script = first;
  let inFlight = 0;
  const calls = perInterface(() => 0);
  const callsOf = new Map<string, number>();

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const interfaceName = INTERFACE_OF_PATH.get(request.url ?? '');
    const body = await text(request);
    if (interfaceName === undefined) {
      response.writeHead(404).end();
      return;
    }
    const { iccid } = JSON.parse(body) as { iccid: string };
    calls[interfaceName] += 1;
    const key = `${interfaceName} ${iccid}`;
    callsOf.set(key, (callsOf.get(key) ?? 0) + 1);
    inFlight += 1;
    const answer = script({ interfaceName, iccid, inFlight });
    const send = () => {
      inFlight -= 1;
      const data = answer.body ?? null;
      response
        .writeHead(answer.status ?? 200, answer.headers)
        .end(typeof data === 'string' ? data : JSON.stringify({ code: 200, msg: 'ok', data }));
    };
    await answer.after;
    if ((answer.delayMs ?? 0) > 0) setTimeout(send, answer.delayMs);
    else send();
  };

  const server = createServer((request, response) => {
    // A caller that is gone needs no answer.
    serve(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  server.listen(onPort, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    callsOf,
    follow: (next) => {
      script = next;
    },
    dropConnections: () => server.closeAllConnections(),
    forget: () => {
      for (const name of INTERFACE_NAMES) calls[name] = 0;
      callsOf.clear();
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
