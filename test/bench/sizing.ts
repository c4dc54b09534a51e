// What a fleet needs of PostgreSQL: bytes on disk a card, and write-ahead log a poll, measured on a real server with the
// product's own writes. docs/scaling.md is computed from these.
//
//   npm run bench:sizing -- [--cards 100000]
import { parseArgs } from 'node:util';
import pg from 'pg';
import type { PollOutcome } from '../../src/domain/results/poll-outcome.ts';
import type { RecordStore } from '../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../src/store/postgres/record-store.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { printTable } from './table.ts';

const MONTH = '2026-11';
const BATCH = 2_000;
const TABLES = ['cards', 'card_polls', 'card_usage', 'usage_records'];

export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({ args: argv, options: { cards: { type: 'string', default: '100000' } } });
  const cards = Number(values.cards);
  const server = await startPostgres();
  const sql = new pg.Client({ connectionString: server.url });
  await sql.connect();
  const records = await openPostgresRecordStore({ url: server.url, applicationName: 'cardpoll-bench' });
  try {
    await records.migrations.up();
    await records.results.ensurePartitions(MONTH);
    await sql.query(
      `INSERT INTO cards (card_id, iccid, carrier_id, status, allowance_mb)
       SELECT id, '8986' || lpad(id::text, 16, '0'), 1, 1, 1024 FROM generate_series(1, $1::int) AS id`,
      [cards],
    );
    const first = await walOf(sql, () => write(records, cards, 1));
    const changed = await walOf(sql, () => write(records, cards, 2));
    const same = await walOf(sql, () => write(records, cards, null));
    await sql.query('VACUUM');
    const sizes: number[] = [];
    for (const table of TABLES) sizes.push(await bytesOf(sql, table));
    const perCard = sizes.map((bytes) => Math.round(bytes / cards));
    printTable(
      ['table', 'bytes a card'],
      TABLES.map((table, i) => [table, String(perCard[i])]),
    );
    const wal = [first, changed, same].map((bytes) => Math.round(bytes / cards));
    printTable(
      ['a carddata poll', 'bytes of WAL'],
      ['first of a month', 'changed', 'unchanged'].map((name, i) => [name, String(wal[i])]),
    );
    const sizesByTable = Object.fromEntries(TABLES.map((table, i) => [table, perCard[i]]));
    const line = { bench: 'sizing', cards, bytes_per_card: sizesByTable, wal_per_poll: wal };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  } finally {
    await records.close();
    await sql.end();
    await server.stop();
  }
}

/** @param round of readings, from 1; null: nothing changed. */
async function write(records: RecordStore, cards: number, round: number | null): Promise<void> {
  for (let from = 1; from <= cards; from += BATCH) {
    const ids = Array.from({ length: Math.min(BATCH, cards - from + 1) }, (_, i) => from + i);
    await records.results.write(ids.map((cardId) => outcomeOf(cardId, round)));
  }
}

function outcomeOf(cardId: number, round: number | null): PollOutcome {
  const at = (n: number) => Date.UTC(2026, 10, 21, 0, 30 * n);
  const polled = { cardId, taskType: 'carddata', polledAtMs: at(round ?? 3) } as const;
  if (round === null) return polled;
  const next = {
    month: MONTH,
    usedMb: round,
    lastReadingMb: round,
    suspectedMb: null,
    jump: null,
    readAtMs: at(round),
  };
  return { ...polled, usage: { next, basedOnReadAtMs: round === 1 ? null : at(round - 1) } };
}

async function walOf(sql: pg.Client, work: () => Promise<void>): Promise<number> {
  const position = async () =>
    (await sql.query<{ bytes: string }>(`SELECT pg_current_wal_lsn() - '0/0' AS bytes`)).rows[0]?.bytes;
  // So that each kind of poll begins alike: the first change of a page after a checkpoint is logged with the whole page.
  await sql.query('CHECKPOINT');
  const before = Number(await position());
  await work();
  return Number(await position()) - before;
}

async function bytesOf(sql: pg.Client, table: string): Promise<number> {
  const { rows } = await sql.query<{ bytes: string }>(
    `SELECT coalesce((SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree($1::regclass)),
                     pg_total_relation_size($1::regclass)) AS bytes`,
    [table],
  );
  return Number(rows[0]?.bytes);
}
