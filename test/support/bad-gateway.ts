// Gateways that misbehave in one way, on a real socket, for the tests of the gateway client. What a well-behaved gateway
// does is the simulator's part (src/gateway/simulate/simulator.ts).
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface BadGateway {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Connections accepted so far. */
  readonly accepted: number;
  /** Requests whose connection is still open. */
  waiting(): number;
  close(): Promise<void>;
}

/** What happens once a request has been read. */
export type Behaviour = (socket: Socket, request: ReceivedRequest) => void;

/** Answers properly with this status and body. */
export function answer(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Behaviour {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = Buffer.byteLength(body);
  return (socket) =>
    void socket.write(
      `HTTP/1.1 ${status} Whatever\r\ncontent-length: ${length}\r\n${lines.join('')}\r\n${body}`,
    );
}

/** Takes the request and never says a word. */
export const hang: Behaviour = () => {};

/** Sends a head that promises a body, and no body. */
export const hangAfterHead: Behaviour = (socket) =>
  void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"code":');

/** Sends one byte of an endless body every 5 ms, so that the connection is never idle. */
export const trickle: Behaviour = (socket) => {
  socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
  const timer = setInterval(() => socket.write('1\r\n \r\n'), 5);
  socket.once('close', () => clearInterval(timer));
};

/** Sends a body without end, as fast as it is taken. */
export const flood: Behaviour = (socket) => {
  socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
  const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
  const pour = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', pour);
  pour();
};

/** Answers that the connection is another protocol's from here on. */
export const switchProtocols: Behaviour = (socket) =>
  void socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\r\n');

/** Says again and again that an answer is to come. */
export const promise: Behaviour = (socket) => {
  const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 5);
  socket.once('close', () => clearInterval(timer));
};

/** Sends a head without end, a byte at a time, so that the connection is never idle. */
export const trickleHead: Behaviour = (socket) => {
  socket.write('HTTP/1.1 200 OK\r\nx-slow: ');
  const timer = setInterval(() => socket.write('x'), 5);
  socket.once('close', () => clearInterval(timer));
};

/** Closes without a word. */
export const hangUp: Behaviour = (socket) => void socket.end();

/** Answers something that is not HTTP. */
export const garbage: Behaviour = (socket) => void socket.write('\x00\x01 SSH-2.0-nonsense\r\n\r\n');

/** Closes in the middle of the body. */
export const closeMidBody: Behaviour = (socket) =>
  void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"code":200,');

/** Resets the connection instead of answering. */
export const reset: Behaviour = (socket) => void socket.resetAndDestroy();

/** Starts a gateway on a free port of 127.0.0.1 that treats every request with `behaviour`. */
export async function startBadGateway(behaviour: Behaviour): Promise<BadGateway> {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  const callers: Socket[] = [];
  let accepted = 0;
  const server = createServer((socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    readRequests(socket, (request) => {
      requests.push(request);
      callers.push(socket);
      behaviour(socket, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    get accepted() {
      return accepted;
    },
    waiting: () => callers.filter((socket) => sockets.has(socket)).length,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function readRequests(socket: Socket, take: (request: ReceivedRequest) => void): void {
  let text = '';
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    text += chunk;
    for (let headEnd = text.indexOf('\r\n\r\n'); headEnd >= 0; headEnd = text.indexOf('\r\n\r\n')) {
      const [start = '', ...lines] = text.slice(0, headEnd).split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => [
          line.slice(0, line.indexOf(':')).toLowerCase(),
          line.slice(line.indexOf(':') + 1).trim(),
        ]),
      );
      const end = headEnd + 4 + Number(headers['content-length'] ?? 0);
      if (text.length < end) return;
      const [method = '', path = ''] = start.split(' ');
      take({ method, path, headers, body: text.slice(headEnd + 4, end) });
      text = text.slice(end);
    }
  });
}
