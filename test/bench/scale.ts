// Ten million cards on one machine, phase by phase: the file, the import against COPY of the same file into the same tables, the
// initialisation, polling at stretched intervals, a trigger over a third of the fleet, a config that selects other cards, a cleanup, and a
// restart of Redis with its append-only file. Of each phase: seconds, memory of the daemon and of Redis, size of PostgreSQL, and how
// long requests of the API take meanwhile.
//
//   npm run bench:scale -- [--cards 10000000] [--rate 2000] [--seconds 60]
import { createReadStream, createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { TASK_TYPES } from '../../src/domain/task-type.ts';
import { waitFor } from '../support/wait-for.ts';
import { CONFIG_IDS, scheduleAll } from './all-scheduled.ts';
import { fillExpired } from './cleanup.ts';
import { getJson, putJson, type RunningBinary, Stack } from './stack.ts';
import { printTable } from './table.ts';

const CARRIERS = 3;
const LINES_A_WRITE = 10_000;
const LIMIT = 64;
/** A phase of ten million cards takes minutes. */
const WITHIN_MS = 3_600_000;
/** As dashboards do. The API answers four times a second: who asks more often waits for the next answer. */
const ASK_EVERY_MS = 500;
const ASKED = ['/api/admin/polling-stats', '/api/admin/cards/1'] as const;
const TARGETS = { import_of_copy: 0.5, stats_p99_ms: 50, rss_mb: 300 };

interface Phase {
  readonly phase: string;
  readonly seconds: number;
  /** Highest of the daemon in the phase. */
  readonly rss_mb: number;
  readonly redis_mb: number;
  readonly postgres_mb: number;
  readonly stats_p99_ms: number | null;
  readonly card_p99_ms: number | null;
}

export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      cards: { type: 'string', default: '10000000' },
      rate: { type: 'string', default: '2000' },
      seconds: { type: 'string', default: '60' },
    },
  });
  const bench = await ScaleBench.open(Number(values.cards));
  try {
    await bench.live(Number(values.rate), Number(values.seconds));
  } finally {
    await bench.close();
  }
}

class ScaleBench {
  readonly #phases: Phase[] = [];
  readonly #facts: Record<string, number> = {};
  #daemon: RunningBinary | null = null;
  #simulator: RunningBinary | null = null;
  #copiedSeconds = 0;

  private constructor(
    private readonly stack: Stack,
    private readonly cards: number,
    private readonly database: pg.Client,
  ) {}

  static async open(cards: number): Promise<ScaleBench> {
    const stack = await Stack.start('standalone', ['--appendonly', 'yes', '--appendfsync', 'everysec']);
    await stack.migrate();
    const database = new pg.Client({ connectionString: stack.postgres.url });
    await database.connect();
    return new ScaleBench(stack, cards, database);
  }

