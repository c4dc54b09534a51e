// One connection to Redis as the adapters of src/store/redis see it: commands and scripts in, replies or CardpollError
// out. connect.ts builds it. Knows no key.
//
// Commands are never put into explicit pipelines: ioredis writes them out one after another anyway, and it aborts a
// half-answered pipeline when a connection breaks, while it re-sends single commands (which all may come twice).
import type { Cluster, Redis } from 'ioredis';
import { messageOf } from '../../../platform/errors.ts';
import { type ScriptName, scriptSources } from '../scripts.ts';
import { isNotPermitted, redisError } from './redis-error.ts';

export type RedisArgument = string | number;
type ScriptMethod = (keyCount: number, ...keysAndArguments: RedisArgument[]) => Promise<unknown>;

/** ioredis gives up where the notice of a failover finds it asking a sentinel for the master. */
export function reconnectForEver(connection: Redis | Cluster, isClosed: () => boolean): void {
  connection.on('end', () => {
    if (!isClosed()) connection.connect().catch(() => {});
  });
}

/** Behind Sentinel ioredis asks for INFO at every connection, and warns on stderr that it may not: once is enough. */
function hidden(master: Redis, error: unknown): string {
  const message = messageOf(error);
  if (!isNotPermitted(message) && !/^ERR unknown command/i.test(message)) throw error;
  master.options.enableReadyCheck = false;
  return '';
}

export class RedisClient {
  readonly #scripts: Record<ScriptName, ScriptMethod>;
  #lastConnectionError: unknown = null;
  #closed = false;

  /** @param deadlineMs how long a command may take in all, waiting for a connection included */
  constructor(
    readonly connection: Redis | Cluster,
    readonly shownUrl: string,
    private readonly deadlineMs: number,
  ) {
    for (const { name, lua } of scriptSources()) connection.defineCommand(name, { lua });
    this.#scripts = connection as unknown as Record<ScriptName, ScriptMethod>;
    connection.on('error', (error) => {
      this.#lastConnectionError = error;
    });
    connection.on('ready', () => {
      this.#lastConnectionError = null;
    });
    reconnectForEver(connection, () => this.#closed);
  }

  get isCluster(): boolean {
    return this.connection.isCluster;
  }

  command(name: string, ...args: RedisArgument[]): Promise<unknown> {
    this.#gatherWrites();
    return this.#answer(this.connection.call(name, ...args));
  }

  /** Sent by hash; ioredis sends the text where a server does not know it (restart, failover). */
  script(name: ScriptName, keys: readonly string[], args: readonly RedisArgument[] = []): Promise<unknown> {
    this.#gatherWrites();
    return this.#answer(this.#scripts[name](keys.length, ...keys, ...args));
  }

  /** INFO of every server that takes writes, with its address; '' where this user may not ask. */
  infos(...sections: readonly string[]): Promise<Array<{ address: string; info: string }>> {
    return Promise.all(
      this.masters.map(async (master) => {
        const info = await this.#answer(master.info(...sections).catch((error) => hidden(master, error)));
        const { remoteAddress, remotePort } = master.stream;
        return { address: `${remoteAddress}:${remotePort}`, info };
      }),
    );
  }

  /** The servers that take writes. */
  get masters(): Redis[] {
    return this.isCluster ? (this.connection as Cluster).nodes('master') : [this.connection as Redis];
  }

  close(): void {
    this.#closed = true;
    this.connection.disconnect();
  }

  /** What is sent in one turn of the event loop goes out in one system call: they are most of what a command costs. */
  #gatherWrites(): void {
    if (this.connection.isCluster) return;
    const { stream } = this.connection as Redis;
    if (stream === undefined || stream.writableCorked > 0) return;
    stream.cork();
    setImmediate(() => stream.uncork());
  }

  async #answer<T>(reply: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${this.deadlineMs} ms`)), this.deadlineMs);
    });
    try {
      return await Promise.race([reply, late]);
    } catch (error) {
      throw redisError(error, this.shownUrl, this.#lastConnectionError);
    } finally {
      clearTimeout(timer);
    }
  }
}
