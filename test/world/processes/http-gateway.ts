// The gateway of a world on a real socket, for daemons that are processes of their own.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Dispatcher } from 'undici';
import type { WorldGateway } from '../gateway.ts';

/** It cannot tell which daemon calls. */
const CALLER = 'a daemon';

export interface ServedGateway {
  readonly url: string;
  close(): void;
}

export async function serve(gateway: WorldGateway): Promise<ServedGateway> {
  const server = createServer((request, response) => {
    const connections = new Set<(answered: boolean) => void>();
    // A caller that is gone has its call under way no more.
    response.once('close', () => {
      for (const end of connections) end(false);
    });
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => {},
      onResponseStart: (_controller, status, headers) =>
        void response.writeHead(status, headers as Record<string, string>),
      onResponseData: (_controller, chunk) => void response.write(chunk),
      onResponseEnd: () => void response.end(),
      onResponseError: () => void response.destroy(),
    };
    text(request).then(
      (body) => {
        const from = { id: CALLER, connections, awake: async () => {} };
        gateway.receive(from, { path: request.url ?? '', body }, handler);
      },
      () => response.destroy(),
    );
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