  async live(rate: number, seconds: number): Promise<void> {
    const file = join(this.stack.dir, 'cards.csv');
    await this.#phase('file', () => writeCards(file, this.cards));
    await this.#phase('migration and COPY of the same', () => this.#copy(file));
    const simulator = await this.stack.startSimulator();
    this.#simulator = simulator;
    this.#daemon = await this.stack.startDaemon(simulator.url, { CARDPOLL_ROLES: 'api' });
    const imported = await this.#phase('import', () => this.#import(file));
    this.#facts.import_of_copy = Number((this.#copiedSeconds / imported).toFixed(2));
    await this.#daemon.stop();
    await this.database.query('VACUUM ANALYZE cards');

    this.#daemon = await this.stack.startDaemon(simulator.url, { CARDPOLL_CLEANUP_SCHEDULE: 'off' });
    const { url } = this.#daemon;
    const intervalSeconds = Math.ceil((this.cards * TASK_TYPES.length) / rate);
    await this.#phase('initialisation', () =>
      scheduleAll(url, { cards: this.cards, limit: LIMIT, intervalSeconds, withinMs: WITHIN_MS }),
    );
    const calls = async () => (await getJson<{ requests: number }>(`${simulator.url}/stats`)).requests;
    const before = await calls();
    await this.#phase('polling', () => sleep(seconds * 1_000));
    this.#facts.polls_per_second = Math.round(((await calls()) - before) / seconds);
    await this.#phase('trigger over a third', () => this.#trigger());
    await this.#phase('config selects a third', () => this.#selectCarrier());
    await this.#phase('cleanup of a tenth as many rows', () => this.#cleanup());
    await this.#phase('restart of Redis', () => this.#restartRedis(calls));
    this.#report();
  }

  async close(): Promise<void> {
    await this.#daemon?.stop();
    await this.#simulator?.stop();
    await this.database.end();
    await this.stack.stop();
  }

  /** @returns its seconds. */
  async #phase(phase: string, work: () => Promise<unknown>): Promise<number> {
    const daemon = this.#daemon;
    // From here on the kernel keeps the highest memory anew.
    if (daemon !== null) writeFileSync(`/proc/${daemon.pid}/clear_refs`, '5');
    const asked = daemon === null ? null : askWhile(daemon.url);
    const from = performance.now();
    await work();
    const seconds = (performance.now() - from) / 1_000;
    const [stats, card] = (await asked?.end()) ?? [];
    const rss =
      daemon === null ? 0 : numberIn(readFileSync(`/proc/${daemon.pid}/status`, 'utf8'), /VmHWM:\s+(\d+)/);
    const { rows } = await this.database.query<{ bytes: string }>(
      'SELECT pg_database_size(current_database()) AS bytes',
    );
    const line: Phase = {
      phase,
      seconds: Number(seconds.toFixed(1)),
      rss_mb: Math.round(rss / 1_024),
      redis_mb: Math.round((await this.#redisBytes()) / 2 ** 20),
      postgres_mb: Math.round(Number(rows[0]?.bytes) / 2 ** 20),
      stats_p99_ms: stats ?? null,
      card_p99_ms: card ?? null,
    };
    this.#phases.push(line);
    process.stderr.write(`${JSON.stringify(line)}\n`);
    return seconds;
  }

  async #redisBytes(): Promise<number> {
    const redis = new Redis(this.stack.redis.url);
    const memory = await redis.info('memory');
    redis.disconnect();
    return numberIn(memory, /used_memory:(\d+)/);
  }

  /** As `psql \copy`, into a table with the indexes and triggers that the daemon's has. */
  async #copy(file: string): Promise<void> {
    const url = await this.stack.postgres.createDatabase();
    await this.stack.migrate(url);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const columns = 'card_id, iccid, carrier_id, status, allowance_mb';
    const from = performance.now();
    await pipeline(
      createReadStream(file),
      client.query(copyFrom(`COPY cards (${columns}) FROM STDIN WITH (FORMAT csv, HEADER true)`)),
    );
    this.#copiedSeconds = (performance.now() - from) / 1_000;
    await client.end();
    await this.database.query(`DROP DATABASE ${new URL(url).pathname.slice(1)}`);
  }

  async #import(file: string): Promise<void> {
    const response = await fetch(`${this.#url}/api/admin/cards/import`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv' },
      body: Readable.toWeb(createReadStream(file)),
      duplex: 'half',
    } as RequestInit);
    const report = (await response.json()) as { readonly inserted?: number };
    if (!response.ok || report.inserted !== this.cards) throw new Error(`import: ${JSON.stringify(report)}`);
  }

  /** Until it is accepted: the cards are handed out while they are polled. */
  async #trigger(): Promise<void> {
    const post = async (what: string, body: unknown) => {
      const response = await fetch(`${this.#url}/api/admin/polling-manual-trigger/${what}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (!response.ok) throw new Error(`${what}: ${response.status} ${await response.text()}`);
      return (await response.json()) as { readonly trigger_id: string; readonly total: number };
    };
    const { trigger_id, total } = await post('by-condition', { task_type: 'realname', carrier_id: 1 });
    this.#facts.triggered = total;
    await post('cancel', { trigger_id });
  }

  async #selectCarrier(): Promise<void> {
    const [id] = CONFIG_IDS;
    const queues = `${this.#url}/api/admin/polling-stats/queues`;
    await putJson(`${this.#url}/api/admin/polling-configs/${id}`, { carrier_id: 1 });
    await waitFor(
      async () => {
        const { items } = await getJson<{ items: Array<{ task_type: string; scheduled_cards: number }> }>(
          queues,
        );
        // A few that were polled meanwhile leave when they are due.
        return items.some(({ scheduled_cards }) => scheduled_cards < this.cards / 2);
      },
      { timeoutMs: WITHIN_MS, everyMs: 200, what: 'the other cards to leave the ring' },
    );
  }

  async #cleanup(): Promise<void> {
    const rows = Math.ceil(this.cards / 10);
    await fillExpired(this.database, rows);
    const cleanup = `${this.#url}/api/admin/data-cleanup`;
    const from = performance.now();
    const response = await fetch(`${cleanup}/trigger`, { method: 'POST' });
    if (response.status !== 202) throw new Error(`cleanup: ${response.status} ${await response.text()}`);
    await waitFor(
      async () => (await getJson<{ status: string }>(`${cleanup}/progress`)).status !== 'running',
      {
        timeoutMs: WITHIN_MS,
        everyMs: 100,
        what: 'the cleanup to end',
      },
    );
    this.#facts.cleaned_per_second = Math.round((1_000 * rows) / (performance.now() - from));
  }

  /** Until cards are polled again. */
  async #restartRedis(calls: () => Promise<number>): Promise<void> {
    await this.stack.redis.restart();
    const before = await calls();
    await waitFor(async () => (await calls()) > before, {
      timeoutMs: WITHIN_MS,
      everyMs: 50,
      what: 'a poll after the restart',
    });
  }

  get #url(): string {
    return this.#daemon?.url ?? '';
  }

  #report(): void {
    const milliseconds = (value: number | null) => (value === null ? '' : value.toFixed(1));
    printTable(
      ['phase', 'seconds', 'RSS MB', 'Redis MB', 'PostgreSQL MB', 'stats p99 ms', 'card p99 ms'],
      this.#phases.map(({ phase, seconds, rss_mb, redis_mb, postgres_mb, stats_p99_ms, card_p99_ms }) => [
        ...[phase, seconds.toFixed(1), String(rss_mb), String(redis_mb), String(postgres_mb)],
        ...[milliseconds(stats_p99_ms), milliseconds(card_p99_ms)],
      ]),
    );
    const line = {
      bench: 'scale',
      cards: this.cards,
      ...this.#facts,
      phases: this.#phases,
      targets: TARGETS,
    };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
}

