// The open connections of the HTTP server. When there is no room for a new one, the address with the most connections
// loses one: first a connection that never carried a valid token, then one without a running request, the longest
// silent first. So no client can lock out another, however many connections it opens. Used by http-server.ts.
import type { Socket } from 'node:net';
import { networkOf } from './refusals.ts';

interface Connection {
  readonly socket: Socket;
  readonly holder: Holder;
  /** A request with a valid token came over it. */
  trusted: boolean;
  /** Requests that are being answered. */
  running: number;
}

/** The connections of one address, or of one IPv6 network. */
interface Holder {
  readonly network: string;
  size: number;
  /** Without a valid token so far, busy or not; the longest silent one first. */
  readonly strangers: Set<Connection>;
  /** With a valid token and no request; the longest silent one first. */
  readonly idle: Set<Connection>;
}

export class Connections {
  readonly #open = new Map<string, Connection>();
  readonly #holders = new Map<string, Holder>();
  #running = 0;
  #onQuiet: () => void = () => {};

  /** @param onRefused called for each connection that is closed for want of room. */
  constructor(
    private readonly most: number,
    private readonly onRefused: () => void,
  ) {}

  /** Takes the connection in; closes it, or another one, when there is no room. */
  add(socket: Socket): void {
    if (this.#open.size >= this.most && !this.#makeRoom()) {
      this.onRefused();
      socket.destroy();
      return;
    }
    const holder = this.#holderAt(networkOf(socket.remoteAddress ?? ''));
    const connection: Connection = { socket, holder, trusted: false, running: 0 };
    const key = keyOf(socket);
    holder.size += 1;
    this.#open.set(key, connection);
    this.#queue(connection);
    socket.once('close', () => this.#remove(key, connection));
  }

  /** Counts a request in. @returns what to call when its answer is out. */
  begin(socket: Socket): () => void {
    const connection = this.#open.get(keyOf(socket));
    this.#running += 1;
    if (connection !== undefined) {
      connection.running += 1;
      this.#queue(connection);
    }
    return () => {
      this.#running -= 1;
      if (this.#running === 0) this.#onQuiet();
      if (connection === undefined) return;
      connection.running -= 1;
      this.#queue(connection);
    };
  }

  /** A request with a valid token came over this connection: it may be idle for the configured time. */
  trust(socket: Socket): void {
    const connection = this.#open.get(keyOf(socket));
    if (connection === undefined || connection.trusted) return;
    connection.trusted = true;
    this.#queue(connection);
  }

  trusts(socket: Socket): boolean {
    return this.#open.get(keyOf(socket))?.trusted === true;
  }

  /** Resolves when no request is being answered. */
  async quiet(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
      if (this.#running === 0) resolve();
    });
  }

  /** @param how `destroySoon`: after what is left to write. */
  closeAll(how: 'destroy' | 'destroySoon'): void {
    for (const { socket } of this.#open.values()) socket[how]();
  }

  /** Behind all others of its holder: it was silent for the shortest time. */
  #queue(connection: Connection): void {
    const { holder, trusted, running } = connection;
    holder.strangers.delete(connection);
    holder.idle.delete(connection);
    if (connection.socket.destroyed) return;
    if (!trusted) holder.strangers.add(connection);
    else if (running === 0) holder.idle.add(connection);
  }

  #makeRoom(): boolean {
    let largest: Holder | null = null;
    for (const holder of this.#holders.values()) {
      const canLose = holder.strangers.size + holder.idle.size > 0;
      if (canLose && holder.size > (largest?.size ?? 0)) largest = holder;
    }
    const [stranger] = largest?.strangers ?? [];
    const [idle] = largest?.idle ?? [];
    const victim = stranger ?? idle;
    if (victim === undefined) return false;
    this.onRefused();
    this.#remove(keyOf(victim.socket), victim);
    victim.socket.destroy();
    return true;
  }

  #remove(key: string, connection: Connection): void {
    if (this.#open.get(key) !== connection) return;
    const { holder } = connection;
    this.#open.delete(key);
    holder.strangers.delete(connection);
    holder.idle.delete(connection);
    holder.size -= 1;
    if (holder.size === 0) this.#holders.delete(holder.network);
  }

  #holderAt(network: string): Holder {
    const known = this.#holders.get(network);
    if (known !== undefined) return known;
    const holder = { network, size: 0, strangers: new Set<Connection>(), idle: new Set<Connection>() };
    this.#holders.set(network, holder);
    return holder;
  }
}

/** The same for a TLS socket and for the socket below it. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
