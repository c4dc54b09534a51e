// Rows a second that a cleanup removes (in transactions of at most 10,000 rows, with the pauses in between), against
// one big DELETE of as many rows in the same run; and what the cleanup costs the polling meanwhile.
//
//   npm run bench:cleanup -- [--rows 2000000] [--polling] [--rounds 7] [--cards 100000] [--limit 64]
import { parseArgs } from 'node:util';
import pg from 'pg';
import { CLEANUP_BATCH_ROWS } from '../../src/domain/cleanup.ts';
import type { CleanupProgressBody } from '../../src/resources/cleanup.ts';
import { elapsed, waitFor } from '../support/wait-for.ts';
import { scheduleAll } from './all-scheduled.ts';
import { cpuSeconds, getJson, type RunningBinary, Stack } from './stack.ts';
import { perSecond, printTable } from './table.ts';

/** Often enough to see every batch by itself where there are pauses. */
const LOOK_EVERY_MS = 25;
const INTERVAL_SECONDS = 10;
const WARM_UP_MS = 4_000;
const BASELINE_MS = 5_000;
const DAY_MS = 86_400_000;

interface Removed {
  readonly rowsPerSecond: number;
  /** Most rows that went between two looks at the progress, for each batch that ended between them. */
  readonly largestBatch: number;
  /** Of daemon and database together; what else the machine does hardly changes it. */
  readonly cpuSeconds: number;
}

/** Polls a second during a cleanup, and without one shortly before and after it: what else the machine does cancels out. */
interface PollingRound {
  readonly during: number;
  readonly without: number;
}

export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      rows: { type: 'string', default: '2000000' },
      polling: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '7' },
      cards: { type: 'string', default: '100000' },
      limit: { type: 'string', default: '64' },
    },
  });
  const rows = Number(values.rows);
  const stack = await Stack.start();
  try {
    const bench = await CleanupBench.open(stack, rows, values.polling ? Number(values.cards) : 0);
    const big = await bench.bigDelete();
    const withoutPauses = await bench.cleanup('0');
    const paused = await bench.cleanup('50');
    const polling = values.polling
      ? await bench.whilePolling(Number(values.limit), Number(values.rounds))
      : null;
    await bench.close();
    report(rows, big, withoutPauses, paused, polling);
  } finally {
    await stack.stop();
  }
}

class CleanupBench {
  private constructor(
    private readonly stack: Stack,
    private readonly rows: number,
    private readonly cards: number,
    private readonly database: pg.Client,
  ) {}

  static async open(stack: Stack, rows: number, cards: number): Promise<CleanupBench> {
    await stack.insertCards(cards);
    const database = new pg.Client({ connectionString: stack.postgres.url });
    await database.connect();
    return new CleanupBench(stack, rows, cards, database);
  }

  /** Rows a second of one DELETE. */
  async bigDelete(): Promise<number> {
    const daemon = await this.#daemon('http://127.0.0.1:9', '0');
    await daemon.stop(); // it has created the partitions
    const cutoff = await this.#fill();
    const from = performance.now();
    await this.database.query('DELETE FROM usage_records WHERE recorded_at < $1', [cutoff]);
    return this.rows / ((performance.now() - from) / 1_000);
  }

  async cleanup(pauseMs: string): Promise<Removed> {
    await this.#fill();
    const daemon = await this.#daemon('http://127.0.0.1:9', pauseMs);
    const removed = await this.#runCleanup(daemon, LOOK_EVERY_MS);
    await daemon.stop();
    return removed;
  }

  async whilePolling(limit: number, rounds: number): Promise<PollingRound[]> {
    const simulator = await this.stack.startSimulator();
    const daemon = await this.#daemon(simulator.url, '50');
    await scheduleAll(daemon.url, { cards: this.cards, limit, intervalSeconds: INTERVAL_SECONDS });
    const rate = (work: () => Promise<unknown>) => callRate(simulator.url, work);
    const rateWithout = async () => {
      await this.#fill();
      await elapsed(WARM_UP_MS);
      return rate(() => elapsed(BASELINE_MS));
    };
    const measured: PollingRound[] = [];
    let before = await rateWithout();
    for (let round = 0; round < rounds; round += 1) {
      const during = await rate(() => this.#runCleanup(daemon, 500));
      const after = await rateWithout();
      measured.push({ during, without: (before + after) / 2 });
      before = after;
    }
    await daemon.stop();
    await simulator.stop();
    return measured;
  }

  close(): Promise<void> {
    return this.database.end();
  }

  #daemon(gatewayUrl: string, pauseMs: string): Promise<RunningBinary> {
    return this.stack.startDaemon(gatewayUrl, {
      CARDPOLL_CLEANUP_PAUSE_MS: pauseMs,
      CARDPOLL_CLEANUP_SCHEDULE: 'off',
    });
  }

