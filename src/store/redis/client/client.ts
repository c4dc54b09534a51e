// One connection to Redis: runs commands and scripts for the adapters of src/store/redis, and turns errors into
// CardpollError. Built by connect.ts. Knows no key.
//
// Commands are never put into explicit pipelines. ioredis sends them one after another anyway. When a connection
// breaks, it aborts a half-answered pipeline, but re-sends single commands (all of them may come twice).
import type { Cluster, Redis } from 'ioredis';
import { hostAndPort } from '../../../platform/addresses.ts';
import { CardpollError, messageOf } from '../../../platform/errors.ts';
import type { ScriptName } from '../keys.ts';
import prelude from '../prelude.lua';
import ringPrelude from '../ring-prelude.lua';
import * as SCRIPTS from '../scripts.ts';

export type RedisArgument = string | number;
type ScriptMethod = (keyCount: number, ...keysAndArguments: RedisArgument[]) => Promise<unknown>;

const AUTH = /^(NOAUTH|WRONGPASS)/;
/** The driver's error when all sentinels refused the credentials. */
const SENTINEL_AUTH = /^All sentinels are unreachable.* Last error: ((?:NOAUTH|WRONGPASS|NOPERM).*)$/;
/** A command without the right to run it: sent directly, or called in a script. */
const NOT_PERMITTED = /^NOPERM|^ERR The user \w+ the script can't|ACL failure in script/;
/** Redis could not save to disk and is configured to refuse writes then, and PING too. */
const CANNOT_SAVE = /^MISCONF/;
const REFUSED = /^(OOM|LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|NOREPLICAS|TRYAGAIN|BUSY|UNKILLABLE)/;
/** Where in a script it was: of no use to an operator. */
const IN_SCRIPT = /\.? script: [0-9a-f]+, on @user_script:\d+\.?$/;
const SERVER_REPLY = /^(ERR|WRONGTYPE|NOSCRIPT|MOVED|ASK|CROSSSLOT|EXECABORT)/;

/**
 * Reconnects after ioredis gives up, as it does when a failover is announced while it asks a sentinel for the master.
 */
export function keepReconnecting(connection: Redis | Cluster, isClosed: () => boolean): void {
  connection.on('end', () => {
    if (!isClosed()) connection.connect().catch(() => {});
  });
}

/**
 * Behind Sentinel, ioredis sends INFO on every connection and warns on stderr each time it is refused: once is enough.
 */
function hidden(master: Redis, error: unknown): string {
  const message = messageOf(error);
  if (!isNotPermitted(message) && !/^ERR unknown command/i.test(message)) throw error;
  master.options.enableReadyCheck = false;
  return '';
}

/** @param flat field, value, field, value ..., as Redis and the scripts return a hash */
export function pairsOf(flat: readonly string[]): Map<string, string> {
  return new Map(flat.flatMap((field, i) => (i % 2 === 0 ? [[field, flat[i + 1] as string]] : [])));
}

/** Sends a long list in several calls, so that each is short. */
export async function inChunks<T>(
  values: readonly T[],
  size: number,
  send: (chunk: readonly T[]) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < values.length; from += size) await send(values.slice(from, from + size));
}

export class RedisClient {
  readonly #scripts: Record<ScriptName, ScriptMethod>;
  #lastConnectionError: unknown = null;
  #closed = false;

