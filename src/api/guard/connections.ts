// The open connections of the HTTP server. At the limit, a new connection replaces one of the address with the most connections:
// first one that never carried a valid token, then one without a running request, the longest silent first. So no client can lock
// out another, however many connections it opens. Used by http-server.ts.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../../platform/addresses.ts';

interface Connection {
  readonly socket: Socket;
  readonly key: string;
  /** Its address, or the network of its IPv6 address. */
  readonly network: string;
  /** A request with a valid token came over this connection. */
  trusted: boolean;
  /** Answers in progress; a client may send several requests, which are answered in order. */
  readonly answers: Set<ServerResponse>;
}

export class Connections {
  readonly #open = new Map<string, Connection>();
  /** Connections by network; the longest silent one first. */
  readonly #networks = new Map<string, Set<Connection>>();
  #isEnding = false;

  /** @param onRefused called for each connection that is closed because of the limit. */
  constructor(
    private readonly most: number,
    private readonly onRefused: () => void,
  ) {}

  /** Accepts the connection; at the limit closes it or another one. */
  add(socket: Socket): void {
    if (this.#isEnding) {
      socket.destroy();
      return;
    }
    if (this.#open.size >= this.most && !this.#makeRoom()) {
      this.onRefused();
      socket.destroy();
      return;
    }
    const network = networkOf(socket.remoteAddress ?? '');
    const connection: Connection = {
      socket,
      key: keyOf(socket),
      network,
      trusted: false,
      answers: new Set(),
    };
    this.#open.set(connection.key, connection);
    this.#networks.set(network, (this.#networks.get(network) ?? new Set()).add(connection));
    socket.once('close', () => {
      this.#remove(connection);
      for (const answer of connection.answers) if (answer.socket === null) closeWaiting(answer);
    });
  }

  /** Counts a request until its answer is sent or its client is gone. */
  begin(socket: Socket, answer: ServerResponse): void {
    const connection = this.#open.get(keyOf(socket));
    if (connection === undefined) return;
    connection.answers.add(answer);
    this.#moveBack(connection);
    answer.once('close', () => {
      connection.answers.delete(answer);
      this.#moveBack(connection);
      if (this.#isEnding) this.#endIfIdle(connection);
    });
  }

  /** Whether a request of this connection has no answer yet. */
  isAnswering(socket: Socket): boolean {
    return (this.#open.get(keyOf(socket))?.answers.size ?? 0) > 0;
  }

  /** Call this when a request with a valid token came over this connection: it may then be idle for the configured time. */
  trust(socket: Socket): void {
    const connection = this.#open.get(keyOf(socket));
    if (connection !== undefined) connection.trusted = true;
  }

  trusts(socket: Socket): boolean {
    return this.#open.get(keyOf(socket))?.trusted === true;
  }

  /** Ends every connection as soon as no request of it is being answered; silent clients do not delay it. */
  endWhenIdle(): void {
    this.#isEnding = true;
    for (const connection of this.#open.values()) this.#endIfIdle(connection);
  }

  destroyAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  #endIfIdle({ answers, socket }: Connection): void {
    // Data that the last answer still has to write is written.
    if (answers.size === 0) socket.destroySoon();
  }

  /** Moves it behind all others of its network: it was silent for the shortest time. */
  #moveBack(connection: Connection): void {
    const all = this.#networks.get(connection.network);
    if (all?.delete(connection)) all.add(connection);
  }

  #makeRoom(): boolean {
    let largest: ReadonlySet<Connection> = new Set();
    for (const all of this.#networks.values()) {
      if (all.size > largest.size && victimOf(all) !== undefined) largest = all;
    }
    const victim = victimOf(largest);
    if (victim === undefined) return false;
    this.onRefused();
    this.#remove(victim);
    victim.socket.destroy();
    return true;
  }

  #remove(connection: Connection): void {
    const { key, network } = connection;
    if (this.#open.get(key) !== connection) return;
    this.#open.delete(key);
    const all = this.#networks.get(network);
    all?.delete(connection);
    if (all?.size === 0) this.#networks.delete(network);
  }
}

/**
 * With a connection Node closes only its first answer. An answer that waits behind it would never end, and would keep its line in
 * the access log and the place of an export.
 */
function closeWaiting(answer: ServerResponse): void {
  Object.assign(answer, { destroyed: true, _closed: true });
  answer.emit('close');
}

function victimOf(all: ReadonlySet<Connection>): Connection | undefined {
  let idle: Connection | undefined;
  for (const connection of all) {
    if (!connection.trusted) return connection;
    if (connection.answers.size === 0) idle ??= connection;
  }
  return idle;
}

/** Equal for a TLS socket and the socket below it. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
