// Starts a gateway for trials of cardpoll, for `cardpoll gateway simulate`, `cardpoll demo`, tests and benches: listens, and
// passes the calls to SimulatedGateway. The commands check the options.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { GatewayConfig } from '../config/daemon-config.ts';
import type { SimulatedBehaviour } from '../domain/gateway/simulated-behaviour.ts';
import { CardpollError, messageOf } from '../platform/errors.ts';
import { DEFAULT_DIALECT } from './dialect/dialect.ts';
import { ProfileDialect } from './dialect/profile-dialect.ts';
import { SimulatedGateway } from './simulated-gateway.ts';

export interface SimulatorOptions extends SimulatedBehaviour {
  readonly host: string;
  /** 0: a free port. */
  readonly port: number;
  /** Absent: the default profile. */
  readonly profile?: GatewayConfig;
}

export interface Simulator {
  readonly url: string;
  stats(): ReturnType<SimulatedGateway['stats']>;
  /** Changes the capacity; null: no limit. */
  setCapacity(capacity: number | null): void;
  /** Stops listening and cuts the connections. */
  close(): Promise<void>;
}

const KEEP_ALIVE_MS = 600_000;

/**
 * Starts a simulator and resolves when it listens.
 * @throws CardpollError `unavailable` when the address cannot be listened on.
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const gateway = new SimulatedGateway(
    options,
    options.profile === undefined
      ? DEFAULT_DIALECT
      : new ProfileDialect(options.profile, () => performance.now()),
  );
  // No timeout for slow clients: they are ours, and Node's check costs time on every request.
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0, headersTimeout: 0 },
    (request, response) => gateway.receive(request, response),
  );
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${port}`,
    stats: () => gateway.stats(),
    setCapacity: (capacity) => {
      gateway.capacity = capacity;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, { host, port }: SimulatorOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const message = `the gateway simulator cannot listen on ${host}:${port}: ${messageOf(cause)}`;
      reject(new CardpollError('unavailable', 'listen_failed', message, { cause }));
    });
    server.listen(port, host, 1_024, resolve);
  });
}
