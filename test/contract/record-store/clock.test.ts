import pg from 'pg';
import { expect, it } from 'vitest';
import { openPostgresRecordStore } from '../../../src/store/postgres/record-store.ts';
import { emptyDatabase } from '../../support/fresh-stores.ts';
import { describeBothRecordStores } from './stores.ts';

describeBothRecordStores('the clock', (db) => {
  it('is the database’s own, in epoch milliseconds', async () => {
    expect(Math.abs((await db.store.now()) - Date.now())).toBeLessThan(5_000);
  });
});

it('reads times of a database with another DateStyle and time zone', async () => {
  const url = await emptyDatabase();
  const operator = new pg.Client({ connectionString: url });
  await operator.connect();
  const { rows } = await operator.query('SELECT current_database() AS name');
  await operator.query(`ALTER DATABASE "${rows[0].name}" SET datestyle = 'German'`);
  await operator.query(`ALTER DATABASE "${rows[0].name}" SET timezone = 'Asia/Kolkata'`);
  await operator.end();
  const store = await openPostgresRecordStore({ url, applicationName: 'cardpoll' });
  await store.migrations.up();
  const [first] = await store.migrations.status();
  expect(Math.abs((first?.appliedAtMs ?? 0) - Date.now())).toBeLessThan(60_000);
  await store.close();
});
