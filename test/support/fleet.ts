// A whole fleet as an operator runs it: own Redis, own database, `cardpoll gateway simulate`, daemons and the CLI, all
// real processes on loopback. Used by e2e and fault tests and by the benches.
import { createReadStream, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { TASK_TYPES } from '../../src/domain/task-type.ts';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import { cliHere, type HereResult } from './cli-here.ts';
import { freePort } from './free-port.ts';
import { freshDatabase, freshRedis } from './fresh-stores.ts';
import type { PostgresServer } from './postgres-server.ts';
import { BINARY, type RunningCli, runCli, spawnCli, waitFor } from './processes.ts';
import type { RedisServer } from './redis-server.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export interface GatewayTruth {
  readonly requests: number;
  readonly by_interface: Readonly<Record<string, number>>;
  readonly in_flight: number;
  readonly max_in_flight: number;
  readonly max_in_flight_by_interface: Readonly<Record<string, number>>;
  readonly stops: Readonly<Record<string, number>>;
  readonly starts: Readonly<Record<string, number>>;
}

export interface Daemon {
  readonly process: RunningCli;
  readonly url: string;
  readonly logDir: string;
  /** What runs it; absent: the binary of this repository. */
  readonly program?: Program;
}

export type Program = readonly [string, ...string[]];

const PRESENT: Program = [process.execPath, BINARY];

export interface FleetOptions {
  /** Further arguments of `gateway simulate`. */
  readonly simulator?: readonly string[];
  /** Base URL of a gateway to poll; no simulator is started then. */
  readonly gatewayUrl?: string;
  /** Further arguments of redis-server. */
  readonly redis?: readonly string[];
  /** Environment of redis-server, e.g. that of a FakeTime. */
  readonly redisEnv?: NodeJS.ProcessEnv;
  /** A database server to use instead of the run's shared one, for tests that stop it. */
  readonly postgres?: PostgresServer;
  /** Environment of every daemon. */
  readonly env?: Readonly<Record<string, string>>;
}

export class Fleet {
  readonly dir = temporaryDirectory('fleet');
  readonly daemons: Daemon[] = [];

