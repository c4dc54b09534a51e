// Runs one suite on the record stores: PostgreSQL, and PGlite (the built worker, dist/pglite-worker.js), which npm test only
// asks what it may answer otherwise (CONTRIBUTING.md, "Working on it"). Every test gets migrated, empty tables. Also the few moves many suites share.
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe } from 'vitest';
import type { CardImport, NamedCard } from '../../../src/domain/cards/card.ts';
import type { UsageMonth } from '../../../src/domain/cards/usage-month.ts';
import type { PollOutcome } from '../../../src/domain/results/poll-outcome.ts';
import { snakeKeys } from '../../../src/platform/snake-keys.ts';
import { openPglite } from '../../../src/store/pglite/client.ts';
import type { CardChanges } from '../../../src/store/ports/records/card-records.ts';
import type { RecordStore } from '../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../../src/store/postgres/record-store.ts';
import type { SqlClient, SqlValue } from '../../../src/store/sql/client/sql-client.ts';
import { sqlRecordStore } from '../../../src/store/sql/sql-record-store.ts';
import { cardRow } from '../../support/cards.ts';
import { IS_LONG } from '../../support/effort.ts';
import { freshDatabase } from '../../support/fresh-stores.ts';
import { UNLIMITED } from '../../support/stop-rules.ts';

export const WORKER_URL = new URL('../../../dist/pglite-worker.js', import.meta.url);

export type Sql = (text: string, params?: readonly SqlValue[]) => Promise<Record<string, unknown>[]>;

interface Deployment {
  open(): Promise<RecordStore>;
  /** Plain SQL, past the store: what an operator types. */
  readonly sql: Sql;
  stop(): Promise<void>;
}

export interface Context {
  store: RecordStore;
  sql: Sql;
  /** A second client of the same database, as another instance of the daemon would have; the same one when embedded. */
  another(): Promise<RecordStore>;
}

async function postgresDeployment(): Promise<Deployment> {
  const url = await freshDatabase();
  const plain = new pg.Client({ connectionString: url });
  await plain.connect();
  return {
    open: () => openPostgresRecordStore({ url, applicationName: 'cardpoll' }),
    sql: async (text, params = []) => (await plain.query(text, [...params])).rows,
    stop: () => plain.end(),
  };
}

/** One for all files that a process runs: to compile PGlite takes seconds. */
let pglite: Promise<SqlClient> | undefined;

async function embeddedDeployment(): Promise<Deployment> {
  pglite ??= openPglite(WORKER_URL, ':memory:');
  const client = await pglite;
  const shared = { ...client, close: async () => {} };
  return {
    open: async () => sqlRecordStore('embedded', shared),
    // With the names of the columns, as the other one has them.
    sql: async (text, params) => snakeKeys(await client.query(text, params)) as Record<string, unknown>[],
    async stop() {
      await client.query('DROP SCHEMA public CASCADE');
      await client.query('CREATE SCHEMA public');
    },
  };
}

export const DEPLOYMENTS = [
  ['PostgreSQL', postgresDeployment],
  ['PGlite', embeddedDeployment],
] as const;

/** For what is the same SQL on both: npm test has it on PostgreSQL, `npm run test:long` on both. */
export function describeRecordStore(concern: string, suite: (context: Context) => void): void {
  describeOn(IS_LONG ? DEPLOYMENTS : DEPLOYMENTS.slice(0, 1), concern, suite);
}

/** For what depends on the driver or the session: values on their way, times, sequence of transactions. */
export function describeBothRecordStores(concern: string, suite: (context: Context) => void): void {
  describeOn(DEPLOYMENTS, concern, suite);
}

