// The pollers that bench:peers compares, each with stores of its own: cardpoll's daemon and two peers of about a hundred lines.
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Redis } from 'ioredis';
import pg from 'pg';
import { BUNDLED } from '../../../scripts/bundled.js';
import { endProcess, spawnOwned } from '../../support/owned-process.ts';
import { waitFor } from '../../support/wait-for.ts';
import { getJson, type RunningBinary, Stack } from '../stack.ts';
import type { PollerSettings } from './card-job.ts';

export const POLLERS = ['cardpoll', 'bullmq', 'graphile-worker'] as const;
export type PollerName = (typeof POLLERS)[number];

export interface Fleet {
  readonly cards: number;
  readonly intervalSeconds: number;
  readonly concurrency: number;
}

const PROGRAMS = { bullmq: 'bullmq-poller', 'graphile-worker': 'graphile-poller' } as const;
/** Of the seeded polling configs the one whose job the peers do: it asks for the usage of every card. */
const CARDDATA_CONFIG = 3;

const PEER_CARDS = `
  CREATE TABLE cards (card_id bigint PRIMARY KEY, iccid text NOT NULL, status smallint NOT NULL,
    used_mb double precision, polled_at timestamptz)`;

/** One poller on its own Redis and PostgreSQL. */
export class Contender {
  readonly #before: { redis: number; postgres: number };
  readonly #redis: Redis;
  readonly #sql: pg.Client;

  private constructor(
    readonly name: PollerName,
    readonly stack: Stack,
    readonly fleet: Fleet,
    connections: { redis: Redis; sql: pg.Client; before: { redis: number; postgres: number } },
  ) {
    this.#redis = connections.redis;
    this.#sql = connections.sql;
    this.#before = connections.before;
  }

  /** With the cards in PostgreSQL; nothing is scheduled yet. */
  static async open(name: PollerName, fleet: Fleet): Promise<Contender> {
    const stack = await Stack.start();
    const redis = new Redis(stack.redis.url);
    const sql = new pg.Client({ connectionString: stack.postgres.url });
    await sql.connect();
    const before = { redis: await usedMemory(redis), postgres: await databaseSize(sql) };
    if (name === 'cardpoll') {
      await stack.insertCards(fleet.cards);
      await sql.query('UPDATE polling_configs SET status = 0 WHERE id <> $1', [CARDDATA_CONFIG]);
      await sql.query('UPDATE polling_configs SET interval_seconds = $1', [fleet.intervalSeconds]);
      await sql.query('UPDATE concurrency_configs SET max_concurrency = $1', [fleet.concurrency]);
    } else {
      await sql.query(PEER_CARDS);
      await sql.query(
        `INSERT INTO cards SELECT id, '8986' || lpad(id::text, 16, '0'), 1 FROM generate_series(1, $1::int) AS id`,
        [fleet.cards],
      );
      await sql.query('VACUUM ANALYZE cards');
    }
    return new Contender(name, stack, fleet, { redis, sql, before });
  }

  /** Schedules all cards and polls them. */
  async startFirst(gatewayUrl: string): Promise<RunningBinary> {
    if (this.name === 'cardpoll') {
      const daemon = await this.start(gatewayUrl);
      await waitFor(async () => (await scheduledCards(daemon.url)) === this.fleet.cards, {
        timeoutMs: 1_800_000,
        everyMs: 100,
        what: 'all cards to be scheduled',
      });
      return daemon;
    }
    const scheduling = await this.#spawn(gatewayUrl, 'schedule', String(this.fleet.cards));
    const [code] = (await once(scheduling, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`${this.name} scheduled nothing: exit code ${code}`);
    return this.start(gatewayUrl);
  }

  /** Polls what is scheduled. */
  async start(gatewayUrl: string): Promise<RunningBinary> {
    // A short queue, as in bench:end-to-end: what is scheduled and what is polled are then the same number of cards.
    if (this.name === 'cardpoll') return this.stack.startDaemon(gatewayUrl, { CARDPOLL_QUEUE_CAP: '20000' });
    const child = await this.#spawn(gatewayUrl, 'poll');
    return { url: '', pid: child.pid ?? 0, stop: () => endProcess(child, 'SIGTERM', 40_000) };
  }

  /** Cards whose last poll is older than this, or that were never polled. */
  async cardsNotPolledSince(at: Date): Promise<number> {
    const polled =
      this.name === 'cardpoll'
        ? 'SELECT count(*)::int AS n FROM card_polls WHERE carddata_at >= $1'
        : 'SELECT count(*)::int AS n FROM cards WHERE polled_at >= $1';
    const { rows } = await this.#sql.query<{ n: number }>(polled, [at]);
    return this.fleet.cards - (rows[0]?.n ?? 0);
  }

  /** What both stores hold more than when they were empty, dead rows and indexes included. */
  async bytesPerCard(): Promise<{ redis: number; postgres: number }> {
    const { cards } = this.fleet;
    return {
      redis: Math.round(((await usedMemory(this.#redis)) - this.#before.redis) / cards),
      postgres: Math.round(((await databaseSize(this.#sql)) - this.#before.postgres) / cards),
    };
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
    await this.#sql.end();
    await this.stack.stop();
  }

  async #spawn(gatewayUrl: string, ...args: string[]) {
    const settings: PollerSettings = {
      redisUrl: this.stack.redis.url,
      databaseUrl: this.stack.postgres.url,
      gatewayUrl,
      logFile: join(this.stack.logDir, 'poller.log'),
      intervalMs: this.fleet.intervalSeconds * 1_000,
      concurrency: this.fleet.concurrency,
    };
    const program = await bundled(PROGRAMS[this.name as keyof typeof PROGRAMS]);
    return spawnOwned(process.execPath, [program, ...args], {
      env: { ...process.env, POLLER: JSON.stringify(settings) },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
}

const bundles = new Map<string, Promise<string>>();

/** The program of a peer, built once a run. @returns its path */
function bundled(program: string): Promise<string> {
  const make = async () => {
    // This module may be a source or part of a bundle three folders below the root.
    const root = fileURLToPath(new URL('../../../', import.meta.url));
    const outfile = `${root}node_modules/.cache/cardpoll-bench/peers/${program}.mjs`;
    await build({ entryPoints: [`${root}test/bench/peers/${program}.ts`], outfile, ...BUNDLED });
    return outfile;
  };
  const made = bundles.get(program) ?? make();
  bundles.set(program, made);
  return made;
}

async function scheduledCards(daemonUrl: string): Promise<number> {
  const { items } = await getJson<{ items: Array<{ task_type: string; scheduled_cards: number }> }>(
    `${daemonUrl}/api/admin/polling-stats/queues`,
  );
  return items.find((item) => item.task_type === 'carddata')?.scheduled_cards ?? 0;
}

async function usedMemory(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
}

async function databaseSize(sql: pg.Client): Promise<number> {
  const { rows } = await sql.query<{ bytes: string }>('SELECT pg_database_size(current_database()) AS bytes');
  return Number(rows[0]?.bytes);
}
