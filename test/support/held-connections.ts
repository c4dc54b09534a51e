// A way to a server on loopback that a test can hold up: connections made while it is held stand open and nothing passes
// them until they are released. Those made before go on.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class HeldConnections {
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #held: Array<() => void> | null = null;

  private constructor(private readonly targetPort: number) {
    this.#server = createServer((client) => {
      this.#keep(client);
      if (this.#held === null) this.#lead(client);
      else this.#held.push(() => this.#lead(client));
    });
  }

  static async before(targetPort: number): Promise<HeldConnections> {
    const connections = new HeldConnections(targetPort);
    connections.#server.listen(0, '127.0.0.1');
    await once(connections.#server, 'listening');
    return connections;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many stand there now. */
  get held(): number {
    return this.#held?.length ?? 0;
  }

  hold(): void {
    this.#held = [];
  }

  release(): void {
    for (const lead of this.#held ?? []) lead();
    this.#held = null;
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
    await once(this.#server, 'close');
  }

  #lead(client: Socket): void {
    if (client.destroyed) return;
    const server = this.#keep(connect(this.targetPort, '127.0.0.1'));
    client.pipe(server).pipe(client);
    client.once('close', () => server.destroy());
    server.once('close', () => client.destroy());
  }

  #keep(socket: Socket): Socket {
    this.#open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#open.delete(socket));
    return socket;
  }
}
