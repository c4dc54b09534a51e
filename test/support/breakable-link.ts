// A way to a server on loopback that a test can break as networks do: refuse connections, or swallow every byte while
// the connections stay open. A connection whose bytes were swallowed stays dead for good, as behind a firewall that
// forgot it; what is opened after restore() works. It can be slow, and lead to another server, as an address does after a failover.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class BreakableLink {
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #state: 'whole' | 'refuses' | 'swallows' = 'whole';
  /** What each way takes more, milliseconds. */
  #delayMs = 0;
  /** Connections that lose every byte. */
  #dead = new WeakSet<Socket>();

  private constructor(private targetPort: number) {
    this.#server = createServer((client) => this.#accept(client));
  }

  static async to(targetPort: number): Promise<BreakableLink> {
    const link = new BreakableLink(targetPort);
    link.#server.listen(0, '127.0.0.1');
    await once(link.#server, 'listening');
    return link;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The same URL, by way of this link. */
  around(url: string): string {
    const through = new URL(url);
    through.port = String(this.port);
    return through.href;
  }

  /** Ends all connections and refuses new ones. */
  cut(): void {
    this.#state = 'refuses';
    for (const socket of this.#open) socket.destroy();
  }

  /** Nothing passes any more, and no connection ends. */
  swallow(): void {
    this.#state = 'swallows';
    for (const socket of this.#open) this.#dead.add(socket);
  }

  restore(): void {
    this.#state = 'whole';
    this.#delayMs = 0;
  }

  /** A round trip takes so much longer; the order of bytes stays. */
  slowDown(ms: number): void {
    this.#delayMs = ms / 2;
  }

  /** New connections go to the server on this port; those that are open stay where they are. */
  leadTo(port: number): void {
    this.targetPort = port;
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
    await once(this.#server, 'close');
  }

  #accept(client: Socket): void {
    this.#keep(client);
    if (this.#state === 'refuses') return void client.destroy();
    if (this.#state === 'swallows') {
      this.#dead.add(client);
      client.resume();
      return;
    }
    const server = this.#keep(connect(this.targetPort, '127.0.0.1'));
    this.#forward(client, server);
    this.#forward(server, client);
  }

  #forward(from: Socket, to: Socket): void {
    let dueAt = 0;
    from.on('data', (bytes) => {
      if (this.#dead.has(from)) return;
      // Never before what came earlier.
      dueAt = Math.max(dueAt, performance.now() + this.#delayMs);
      if (dueAt <= performance.now()) to.write(bytes);
      else setTimeout(() => to.write(bytes), dueAt - performance.now());
    });
    from.once('close', () => {
      if (!this.#dead.has(from)) to.destroy();
    });
  }

  #keep(socket: Socket): Socket {
    this.#open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#open.delete(socket));
    return socket;
  }
}
