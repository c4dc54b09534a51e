// One connection to an HTTP server that sends what it is told, when it is told: clients that are slow, silent or leave.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export class RawClient {
  /** All that came back. */
  received = '';
  closed = false;

  private constructor(readonly socket: Socket) {
    socket.on('data', (data) => {
      this.received += data;
    });
    socket.on('close', () => {
      this.closed = true;
    });
    socket.on('error', () => {});
  }

  /** @param address host:port. @param text sent at once. @param from local address, for example 127.0.0.2. */
  static async to(address: string, text = '', from?: string): Promise<RawClient> {
    const [host, port] = address.split(':');
    const socket = connect({
      host,
      port: Number(port),
      ...(from === undefined ? {} : { localAddress: from }),
    });
    const client = new RawClient(socket);
    await once(socket, 'connect');
    socket.write(text);
    return client;
  }

  /** Sends a piece in every `everyMs` until the server has had enough. */
  async trickle(everyMs: number, piece: (index: number) => string): Promise<void> {
    for (let index = 0; !this.closed; index += 1) {
      this.socket.write(piece(index));
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }
}

export const IMPORT_PATH = '/api/admin/cards/import';

/** The head of a POST, for a body of this length. @param more further header lines, each with its line end. */
export const postHead = (path: string, type: string, length: number, more = '') =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n${more}\r\n`;

/** Has the server say that it has begun with the request. */
export const TELL_WHEN_BEGUN = 'Expect: 100-continue\r\n';
