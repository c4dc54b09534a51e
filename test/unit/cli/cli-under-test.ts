// The command line in this process: own streams instead of the process's, and a small HTTP server in place of a
// daemon. The server is real; only what it answers is prepared.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { Io } from '../../../src/cli/command.ts';
import type { Launchers } from '../../../src/cli/launchers.ts';
import { run } from '../../../src/cli/run.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { VERSION } from '../../../src/platform/version.ts';
import { VERSION_HEADER } from '../../../src/resources/endpoints.ts';

export const NOW = Date.parse('2026-11-21T10:00:00Z');

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly env?: Record<string, string>;
  /** Makes all three streams terminals. */
  readonly tty?: boolean;
  /** Columns of the terminal; default 80. */
  readonly columns?: number;
  /** What is typed. */
  readonly input?: string;
  /** Instead of `input`. */
  readonly stdin?: Readable;
  readonly launchers?: Partial<Launchers>;
  readonly signal?: AbortSignal;
  /** Epoch milliseconds; default NOW. */
  readonly nowMs?: number;
}

class Sink extends Writable {
  written = '';

  constructor(
    readonly isTTY: boolean,
    readonly columns: number,
  ) {
    super();
  }

  /** For a spinner, which comes on a slow machine where a test has another TERM than the usual one. */
  cursorTo(): void {}
  clearLine(): void {}
  moveCursor(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written += chunk.toString();
    done();
  }
}

/** Runs one command line. */
export async function cli(argv: readonly string[], options: CliOptions = {}): Promise<Outcome> {
  const {
    env = {},
    tty = false,
    columns = 80,
    input = '',
    launchers = {},
    signal = new AbortController().signal,
    nowMs = NOW,
  } = options;
  const stdout = new Sink(tty, columns);
  const stderr = new Sink(tty, columns);
  const io: Io = {
    stdin: Object.assign(options.stdin ?? Readable.from([input]), { isTTY: tty }),
    stdout,
    stderr,
    // Without a cursor, so that no spinner comes on a slow machine, which no test could foresee.
    env: { TERM: 'dumb', ...env },
    clock: { ...systemClock, now: () => nowMs },
    onInterrupt: () => signal,
  };
  const unexpected = () => Promise.reject(new Error('nothing was to be launched'));
  const all = {
    daemon: unexpected,
    demo: unexpected,
    simulate: unexpected,
    tryGateway: unexpected,
    doctor: unexpected,
    adopt: unexpected,
    migrate: unexpected,
    ...launchers,
  };
  const code = await run(argv, io, all, () => {});
  return { code, stdout: stdout.written, stderr: stderr.written };
}

export interface SeenRequest {
  readonly line: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Reply = (request: SeenRequest, response: ServerResponse) => void;

/** Serves until the test ends. `CARDPOLL_URL` for the command line is in `env`. */
export async function daemonThatSays(reply: Reply) {
  const requests: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const seen = { line: `${request.method} ${request.url}`, headers: request.headers, body };
    requests.push(seen);
    response.setHeader(VERSION_HEADER, VERSION);
    reply(seen, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, env: { CARDPOLL_URL: url }, requests };
}

/** Answers every request with this body. */
export function json(body: unknown, status = 200): Reply {
  return (_, response) => {
    const type = status < 400 ? 'application/json' : 'application/problem+json';
    response
      .writeHead(status, { 'content-type': type })
      .end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}