  /** @param deadlineMs longest time of a command, including the wait for a connection */
  constructor(
    readonly connection: Redis | Cluster,
    readonly shownUrl: string,
    private readonly deadlineMs: number,
  ) {
    for (const [name, script] of Object.entries(SCRIPTS)) {
      const ringRules = name.startsWith('ring') ? ringPrelude : '';
      connection.defineCommand(name, { lua: `${prelude}\n${ringRules}\n${script}` });
    }
    this.#scripts = connection as unknown as Record<ScriptName, ScriptMethod>;
    connection.on('error', (error) => {
      this.#lastConnectionError = error;
    });
    connection.on('ready', () => {
      this.#lastConnectionError = null;
    });
    keepReconnecting(connection, () => this.#closed);
  }

  get isCluster(): boolean {
    return this.connection.isCluster;
  }

  command(name: string, ...args: RedisArgument[]): Promise<unknown> {
    this.#gatherWrites();
    return this.#answer(this.connection.call(name, ...args));
  }

  /** @returns the values of a hash by field. */
  async hash(key: string): Promise<Map<string, string>> {
    return pairsOf((await this.command('HGETALL', key)) as string[]);
  }

  /**
   * Sends the script's hash; ioredis sends the text to a server that does not know it (after a restart or failover).
   */
  script(name: ScriptName, keys: readonly string[], args: readonly RedisArgument[] = []): Promise<unknown> {
    this.#gatherWrites();
    return this.#answer(this.#scripts[name](keys.length, ...keys, ...args));
  }

  /** @returns INFO of every server that takes writes, with its address; '' if this user may not run INFO. */
  infos(...sections: readonly string[]): Promise<Array<{ address: string; info: string }>> {
    return Promise.all(
      this.masters.map(async (master) => {
        const info = await this.#answer(master.info(...sections).catch((error) => hidden(master, error)));
        const { remoteAddress = '', remotePort = 0 } = master.stream;
        return { address: hostAndPort(remoteAddress, remotePort), info };
      }),
    );
  }

  /** The connections to the servers that take writes. */
  get masters(): Redis[] {
    return this.isCluster ? (this.connection as Cluster).nodes('master') : [this.connection as Redis];
  }

  close(): void {
    this.#closed = true;
    this.connection.disconnect();
  }

  /**
   * Sends the commands of one turn of the event loop in one system call, because system calls cost most of the time.
   */
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

function isNotPermitted(message: string): boolean {
  return NOT_PERMITTED.test(message);
}

/** Translates errors of ioredis. @param shownUrl the URL without its password */
function redisError(error: unknown, shownUrl: string, lastConnectionError: unknown): CardpollError {
  if (error instanceof CardpollError) return error;
  const message = messageOf(error);
  const details = (hint: string) => ({ cause: error, hint });
  if (AUTH.test(message)) {
    return new CardpollError(
      'config',
      'redis_auth',
      `Redis at ${shownUrl} refused the credentials: ${message}`,
      details('check user name and password in the Redis URL'),
    );
  }
  if (isNotPermitted(message)) {
    return new CardpollError(
      'config',
      'redis_not_permitted',
      `Redis at ${shownUrl} does not let this user do what cardpoll does: ${message}`,
      details('docs/security.md says what its user must be allowed; cardpoll doctor says what is missing'),
    );
  }
  if (CANNOT_SAVE.test(message)) {
    return new CardpollError(
      'unavailable',
      'redis_cannot_save',
      `Redis at ${shownUrl} could not write to its disk and refuses work: ${message}`,
      details(
        'free space on the disk of Redis and let it save again (redis-cli BGSAVE); work then continues by itself',
      ),
    );
  }
  if (REFUSED.test(message)) {
    return new CardpollError(
      'unavailable',
      'redis_refused',
      `Redis at ${shownUrl} refuses work: ${message.replace(IN_SCRIPT, '')}`,
      details('see the log of the Redis server; work continues by itself once it accepts commands'),
    );
  }
  if (SERVER_REPLY.test(message)) {
    return new CardpollError('internal', 'redis_command_failed', `Redis at ${shownUrl}: ${message}`, {
      cause: error,
    });
  }
  const sentinel = SENTINEL_AUTH.exec(messageOf(lastConnectionError))?.[1];
  if (sentinel !== undefined) {
    return new CardpollError(
      'config',
      'redis_sentinel_auth',
      `the sentinels at ${shownUrl} refused the credentials: ${sentinel}`,
      details(
        'set CARDPOLL_REDIS_SENTINEL_PASSWORD for the sentinels; the Redis URL has the password of the Redis servers',
      ),
    );
  }
  const why = lastConnectionError === null ? message : messageOf(lastConnectionError);
  return new CardpollError(
    'unavailable',
    'redis_unreachable',
    `Redis at ${shownUrl} does not answer: ${why}`,
    details(
      'check that Redis is running there and that the Redis URL is right (redis_url, CARDPOLL_REDIS_URL)',
    ),
  );
}
