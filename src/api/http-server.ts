// The listening servers under the framework (two where a name has two addresses): plain or TLS, with a bound on
// connections and on the time a head may take, and a shutdown that silent clients cannot delay. Used by server.ts. What
// a request may take once its head is there is guard/bodies.ts.
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { CardpollError } from '../platform/errors.ts';
import { Connections } from './guard/connections.ts';
import type { Refusals } from './guard/refusals.ts';

/** A certificate and its private key, as PEM. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

export interface HttpBounds {
  /** Number of connections at a time. */
  readonly maxConnections: number;
  /** Milliseconds for a request's head, from the connection or the first byte on. */
  readonly headerTimeoutMs: number;
  /** Milliseconds between two requests of a connection. */
  readonly idleTimeoutMs: number;
  /** The same before the first valid token of a connection, where it is shorter. For tests; default STRANGER_IDLE_MS. */
  readonly strangerIdleMs?: number;
}

/** How late a timeout may be noticed, as a share of it. */
const CHECKS_PER_TIMEOUT = 4;
const STRANGER_IDLE_MS = 5_000;

export class HttpServers {
  readonly #servers: Array<Server | TlsServer> = [];
  readonly connections: Connections;

  /** @param tls null: plain HTTP. */
  constructor(
    private readonly bounds: HttpBounds,
    private readonly tls: TlsPair | null,
    refusals: Refusals,
  ) {
    this.connections = new Connections(bounds.maxConnections, () => refusals.add('connection_limit'));
  }

  /** For the framework, which asks again for a further address. */
  create(answer: RequestListener): Server {
    const { headerTimeoutMs, idleTimeoutMs } = this.bounds;
    const options = {
      requireHostHeader: false,
      headersTimeout: headerTimeoutMs,
      connectionsCheckingInterval: Math.ceil(headerTimeoutMs / CHECKS_PER_TIMEOUT),
      keepAliveTimeout: idleTimeoutMs,
      // Of the whole request, body and all: an import may take hours.
      requestTimeout: 0,
    };
    const server =
      this.tls === null
        ? createServer(options)
        : createTlsServer({ ...options, ...this.tls, handshakeTimeout: headerTimeoutMs });
    server.on('connection', (socket: Socket) => this.connections.add(socket));
    const counted: RequestListener = (request, response) => {
      const { socket } = request;
      this.connections.begin(socket, response);
      response.once('close', () => {
        if (!this.connections.trusts(socket)) socket.setTimeout(this.strangerIdleMs);
      });
      answer(request, response);
    };
    server.on('request', counted);
    // Node would answer by itself, without saying what is wrong.
    server.on('checkExpectation', counted);
    this.#servers.push(server);
    return server;
  }

  /** New connections get the new certificate. Throws `config` when TLS was not on before, or is to be off. */
  replaceTls(tls: TlsPair | null): void {
    if ((tls === null) !== (this.tls === null)) {
      throw new CardpollError('config', 'tls_needs_restart', 'switching TLS on or off needs a restart');
    }
    if (tls === null) return;
    for (const server of this.#servers as TlsServer[]) server.setSecureContext({ ...tls });
  }

  /** Milliseconds between two requests of a connection that never carried a valid token. */
  get strangerIdleMs(): number {
    return Math.min(this.bounds.idleTimeoutMs, this.bounds.strangerIdleMs ?? STRANGER_IDLE_MS);
  }

  /** Cuts every connection as soon as no request is being answered, or when the time is over. */
  async end(withinMs: number): Promise<void> {
    const cut = setTimeout(() => this.connections.closeAll('destroy'), withinMs);
    await this.connections.quiet();
    clearTimeout(cut);
    // What the last answers still have to write is written.
    this.connections.closeAll('destroySoon');
  }
}
