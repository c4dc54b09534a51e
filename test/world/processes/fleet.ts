// A fleet of real daemons on real Redis and PostgreSQL, with the gateway of a world in front of which the same invariants hold. Time is the
// machine's, so the same seed has the same faults at the same times, but not the same night to the millisecond.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { MonthCalendar } from '../../../src/domain/cards/month-calendar.ts';
import { TASK_TYPES, TASKS } from '../../../src/domain/task-type.ts';
import { namedRows } from '../../../src/store/sql/client/rows.ts';
import { type PostgresServer, startPostgres, streamingStandbyOf } from '../../support/postgres-server.ts';
import { type RedisServer, startRedis } from '../../support/redis-server.ts';
import { type RedisCluster, startRedisCluster } from '../../support/redis-topologies.ts';
import type { ServerProcess } from '../../support/server-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { drawnCard, fileOf, type WorldCard } from '../cards.ts';
import { lasting } from '../fault.ts';
import { WorldGateway } from '../gateway.ts';
import { TIME_ZONE } from '../nature.ts';
import type { Outside, OutsideTime } from '../outside.ts';
import { Random } from '../virtual/random.ts';
import { CLAIM_AND_CALL_MS, LIMIT } from '../world.ts';
import { Daemon } from './daemon.ts';
import { type ServedGateway, serve } from './http-gateway.ts';

export type Topology = 'standalone' | 'cluster';

const BINARY = fileURLToPath(new URL('../../../bin/cardpoll.js', import.meta.url));
const INTERVAL_SECONDS = 20;
const RESTART_AFTER_MS = 2_000;
const STOPS_PER_HOUR = [5, 20, 100];
/** A standby on the same machine. */
const HEARD_WITHIN_MS = 2_000;
const INT8_OID = 20;
const CONNECT_TIMEOUT_MS = 5_000;

class RealTime implements OutsideTime {
  readonly epochMs = Date.now();

  get now(): number {
    return Date.now() - this.epochMs;
  }

  get wall(): number {
    return Date.now();
  }

  after(ms: number, wake: () => void): () => void {
    const timer = setTimeout(wake, ms);
    return () => clearTimeout(timer);
  }
}

export class ProcessFleet implements Outside {
  readonly time = new RealTime();
  readonly calendar = new MonthCalendar(TIME_ZONE);
  readonly intervalSeconds = INTERVAL_SECONDS;
  readonly gateway: WorldGateway;
  readonly settings: Outside['settings'];
  readonly cards = new Map<number, WorldCard>();
  readonly cardOf = new Map<string, WorldCard>();
  readonly triggered = new Set<number>();
  readonly unfinished = new Set<() => void>();
  readonly mode = { mode: 'enforce', since: 0 } as const;
  readonly limits = new Map<never, never>();
  readonly daemons: Daemon[] = [];
  readonly story: string[] = [];
  readonly failures: string[] = [];
  calmSince: number | null = null;
  lastReturn = { at: Number.NEGATIVE_INFINITY, to: Number.NEGATIVE_INFINITY };
  lastForgiven = Number.NEGATIVE_INFINITY;
  redis: readonly RedisServer[] = [];
  postgres!: PostgresServer;
  /** Follows PostgreSQL until it takes its place. */
  standby: PostgresServer | null = null;
  readonly #dir = temporaryDirectory('fleet');
  /** Servers that a fault has, until they are back. */
  readonly #away = new Map<ServerProcess, Promise<void>>();
  readonly #gone: PostgresServer[] = [];
  #cluster: RedisCluster | null = null;
  #served!: ServedGateway;
  #isClosing = false;

  private constructor(
    readonly seed: number,
    readonly topology: Topology,
  ) {
    const random = new Random(seed, 'world');
    this.gateway = new WorldGateway(this.time, random.stream('gateway'), (at) => this.calendar.monthOf(at));
    this.settings = {
      stopsAnHour: random.oneOf(STOPS_PER_HOUR),
      rate: null,
      ceiling: null,
    };
  }

  static async start(
    { seed, cards, instances }: { readonly seed: number; readonly cards: number; readonly instances: number },
    topology: Topology,
  ): Promise<ProcessFleet> {
    const fleet = new ProcessFleet(seed, topology);
    try {
      await fleet.#open(cards);
      for (let i = 1; i <= instances; i += 1) await fleet.#addDaemon(`d${i}`);
      await fleet.importCards(new Random(seed, 'import'), fleet.cards.values());
    } catch (error) {
      await fleet.close();
      throw error;
    }
    return fleet;
  }