  #fill(): Promise<string> {
    return fillExpired(this.database, this.rows);
  }

  /** @param lookEveryMs often enough to see single batches, or seldom enough not to cost anything. */
  async #runCleanup(daemon: RunningBinary, lookEveryMs: number): Promise<Removed> {
    const cleanup = `${daemon.url}/api/admin/data-cleanup`;
    const cpu = () => cpuSeconds(daemon.pid) + cpuSeconds(this.stack.postgres.pid);
    const [from, cpuFrom] = [performance.now(), cpu()];
    const response = await fetch(`${cleanup}/trigger`, { method: 'POST' });
    if (response.status !== 202) throw new Error(`trigger: ${response.status} ${await response.text()}`);
    let seen = { deleted: 0, batches: 0 };
    let largestBatch = 0;
    const ended = await waitFor(
      async () => {
        const now = await getJson<CleanupProgressBody>(`${cleanup}/progress`);
        const batches = now.batches - seen.batches;
        if (batches > 0) largestBatch = Math.max(largestBatch, (now.deleted - seen.deleted) / batches);
        seen = now;
        return now.status === 'running' ? null : now;
      },
      { timeoutMs: 600_000, everyMs: lookEveryMs, what: 'the cleanup to end' },
    );
    if (ended.status !== 'completed' || ended.deleted !== this.rows)
      throw new Error(`the cleanup ended as ${JSON.stringify(ended)}`);
    const seconds = (performance.now() - from) / 1_000;
    return { rowsPerSecond: this.rows / seconds, largestBatch, cpuSeconds: cpu() - cpuFrom };
  }
}

/**
 * Puts expired rows into the month the retention ends in, so that they go one by one, not with their partition.
 * @returns the instant they have expired by.
 */
export async function fillExpired(database: pg.Client, rows: number): Promise<string> {
  const retentionDays = midMonthRetention();
  const cutoff = new Date(Date.now() - retentionDays * DAY_MS);
  const month = `${cutoff.toISOString().slice(0, 7)}-01`;
  const partition = `usage_records_${month.slice(0, 7).replace('-', '_')}`;
  await database.query(`CREATE TABLE IF NOT EXISTS ${partition} PARTITION OF usage_records
    FOR VALUES FROM ('${month}') TO (date '${month}' + interval '1 month')`);
  await database.query(`TRUNCATE ${partition}`);
  await database.query('UPDATE cleanup_configs SET retention_days = $1 WHERE id = 1', [retentionDays]);
  await database.query(
    `INSERT INTO usage_records SELECT i, $1::date, $1::timestamptz + interval '1 day', 1, 1
     FROM generate_series(1, $2::integer) i`,
    [month, rows],
  );
  await database.query(`VACUUM ANALYZE ${partition}`);
  await database.query('CHECKPOINT');
  return cutoff.toISOString();
}

/** Around 180 days, such that the retention ends well inside a month. */
function midMonthRetention(): number {
  const days = Array.from({ length: 20 }, (_, i) => 180 + i);
  return days.find((one) => new Date(Date.now() - one * DAY_MS).getUTCDate() > 5) ?? 180;
}

async function callRate(simulatorUrl: string, work: () => Promise<unknown>): Promise<number> {
  const calls = async () => (await getJson<{ requests: number }>(`${simulatorUrl}/stats`)).requests;
  const [from, callsFrom] = [performance.now(), await calls()];
  await work();
  return ((await calls()) - callsFrom) / ((performance.now() - from) / 1_000);
}

function report(
  rows: number,
  big: number,
  withoutPauses: Removed,
  paused: Removed,
  polling: readonly PollingRound[] | null,
): void {
  const largestBatch = Math.max(withoutPauses.largestBatch, paused.largestBatch);
  if (largestBatch > CLEANUP_BATCH_ROWS) throw new Error(`a batch removed ${largestBatch} rows`);
  const row = (name: string, rate: number) => [name, perSecond(rate), (rate / big).toFixed(2)];
  printTable(
    ['', 'rows a second', 'ratio'],
    [
      row('one big DELETE', big),
      row('cleanup without pauses', withoutPauses.rowsPerSecond),
      row('cleanup, 50 ms pauses', paused.rowsPerSecond),
    ],
  );
  const line = {
    bench: 'cleanup',
    rows,
    rows_per_second: Math.round(paused.rowsPerSecond),
    rows_per_second_without_pauses: Math.round(withoutPauses.rowsPerSecond),
    big_delete_rows_per_second: Math.round(big),
    largest_batch_rows: largestBatch,
    cpu_seconds: Number(paused.cpuSeconds.toFixed(1)),
    cores_used: Number(((paused.cpuSeconds * paused.rowsPerSecond) / rows).toFixed(2)),
    ...(polling === null ? {} : { polling_drop: Number(reportPolling(polling).toFixed(3)) }),
    ratio: Number((paused.rowsPerSecond / big).toFixed(3)),
    ratio_without_pauses: Number((withoutPauses.rowsPerSecond / big).toFixed(3)),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** @returns the drop of the median round. */
function reportPolling(rounds: readonly PollingRound[]): number {
  const drop = ({ during, without }: PollingRound) => 1 - during / without;
  printTable(
    ['polls a second', 'without', 'during', 'drop'],
    rounds.map((round, i) => [
      `round ${i + 1}`,
      perSecond(round.without),
      perSecond(round.during),
      `${(100 * drop(round)).toFixed(1)} %`,
    ]),
  );
  return rounds.map(drop).sort((a, b) => a - b)[Math.floor(rounds.length / 2)] ?? 0;
}
