// The simulated gateway in the test's own process, with a record of every call in the order of arrival: what `gateway simulate`
// counts, kept card by card. For tests that ask whether each card got its turn.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SimulatedBehaviour } from '../../src/domain/gateway/simulated-behaviour.ts';
import { INTERFACE_NAMES, type InterfaceName } from '../../src/domain/gateway-interface.ts';
import { INTERFACE_OF_PATH } from '../../src/gateway/simulate/dialect.ts';
import { SimulatedGateway } from '../../src/gateway/simulate/simulated-gateway.ts';

export interface RecordingGateway {
  readonly url: string;
  /** The iccids that were asked about, in the order of the calls. */
  readonly calls: Readonly<Record<InterfaceName, readonly string[]>>;
  stats(): ReturnType<SimulatedGateway['stats']>;
  close(): Promise<void>;
}

export async function startRecordingGateway(behaviour: SimulatedBehaviour): Promise<RecordingGateway> {
  const gateway = new SimulatedGateway(behaviour);
  const calls = Object.fromEntries(INTERFACE_NAMES.map((name) => [name, [] as string[]])) as Record<
    InterfaceName,
    string[]
  >;
  const record = (request: IncomingMessage) => {
    let body = '';
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const name = INTERFACE_OF_PATH.get(request.url ?? '');
      if (name !== undefined) calls[name].push((JSON.parse(body) as { iccid: string }).iccid);
    });
  };
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    record(request);
    gateway.receive(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    stats: () => gateway.stats(),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
