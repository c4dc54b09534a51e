// The server of an instance without the admin API: probes and metrics on an address of their own, so that supervisors and
// Prometheus reach every instance. Opened by wiring. What it serves, and to whom, is server.ts.
import { CardpollError } from '../platform/errors.ts';
import { type ApiServer, openServer, type ServerOptions } from './server.ts';

interface ProbeServerOptions extends ServerOptions {
  /** How many ports to try, from the configured one on: several instances on one host share a default. */
  readonly ports: number;
}

const LAST_PORT = 65_535;

/** Throws like openApiServer; `unavailable` when all ports are in use. */
export async function openProbeServer({ ports, ...options }: ProbeServerOptions): Promise<ApiServer> {
  const first = options.config.port;
  const last = Math.min(first + ports - 1, LAST_PORT);
  for (let port = first; ; port += 1) {
    try {
      return await openServer({ ...options, config: { ...options.config, port } }, async () => {});
    } catch (error) {
      if (!isTaken(error) || port >= last) throw error;
    }
  }
}

function isTaken(error: unknown): boolean {
  return error instanceof CardpollError && error.code === 'address_in_use';
}
