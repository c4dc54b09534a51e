import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordStore } from '../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore, PostgresClient } from '../../../src/store/postgres/record-store.ts';
import { freshDatabase } from '../../support/fresh-stores.ts';
import { waitFor } from '../../support/wait-for.ts';

const CARD = 1;

let other: PostgresClient;
let store: RecordStore;

beforeAll(async () => {
  const url = await freshDatabase();
  other = new PostgresClient({ url, applicationName: 'other', maxConnections: 2 });
  store = await openPostgresRecordStore({ url, applicationName: 'cardpoll', maxConnections: 6 });
});
afterAll(async () => {
  await store.close();
  await other.close();
});

/** Calls `meanwhile` while another session keeps a table to itself. */
async function whileLocked(table: string, meanwhile: () => Promise<void>): Promise<void> {
  await other.transaction(async (tx) => {
    await tx.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    await meanwhile();
  });
}

/** Resolves when so many connections wait for a lock. */
async function waiting(count: number): Promise<void> {
  const text = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'cardpoll' AND wait_event_type = 'Lock'
    AND datname = current_database()`;
  await waitFor(async () => (await other.query<{ n: number }>(text))[0]?.n === count);
}

describe('while statements wait for a locked table', () => {
  it.each([
    ['cards', (records: RecordStore) => records.cards.byIds([CARD])],
    ['card_stops', (records: RecordStore) => records.stops.unconfirmed()],
  ])('%s, the configs, the alerts and the state of the server can be read', async (table, read) => {
    const blocked: Array<Promise<unknown>> = [];
    await whileLocked(table, async () => {
      blocked.push(...Array.from({ length: 20 }, () => read(store)));
      await waiting(4);
      await store.configs.list();
      await store.alerts.toEvaluate();
      await store.now();
      expect(await store.lockHolders()).toEqual([
        expect.objectContaining({
          table,
          ofSchedule: true,
          isWaiting: false,
          isOwn: false,
          waitedMs: expect.any(Number),
        }),
      ]);
    });
    await Promise.allSettled(blocked);
  });

  it('requests have fewer connections, and still say which session blocks them', async () => {
    const requests = store.bounded(3);
    const blocked: Array<Promise<unknown>> = [];
    await whileLocked('cards', async () => {
      blocked.push(...Array.from({ length: 20 }, () => requests.cards.byIds([CARD])));
      await waiting(2);
      expect(await requests.lockHolders()).toMatchObject([{ table: 'cards' }]);
      // The other two places are free.
      await store.cleanup.configs();
    });
    await Promise.allSettled(blocked);
  });
});
