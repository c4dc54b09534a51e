// A forward proxy on a real socket: CONNECT and requests with a whole URL, with or without a password, by http or https. It knows the
// names of servers that this machine cannot resolve, counts what it was asked, and can refuse, hang, or lose the answer.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface Asked {
  readonly method: string;
  /** `gateway.example:443` of CONNECT, otherwise the whole URL. */
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
}

/**
 * lose: passes the request on, and closes when the answer begins. refuse: answers with this status and a page. hang: never answers.
 */
export type ProxyBehaviour = 'pass' | 'lose' | 'hang' | { readonly refuse: number };

export interface ForwardProxy {
  /** `http://127.0.0.1:3128`, without credentials. */
  readonly url: string;
  readonly port: number;
  readonly asked: readonly Asked[];
  /** Connections of clients that are open, those of tunnels included. */
  readonly open: () => number;
  /** Most connections at a time. */
  readonly mostOpen: () => number;
  behaviour: ProxyBehaviour;
  close(): Promise<void>;
}

export interface ForwardProxyOptions {
  /** What it knows by name and port: `{ 'gateway.example:80': 'http://127.0.0.1:4711' }`. It reaches nothing else. */
  readonly servers?: Readonly<Record<string, string>>;
  /** `user:password` that it asks for. */
  readonly credentials?: string;
  readonly tls?: { readonly cert: string; readonly key: string };
}

const PAGE = '<html><body>the proxy does not like this</body></html>';

export async function startForwardProxy(options: ForwardProxyOptions = {}): Promise<ForwardProxy> {
  const { servers = {}, credentials, tls } = options;
  const asked: Asked[] = [];
  const sockets = new Set<Duplex>();
  let mostOpen = 0;
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  const proxy = { behaviour: 'pass' as ProxyBehaviour };

  const refusalOf = ({ headers }: IncomingMessage): number | null => {
    const basic = credentials === undefined ? undefined : `Basic ${btoa(credentials)}`;
    if (basic !== undefined && headers['proxy-authorization'] !== basic) return 407;
    return typeof proxy.behaviour === 'object' ? proxy.behaviour.refuse : null;
  };
  const note = ({ method = '', url = '', headers }: IncomingMessage) =>
    asked.push({ method, target: url, headers });

  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    sockets.add(socket);
    mostOpen = Math.max(mostOpen, sockets.size);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });

  server.on('connect', (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    note(incoming);
    if (proxy.behaviour === 'hang') {
      client.on('end', () => client.destroy()).resume();
      return;
    }
    const known = servers[incoming.url ?? ''];
    const refusal = refusalOf(incoming) ?? (known === undefined ? 502 : null);
    if (refusal !== null || known === undefined) {
      client.end(`HTTP/1.1 ${refusal} No\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n${PAGE}`);
      return;
    }
    const { hostname, port } = new URL(known);
    const behind = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      behind.write(head);
      client.pipe(behind);
      behind.pipe(client);
    });
    behind.on('error', () => client.destroy());
    client.once('close', () => behind.destroy());
    behind.once('close', () => client.destroy());
  });

  server.on('request', (incoming: IncomingMessage, response: ServerResponse) => {
    note(incoming);
    if (proxy.behaviour === 'hang') return;
    const target = URL.canParse(incoming.url ?? '') ? new URL(incoming.url ?? '') : null;
    const known = target === null ? undefined : servers[`${target.hostname}:${target.port || 80}`];
    const refusal = refusalOf(incoming) ?? (known === undefined ? 502 : null);
    if (target === null || refusal !== null || known === undefined) {
      response.writeHead(refusal ?? 400, { 'content-type': 'text/html' }).end(PAGE);
      return;
    }
    const { 'proxy-authorization': _, ...headers } = incoming.headers;
    const path = target.pathname + target.search;
    // As RFC 9112, 3.2.2 asks for: the host is that of the URL, whatever the header says.
    const how = { method: incoming.method, path, headers: { ...headers, host: target.host }, agent: false };
    const onward = request(known, how as object, (answer) => {
      if (proxy.behaviour === 'lose') incoming.socket.destroy();
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    incoming.pipe(onward);
  });

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return Object.assign(proxy, {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    asked,
    open: () => sockets.size,
    mostOpen: () => mostOpen,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  });
}
