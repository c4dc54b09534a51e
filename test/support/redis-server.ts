// A throwaway real Redis on 127.0.0.1: nothing persisted, a free port, a temporary directory. Starting one takes about
// 50 ms, so a test file that wants an empty Redis starts its own (freshRedis in fresh-stores.ts).
// Clusters and Sentinel stand in redis-topologies.ts.
import { connect } from 'node:net';
import type { ServerTls } from './certificates.ts';
import { freePort } from './free-port.ts';
import { redisServerPath } from './provision.ts';
import { ServerProcess } from './server-process.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export interface RedisOptions {
  /** Further arguments; they win over the defaults, e.g. `['--appendonly', 'yes']` to survive restart(). */
  readonly args?: readonly string[];
  readonly port?: number;
  /** Served on a port of its own, and used for replication and by a cluster's nodes among themselves. */
  readonly tls?: ServerTls;
  readonly tlsPort?: number;
  /** Beside this process' own, e.g. that of a FakeTime. */
  readonly env?: NodeJS.ProcessEnv;
}

const DEFAULTS = ['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'];

export class RedisServer extends ServerProcess {
  constructor(
    readonly port: number,
    args: readonly string[],
    readonly tlsPort?: number,
    readonly dir: string = temporaryDirectory('redis'),
    env: NodeJS.ProcessEnv = {},
  ) {
    super({
      name: `redis-server on port ${port}`,
      command: redisServerPath(),
      args: [...args, '--bind', '127.0.0.1', '--port', String(port), '--dir', dir],
      dir,
      env: { ...process.env, ...env },
      stopSignal: 'SIGTERM',
      answers: () => answersPing(port),
    });
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }
}

export async function startRedis({ args = [], port, ...over }: RedisOptions = {}): Promise<RedisServer> {
  const tlsPort = over.tls === undefined ? undefined : (over.tlsPort ?? (await freePort()));
  const tls = over.tls === undefined ? [] : tlsArguments(over.tls, tlsPort);
  const all = [...DEFAULTS, ...tls, ...args];
  const server = new RedisServer(port ?? (await freePort()), all, tlsPort, undefined, over.env);
  await server.start();
  return server;
}

export function tlsArguments({ cert, key, ca, asksClients }: ServerTls, port: number | undefined): string[] {
  return Object.entries({
    'tls-port': port,
    'tls-cert-file': cert,
    'tls-key-file': key,
    'tls-ca-cert-file': ca,
    'tls-auth-clients': asksClients ? 'yes' : 'no',
    'tls-replication': 'yes',
  }).flatMap(([name, value]) => [`--${name}`, String(value)]);
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
    socket.once('data', (data) => done(/^(\+PONG|-NOAUTH)/.test(data.toString())));
  });
}
