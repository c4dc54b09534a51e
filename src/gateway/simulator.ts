// Starts a gateway for trials of cardpoll, for `cardpoll gateway simulate`, `cardpoll demo`, tests and benches: checks the
// options, listens, and passes the calls to SimulatedGateway.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { GatewayConfig } from '../config/daemon-config.ts';
import { CardpollError, messageOf } from '../platform/errors.ts';
import { DEFAULT_DIALECT } from './dialect/dialect.ts';
import { ProfileDialect } from './dialect/profile-dialect.ts';
import { type SimulatedBehaviour, SimulatedGateway, type SimulatorStats } from './simulated-gateway.ts';

export interface SimulatorOptions extends SimulatedBehaviour {
  readonly host: string;
  /** 0: a free port. */
  readonly port: number;
  /** Absent: the default profile. */
  readonly profile?: GatewayConfig;
}

export interface Simulator {
  readonly url: string;
  stats(): SimulatorStats;
  /** Changes the capacity; null: no limit. */
  setCapacity(capacity: number | null): void;
  /** Stops listening and cuts the connections. */
  close(): Promise<void>;
}

const KEEP_ALIVE_MS = 600_000;

/**
 * Starts a simulator and resolves when it listens.
 * @throws CardpollError `invalid` for options out of bounds, `unavailable` when the address cannot be listened on.
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  checkOptions(options);
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
  server.on('connection', (socket) => gateway.accept(socket));
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

function checkOptions(options: SimulatorOptions): void {
  const bounds: ReadonlyArray<
    readonly [Exclude<keyof SimulatorOptions, 'profile'>, number, number, boolean]
  > = [
    ['port', 0, 65_535, true],
    ['cards', 1, 100_000_000, true],
    ['latencyMs', 0, 600_000, false],
    ['failureRate', 0, 1, false],
    ['maxConcurrency', 1, 1_000_000, true],
    ['capacity', 1, 1_000_000, true],
    ['changeRate', 0, 1, false],
    ['failingOneIn', 1, 1_000_000, true],
    ['slowOneIn', 1, 1_000_000, true],
    ['seed', 0, 2 ** 32 - 1, true],
  ];
  const fields = bounds.flatMap(([field, min, max, whole]) => {
    const value = options[field];
    if (value === undefined) return [];
    const good =
      typeof value === 'number' && value >= min && value <= max && (!whole || Number.isInteger(value));
    const message = `must be ${whole ? 'a whole number' : 'a number'} from ${min} to ${max}`;
    return good ? [] : [{ field, message }];
  });
  if (fields.length === 0) return;
  const problems = fields.map(({ field, message }) => `${field} ${message}`).join('; ');
  throw new CardpollError('invalid', 'invalid_simulator_option', `gateway simulator: ${problems}`, {
    fields,
  });
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
