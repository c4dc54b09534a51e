// What the doctor sees of a standby whose queries keep dead rows on the primary.
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../../../src/store/postgres/record-store.ts';
import {
  type PostgresServer,
  query,
  startPostgres,
  streamingStandbyOf,
} from '../../../support/postgres-server.ts';
import { waitFor } from '../../../support/wait-for.ts';

let primary: PostgresServer;
let standby: PostgresServer;
let records: RecordStore;
beforeAll(async () => {
  primary = await startPostgres();
  records = await openPostgresRecordStore({ url: primary.url, applicationName: 'cardpoll' });
  await records.migrations.up();
  await records.close();
  standby = await streamingStandbyOf(primary);
  records = await openPostgresRecordStore({ url: primary.url, applicationName: 'cardpoll' });
});
afterAll(async () => {
  await records.close();
  await Promise.all([primary.stop(), standby.stop()]);
});

it('a query of a standby with feedback keeps dead rows: the slot is found, or the standby without one', async () => {
  await standbySettings({ hot_standby_feedback: 'on', wal_receiver_status_interval: '1s' });
  const reader = new pg.Client({ connectionString: standby.url });
  await reader.connect();
  try {
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM pg_class');
    const kinds = async () => (await records.server()).snapshots.map(({ kind }) => kind);
    await waitFor(async () => (await kinds()).includes('standby'));
    await query(primary.url, `SELECT pg_create_physical_replication_slot('of_standby')`);
    await standbySettings({ primary_slot_name: 'of_standby' });
    await waitFor(async () => (await kinds()).includes('slot'));
    const { snapshots } = await records.server();
    expect(snapshots).toContainEqual({
      kind: 'slot',
      name: 'of_standby',
      openMs: null,
      transactions: expect.any(Number),
      remedy: null,
    });
    await reader.end();
    await standby.stop();
    await waitFor(async () =>
      (await records.server()).snapshots.some(
        ({ remedy }) => remedy === `SELECT pg_drop_replication_slot('of_standby')`,
      ),
    );
  } finally {
    await reader.end();
  }
});

async function standbySettings(settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(settings)) {
    await query(standby.url, `ALTER SYSTEM SET ${name} = '${value}'`);
  }
  await query(standby.url, 'SELECT pg_reload_conf()');
}