  private constructor(
    readonly redisServer: RedisServer,
    readonly redis: Redis,
    readonly databaseUrl: string,
    readonly gatewayUrl: string,
    /** null: the test has a gateway of its own. */
    readonly simulator: RunningCli | null,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  static async start({
    simulator = [],
    gatewayUrl,
    redis: args = [],
    redisEnv = {},
    postgres,
    env = {},
  }: FleetOptions = {}): Promise<Fleet> {
    const [redisServer, databaseUrl, port] = await Promise.all([
      freshRedis({ args, env: redisEnv }),
      postgres === undefined ? freshDatabase() : postgres.createDatabase(),
      freePort(),
    ]);
    const listen = `127.0.0.1:${port}`;
    const process =
      gatewayUrl === undefined ? spawnCli(['gateway', 'simulate', '--listen', listen, ...simulator]) : null;
    const redis = new Redis(redisServer.url, { lazyConnect: false });
    redis.on('error', () => {});
    const url = gatewayUrl ?? `http://${listen}`;
    const fleet = new Fleet(redisServer, redis, databaseUrl, url, process, env);
    if (process !== null) await waitFor(() => fleet.truth(), { what: 'the simulator to answer' });
    return fleet;
  }

  async startDaemon(env: Readonly<Record<string, string>> = {}, program: Program = PRESENT): Promise<Daemon> {
    const port = await freePort();
    const logDir = join(this.dir, `logs-${this.daemons.length}`);
    const started = spawnCli(['daemon', '--listen', `127.0.0.1:${port}`, '--log-dir', logDir], {
      program,
      env: {
        CARDPOLL_REDIS_URL: this.redisServer.url,
        CARDPOLL_DATABASE_URL: this.databaseUrl,
        CARDPOLL_GATEWAY_URL: this.gatewayUrl,
        // These fleets are small, and so would be the default budget. Earlier versions had the same one for any fleet.
        ...(program === PRESENT
          ? { CARDPOLL_STOPS_MAX_PER_HOUR: '100', CARDPOLL_STOPS_MAX_PER_DAY: '500' }
          : {}),
        ...this.env,
        ...env,
      },
    });
    const daemon = { process: started, url: `http://127.0.0.1:${port}`, logDir, program };
    this.daemons.push(daemon);
    await waitFor(async () => !started.running || (await fetch(`${daemon.url}/readyz`)).ok, {
      what: 'the daemon to be ready',
    });
    if (!started.running) throw new Error(`the daemon ended: ${started.stderr}`);
    return daemon;
  }

  /** Runs the CLI of the newest daemon's release against it, the present one in this process; fails unless it ends with 0. */
  async cli(...args: string[]): Promise<HereResult> {
    const { url, program = PRESENT } = this.daemons.at(-1) ?? {};
    const env = { CARDPOLL_URL: url, XDG_STATE_HOME: this.dir };
    const result = program === PRESENT ? await cliHere(args, { env }) : await runCli(args, { env, program });
    if (result.code !== 0) {
      throw new Error(`cardpoll ${args.join(' ')} ended with ${result.code}: ${result.stderr}`);
    }
    return result;
  }

  /** Imports demo cards 1 to `count`. @param allowanceMb tells a card's allowance; empty for unlimited. */
  async importCards(
    count: number,
    allowanceMb: (cardId: number) => number | '' = () => '',
    vendorId: (iccid: string) => string = () => '',
    carrierId: (cardId: number) => number = () => 1,
  ): Promise<void> {
    const ids = Array.from({ length: count }, (_, i) => i + 1);
    const rows = ids.map(
      (id) => `${id},${demoIccid(id)},${carrierId(id)},1,${allowanceMb(id)},${vendorId(demoIccid(id))}`,
    );
    const file = join(this.dir, 'cards.csv');
    writeFileSync(file, ['card_id,iccid,carrier_id,status,allowance_mb,vendor_id', ...rows, ''].join('\n'));
    await this.cli('cards', 'import', file, '--yes');
  }

  async setIntervals(seconds: number): Promise<void> {
    for (const id of [1, 2, 3, 4]) await this.#put(`polling-configs/${id}`, { interval_seconds: seconds });
  }

  async setLimits(max: number): Promise<void> {
    for (const type of TASK_TYPES) {
      await this.#put(`polling-concurrency/${type}`, { max_concurrency: max });
    }
  }

  /** What the gateway itself counted. */
  async truth(): Promise<GatewayTruth> {
    return (await fetch(`${this.gatewayUrl}/stats`)).json() as Promise<GatewayTruth>;
  }

  /** Every line of the worker logs of all daemons, parsed. A line is there a tenth of a second after what it tells. */
  async *logLines(): AsyncGenerator<Record<string, unknown>> {
    for (const { logDir } of this.daemons) {
      for (const file of (await readdir(logDir)).filter((entry) => entry.startsWith('worker.log'))) {
        for await (const line of createInterface({ input: createReadStream(join(logDir, file)) })) {
          if (line.endsWith('}')) yield JSON.parse(line) as Record<string, unknown>;
        }
      }
    }
  }

  /** The lines of the worker logs so far that say this. */
  async logged(message: string | RegExp): Promise<Record<string, unknown>[]> {
    const found: Record<string, unknown>[] = [];
    for await (const line of this.logLines()) {
      const said = String(line.msg);
      if (typeof message === 'string' ? said === message : message.test(said)) found.push(line);
    }
    return found;
  }

  /** Waits until a line of the worker logs says this, with these fields. */
  async told(message: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
    const wanted = Object.entries(fields);
    await waitFor(
      async () =>
        (await this.logged(message)).some((line) => wanted.every(([name, value]) => line[name] === value)),
      { everyMs: 100, what: `a line "${message}" with ${JSON.stringify(fields)}` },
    );
  }

  async get<T>(path: string): Promise<T> {
    return (await fetch(`${this.daemons.at(-1)?.url}${path}`)).json() as Promise<T>;
  }

  /** As the command would, without a process of its own. */
  async #put(path: string, body: unknown): Promise<void> {
    const answer = await fetch(`${this.daemons.at(-1)?.url}/api/admin/${path}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`PUT ${path} was refused: ${await answer.text()}`);
  }

  /** Ends its daemons and simulator at once, also stopped ones, so that they take nothing from the next test. */
  close(): void {
    this.redis.disconnect();
    for (const { process } of [...this.daemons, { process: this.simulator }]) process?.signal('SIGKILL');
  }
}