  async #open(cards: number): Promise<void> {
    const draw = new Random(this.seed, 'cards');
    if (this.topology === 'cluster') this.#cluster = await startRedisCluster();
    this.redis = this.#cluster?.nodes ?? [await startRedis()];
    this.postgres = await startPostgres();
    this.#served = await serve(this.gateway);
    const env = { ...process.env, CARDPOLL_DATABASE_URL: this.postgres.url };
    const migrated = spawnSync(process.execPath, [BINARY, 'migrate', 'up'], { env, encoding: 'utf8' });
    if (migrated.status !== 0) throw new Error(`migrate up: ${migrated.stderr}`);
    this.standby = await streamingStandbyOf(this.postgres);
    await this.store.sql(`update polling_configs set interval_seconds = ${INTERVAL_SECONDS}`);
    await this.store.sql(`update concurrency_configs set max_concurrency = ${LIMIT}`);
    for (let i = 1; i <= cards; i += 1) {
      const card = drawnCard(i, this.gateway, draw);
      this.cards.set(i, card);
      this.cardOf.set(card.sim.iccid, card);
    }
  }

  async #addDaemon(id: string): Promise<void> {
    const stores = {
      redisUrl: this.#cluster?.url ?? (this.redis[0] as RedisServer).url,
      isCluster: this.#cluster !== null,
      databaseUrl: this.postgres.url,
    };
    const daemon = await Daemon.start(
      id,
      stores,
      {
        CARDPOLL_GATEWAY_URL: this.#served.url,
        CARDPOLL_GATEWAY_TIMEOUT_MS: '5000',
        CARDPOLL_TIME_ZONE: TIME_ZONE,
        CARDPOLL_STOPS_MAX_PER_HOUR: String(this.settings.stopsAnHour),
        CARDPOLL_LOG_DIR: join(this.#dir, id),
      },
      (how) => {
        if (this.#isClosing) return;
        this.tell(id, `has ended (${how})`);
        this.time.after(RESTART_AFTER_MS, () => {
          if (!this.#isClosing && !daemon.isRunning) daemon.begin();
        });
      },
    );
    this.daemons.push(daemon);
  }

  /**
   * The standby takes the place of PostgreSQL, under the same address. What it had not heard of yet is lost, and operators do again
   * what they did last.
   */
  async failOver(draw: Random): Promise<string | null> {
    const next = this.standby;
    if (next === null || this.#away.has(this.postgres)) return null;
    this.standby = null;
    const { now } = this.time;
    const failed = this.postgres;
    this.#gone.push(failed);
    await failed.kill('SIGKILL');
    this.postgres = next;
    await this.store.sql('select pg_promote(true, 30)');
    for (const { ways } of this.daemons) ways.records.leadTo(next.port);
    this.lastReturn = { at: this.time.now, to: now - HEARD_WITHIN_MS };
    for (const sim of this.gateway.sims.values()) sim.isRecorded = false;
    for (const { earlier } of this.cards.values())
      for (const one of earlier) if (one.until >= this.lastReturn.to) one.until = Number.POSITIVE_INFINITY;
    void this.importCards(draw, this.cards.values()).then(() => {
      for (const { earlier } of this.cards.values())
        for (const one of earlier) one.until = Math.min(one.until, this.time.now);
    });
    return 'to its standby';
  }

  /** A server is away for a time. @returns false: it is already. */
  takeAway(
    server: ServerProcess,
    ms: number,
    { begin, end }: { readonly begin: () => unknown; readonly end: () => unknown },
  ): boolean {
    if (this.#away.has(server)) return false;
    const isOver = new Promise<void>((resolve) => lasting(this, ms, resolve));
    const away = async () => {
      await begin();
      await isOver;
      await end();
      this.#away.delete(server);
    };
    this.#away.set(
      server,
      away().catch((error) => this.fail('the fleet goes on', `a server does not come back: ${error}`)),
    );
    return true;
  }

  /** What an operator asks of a daemon until it is done. */
  async insist(draw: Random, path: string, init: RequestInit): Promise<void> {
    while (!this.#isClosing) {
      const { url } = draw.oneOf(this.daemons);
      const signal = AbortSignal.timeout(10_000);
      const answer = await fetch(`${url}/api/admin/${path}`, { ...init, signal }).catch(() => null);
      if (answer?.ok === true) return;
      if (answer !== null && answer.status < 500 && answer.status !== 429 && answer.status !== 409)
        throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      await sleep(1_000);
    }
  }

  async importCards(draw: Random, cards: Iterable<WorldCard>): Promise<void> {
    await this.insist(draw, 'cards/import', {
      method: 'POST',
      headers: { 'content-type': 'text/csv' },
      body: fileOf(cards),
    });
  }

  readonly store = {
    sql: async <Row>(text: string): Promise<Row[]> => {
      const client = new pg.Client({
        connectionString: this.postgres.url,
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        types: { getTypeParser: (oid) => (oid === INT8_OID ? Number : pg.types.getTypeParser(oid)) },
      });
      client.on('error', () => {});
      await client.connect();
      try {
        const { fields, rows } = await client.query({ text, rowMode: 'array' });
        return namedRows(fields, rows) as Row[];
      } finally {
        await client.end();
      }
    },
  };

  get hasLostClaims(): boolean {
    return this.time.now - this.lastForgiven < CLAIM_AND_CALL_MS;
  }

  /** The live store is empty, or lost what it was told last. */
  loseLiveData(): void {
    this.lastForgiven = this.time.now;
    const polls = new Set<string>(TASK_TYPES.map((type) => TASKS[type].interface));
    for (const call of this.gateway.inFlight) if (polls.has(call.name)) call.forgiven = true;
  }

  endFaults(): void {
    for (const end of [...this.unfinished]) end();
    this.gateway.clear();
    this.calmSince = this.time.now;
    this.tell('fleet', 'all faults have ended');
  }

  tell(who: string, what: string): void {
    this.story.push(`${new Date().toISOString().slice(11, 23)}  ${who.padEnd(9)} ${what}`);
  }

  fail(invariant: string, what: string): void {
    this.tell('BROKEN', `${invariant}: ${what}`);
    this.failures.push(`${invariant}: ${what}`);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    for (const end of [...this.unfinished]) end();
    for (const daemon of this.daemons) daemon.signal('SIGCONT');
    await Promise.all(this.#away.values());
    await Promise.all(this.daemons.map((daemon) => daemon.close()));
    this.#served?.close();
    await Promise.all(
      [...(this.#cluster?.nodes ?? this.redis), this.postgres, this.standby, ...this.#gone].map((one) =>
        one?.stop(),
      ),
    );
  }
}
