// A throwaway real Redis on 127.0.0.1: nothing persisted, a free port, a temporary directory. Starting one takes about
// 50 ms, so a test file that wants an empty Redis starts its own (freshRedis in fresh-stores.ts).
// Clusters and Sentinel stand in redis-topologies.ts.
import { connect } from 'node:net';
import { freePort } from './free-port.ts';
import { redisServerPath } from './provision.ts';
import { ServerProcess } from './server-process.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export interface RedisOptions {
  /** Further arguments; they win over the defaults, e.g. `['--appendonly', 'yes']` to survive restart(). */
  readonly args?: readonly string[];
  readonly port?: number;
}

const DEFAULTS = ['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'];

export class RedisServer extends ServerProcess {
  constructor(
    readonly port: number,
    args: readonly string[],
    readonly dir: string = temporaryDirectory('redis'),
  ) {
    super({
      name: `redis-server on port ${port}`,
      command: redisServerPath(),
      args: [...args, '--bind', '127.0.0.1', '--port', String(port), '--dir', dir],
      dir,
      stopSignal: 'SIGTERM',
      answers: () => answersPing(port),
    });
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }
}

export async function startRedis({ args = [], port }: RedisOptions = {}): Promise<RedisServer> {
  const server = new RedisServer(port ?? (await freePort()), [...DEFAULTS, ...args]);
  await server.start();
  return server;
}

/** Sends PING over a plain socket. A server that still loads answers with an error, which is not a PONG. */
function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const done = (answers: boolean) => {
      socket.destroy();
      resolve(answers);
    };
    socket.setTimeout(1_000, () => done(false));
    socket.once('error', () => done(false));
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', (data) => done(data.toString().startsWith('+PONG')));
  });
}