function describeOn(
  deployments: ReadonlyArray<(typeof DEPLOYMENTS)[number]>,
  concern: string,
  suite: (context: Context) => void,
): void {
  describe.each(deployments)(`${concern}: %s`, (_, deploy) => {
    let deployment: Deployment;
    const opened: RecordStore[] = [];
    const another = async (): Promise<RecordStore> => {
      const store = await deployment.open();
      opened.push(store);
      return store;
    };
    const context = { another } as Context;
    beforeAll(async () => {
      deployment = await deploy();
      context.sql = deployment.sql;
      const store = await deployment.open();
      await store.migrations.up();
      await store.results.ensurePartitions('2026-09');
      await store.close();
    });
    afterAll(() => deployment.stop());
    beforeEach(async () => {
      for (const table of [
        'cards',
        'card_removals',
        'card_polls',
        'card_usage',
        'usage_records',
        'card_stops',
        'cards_over_running',
        'cards_stopped_within',
        'resume_runs',
        'stop_control',
        'manual_trigger_cards',
        'manual_triggers',
      ]) {
        await deployment.sql(`DELETE FROM ${table}`);
      }
      await deployment.sql('INSERT INTO stop_control DEFAULT VALUES');
      context.store = await another();
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((store) => store.close()));
    });
    suite(context);
  });
}

export function iccidOf(cardId: number): string {
  return `8986${String(cardId).padStart(16, '0')}`;
}

/** The card and its first SIM. */
export function sim(cardId: number, iccid = iccidOf(cardId)): NamedCard {
  return { cardId, iccid, vendorId: null };
}

export function row(cardId: number, fields: Partial<CardImport> = {}): CardImport {
  return cardRow(cardId, { iccid: iccidOf(cardId), allowanceMb: 1024, ...fields });
}

export async function addCards(store: RecordStore, ...cardIds: number[]): Promise<void> {
  await store.cards.importChunk(cardIds.map((cardId) => row(cardId)));
}

/** A reading of `usedMb` at `atMs`, computed from the state read at `basedOn`. */
export function reading(
  cardId: number,
  {
    month = '2026-11',
    usedMb,
    atMs,
    basedOn,
    jump = null,
  }: {
    month?: string;
    usedMb: number;
    atMs: number;
    basedOn: number | null;
    jump?: UsageMonth['jump'];
  },
): PollOutcome {
  const next = { month, usedMb, lastReadingMb: usedMb, suspectedMb: null, jump, readAtMs: atMs };
  return { cardId, taskType: 'carddata', polledAtMs: atMs, usage: { next, basedOnReadAtMs: basedOn } };
}

/** Follows the changes since `mark` to their end, as the incremental sync does. */
export async function followChanges(store: RecordStore, mark: string, limit = 1_000) {
  const changed: number[] = [];
  const removed: number[] = [];
  let page: CardChanges = { changed: [], removed: [], mark, caughtUp: false };
  do {
    page = await store.cards.changesSince(page.mark, limit);
    changed.push(...page.changed.map((card) => card.cardId));
    removed.push(...page.removed);
  } while (!page.caughtUp);
  return { changed: changed.sort(ascending), removed: removed.sort(ascending), mark: page.mark };
}

export function ascending(a: number, b: number): number {
  return a - b;
}

export function range(count: number, from = 1): number[] {
  return Array.from({ length: count }, (_, i) => from + i);
}

/** @returns the cards whose stops a reading would order in this month. Nothing is written. */
export async function wantedStops(store: RecordStore, cardIds: readonly number[], month: string) {
  let wanted: number[] = [];
  const undone = new Error('undone');
  const look = store.inTurn(async ({ orders }) => {
    const found = await orders.want(cardIds, month, UNLIMITED, () => true);
    wanted = found.filter(({ state }) => state === 'ordered').map(({ cardId }) => cardId);
    throw undone;
  });
  await look.catch((error: unknown) => {
    if (error !== undone) throw error;
  });
  return wanted.sort((a, b) => a - b);
}

/** Takes orders of a kind. @returns the cards of those that were due. */
export async function takenOrders(store: RecordStore, kind: 'stop' | 'resume', most = 10) {
  const turn = {
    most,
    resumesFirst: 0,
    stops: kind === 'stop',
    resumes: kind === 'resume',
    mode: 'enforce' as const,
  };
  return (await store.orders.take(turn, 60_000)).map(({ cardId }) => cardId);
}