async function writeCards(file: string, cards: number): Promise<void> {
  function* lines() {
    yield 'card_id,iccid,carrier_id,status,allowance_mb\n';
    for (let first = 1; first <= cards; first += LINES_A_WRITE) {
      const ids = Array.from({ length: Math.min(LINES_A_WRITE, cards - first + 1) }, (_, i) => first + i);
      yield ids
        .map((id) => `${id},8986${String(id).padStart(16, '0')},${1 + (id % CARRIERS)},1,1000000\n`)
        .join('');
    }
  }
  await pipeline(lines, createWriteStream(file));
}

/** Asks the API all the time. `end` gives the 99th percentile of each path, milliseconds. */
function askWhile(url: string): { end(): Promise<number[]> } {
  let isOver = false;
  const asking = ASKED.map(async (path) => {
    const tookMs: number[] = [];
    while (!isOver) {
      const from = performance.now();
      await (await fetch(url + path)).arrayBuffer();
      tookMs.push(performance.now() - from);
      await sleep(ASK_EVERY_MS);
    }
    tookMs.sort((a, b) => a - b);
    return Number((tookMs[Math.floor(tookMs.length * 0.99)] ?? 0).toFixed(1));
  });
  return {
    end: () => {
      isOver = true;
      return Promise.all(asking);
    },
  };
}

function numberIn(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1]);
}
