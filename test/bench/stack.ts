// The whole product for a benchmark: throwaway Redis and PostgreSQL, and the built binary as daemon and simulator, each
// a process of its own as in production.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.ts';
import { endProcess, spawnOwned } from '../support/owned-process.ts';
import { type PostgresServer, query, startPostgres } from '../support/postgres-server.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { type RedisCluster, startRedisCluster } from '../support/redis-topologies.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { waitFor } from '../support/wait-for.ts';

// The bundle lies in node_modules/.cache/cardpoll-bench, three folders below the root.
export const BINARY = fileURLToPath(new URL('../../../bin/cardpoll.js', import.meta.url));

const CLOCK_TICKS_A_SECOND = 100;

export interface RunningBinary {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export class Stack {
  readonly dir = temporaryDirectory('bench');
  readonly logDir = join(this.dir, 'logs');

  private constructor(
    /** Of a cluster the first of its nodes. */
    readonly redis: RedisServer,
    readonly postgres: PostgresServer,
    private readonly cluster: RedisCluster | null,
  ) {}

  /** @param args of a standalone Redis. */
  static async start(
    redis: 'standalone' | 'cluster' = 'standalone',
    args: readonly string[] = [],
  ): Promise<Stack> {
    const cluster = redis === 'cluster' ? await startRedisCluster() : null;
    return new Stack(cluster?.nodes[0] ?? (await startRedis({ args })), await startPostgres(), cluster);
  }

  /** By name: one server, or each master of a cluster. */
  get redisPids(): Record<string, readonly number[]> {
    if (this.cluster === null) return { redis: [this.redis.pid] };
    return Object.fromEntries(this.cluster.nodes.map(({ pid }, i) => [`redis ${i + 1}`, [pid]]));
  }

  startSimulator(...args: string[]): Promise<RunningBinary> {
    return startBinary(['gateway', 'simulate', ...args], {}, '/stats');
  }

  /** A simulator where one was before, after an outage. */
  startSimulatorOn(port: number, ...args: string[]): Promise<RunningBinary> {
    return startBinary(['gateway', 'simulate', ...args], {}, '/stats', '--listen', port);
  }

  startDaemon(gatewayUrl: string, env: Readonly<Record<string, string>> = {}): Promise<RunningBinary> {
    return startBinary(
      ['daemon', '--log-dir', this.logDir],
      { ...this.#stores(), CARDPOLL_GATEWAY_URL: gatewayUrl, ...env },
      '/readyz',
    );
  }

  /** A further instance on the same stores, which only polls. */
  startWorker(gatewayUrl: string, env: Readonly<Record<string, string>> = {}): Promise<RunningBinary> {
    return startBinary(
      ['daemon', '--roles', 'worker'],
      { ...this.#stores(), CARDPOLL_GATEWAY_URL: gatewayUrl, ...env },
      '/readyz',
      '--probe-listen',
    );
  }

  /** So many instances, the later ones workers only. @returns the first one; `stop` stops all of them. */
  async startInstances(
    count: number,
    gatewayUrl: string,
    env: Readonly<Record<string, string>>,
  ): Promise<RunningBinary & { readonly pids: readonly number[] }> {
    const instances = [await this.startDaemon(gatewayUrl, env)];
    while (instances.length < count) instances.push(await this.startWorker(gatewayUrl, env));
    const stop = async () => {
      await Promise.all(instances.map((instance) => instance.stop()));
    };
    return { ...(instances[0] as RunningBinary), pids: instances.map(({ pid }) => pid), stop };
  }

  /** Brings the schema of a database up, by default that of the daemons. */
  async migrate(databaseUrl = this.postgres.url): Promise<void> {
    const migrate = spawnOwned(process.execPath, [BINARY, 'migrate', 'up'], {
      env: { ...process.env, CARDPOLL_DATABASE_URL: databaseUrl },
      stdio: 'ignore',
    });
    await waitFor(() => migrate.exitCode === 0, { timeoutMs: 30_000, what: 'the migrations' });
  }

  /** Brings the schema up and inserts cards 1 to `count`, unlimited allowance, not verified. */
  async insertCards(count: number): Promise<void> {
    await this.migrate();
    await this.sql(
      `INSERT INTO cards (card_id, iccid, carrier_id, status, real_name_verified)
       SELECT id, '8986' || lpad(id::text, 16, '0'), 1, 1, false FROM generate_series(1, ${count}) AS id`,
    );
    await this.sql('VACUUM ANALYZE cards');
  }

  async sql(text: string): Promise<void> {
    await query(this.postgres.url, text);
  }

  async stop(): Promise<void> {
    await (this.cluster ?? this.redis).stop();
    await this.postgres.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }

  #stores(): Record<string, string> {
    return {
      CARDPOLL_REDIS_URL: (this.cluster ?? this.redis).url,
      CARDPOLL_DATABASE_URL: this.postgres.url,
    };
  }
}

/** CPU time used so far by a process and its children, also those that have ended, seconds (Linux). What a busy machine does to rates it does not do to this. */
export function cpuSeconds(pid: number): number {
  let ticks = 0;
  for (const entry of readdirSync('/proc')) {
    const stat = /^\d+$/.test(entry) ? readStat(entry) : null;
    if (stat === null) continue;
    // After the name in parentheses: state, parent, ... user time and system time at 12 and 13, those of ended children behind them.
    const times =
      Number(entry) === pid ? stat.slice(11, 15) : Number(stat[1]) === pid ? stat.slice(11, 13) : [];
    for (const time of times) ticks += Number(time);
  }
  return ticks / CLOCK_TICKS_A_SECOND;
}

function readStat(pid: string): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null; // ended meanwhile
  }
}

export async function getJson<T>(url: string): Promise<T> {
  return (await fetch(url)).json() as Promise<T>;
}

export async function putJson(url: string, body: unknown): Promise<void> {
  const response = await fetch(url, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`PUT ${url}: ${response.status} ${await response.text()}`);
}

async function startBinary(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  probe: string,
  listenFlag = '--listen',
  givenPort?: number,
): Promise<RunningBinary> {
  const port = givenPort ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const child = spawnOwned(BINARY, [...args, listenFlag, `127.0.0.1:${port}`], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await waitFor(async () => (await fetch(url + probe)).ok, { timeoutMs: 60_000, what: `${args.join(' ')}` });
  return { url, pid: child.pid ?? 0, stop: () => endProcess(child, 'SIGTERM', 40_000) };
}
