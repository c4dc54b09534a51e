// Starts a simulated gateway for `cardpoll gateway simulate`, `cardpoll demo`, tests and benches: listens, and passes the calls
// to SimulatedGateway. The commands check the options.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SimulatedBehaviour } from '../../domain/gateway/simulated-behaviour.ts';
import { hostAndPort } from '../../platform/addresses.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import { SimulatedGateway } from './simulated-gateway.ts';

export interface SimulatorOptions extends SimulatedBehaviour {
  readonly host: string;
  /** 0: a free port. */
  readonly port: number;
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
 * @throws CardpollError `unavailable` when it cannot listen on the address.
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const gateway = new SimulatedGateway(options);
  // No timeout for slow clients: they are ours, and Node's check costs time on every request.
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0, headersTimeout: 0 },
    (request, response) => gateway.receive(request, response),
  );
  const { host, port } = options;
  await once(server.listen(port, host, 1_024), 'listening').catch((cause: unknown) => {
    const message = `the gateway simulator cannot listen on ${hostAndPort(host, port)}: ${messageOf(cause)}`;
    throw new CardpollError('unavailable', 'listen_failed', message, { cause });
  });
  const { port: given } = server.address() as AddressInfo;
  return {
    url: `http://${hostAndPort(host, given)}`,
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
