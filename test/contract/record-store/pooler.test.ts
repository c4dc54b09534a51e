// PostgreSQL behind a pooler: PgBouncer in session mode does, one that shares connections between transactions is refused.
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import type { RecordStore } from '../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore, PostgresClient } from '../../../src/store/postgres/record-store.ts';
import { emptyDatabase } from '../../support/fresh-stores.ts';
import { startPooler } from '../../support/pooler.ts';
import { runCli } from '../../support/processes.ts';
import { addCards, range } from './stores.ts';

const opened: Array<{ close(): Promise<void> }> = [];
afterAll(async () => {
  // A pooler ends when its clients have.
  for (const one of opened.reverse()) await one.close();
});

async function storeBehind(
  mode: 'session' | 'transaction',
  inTurn = false,
): Promise<{ store: RecordStore; url: string }> {
  const pooler = await startPooler(await emptyDatabase(), mode, inTurn);
  const store = await openPostgresRecordStore({ url: pooler.url, applicationName: 'cardpoll' });
  opened.push({ close: () => pooler.server.stop() }, store);
  return { store, url: pooler.url };
}

/** Leaves the pooler with two idle connections to the server. */
async function lendTwo(url: string): Promise<void> {
  const clients = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
  for (const client of clients) {
    await client.connect();
    await client.query('BEGIN');
  }
  for (const client of clients) {
    await client.query('ROLLBACK');
    await client.end();
  }
}

describe('behind PgBouncer', () => {
  it('in session mode everything works, and every wait is bounded as without it', async () => {
    const { store, url } = await storeBehind('session');
    await store.migrations.up();
    await addCards(store, ...range(10));
    expect(await Promise.all(range(10).map(() => store.cards.count()))).toEqual(range(10).map(() => 10));
    const client = new PostgresClient({ url, applicationName: 'cardpoll', maxConnections: 2 });
    opened.push(client);
    expect(
      await client.query(`SELECT name, setting FROM pg_settings WHERE name IN
        ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'jit') ORDER BY name`),
    ).toEqual([
      { name: 'idle_in_transaction_session_timeout', setting: '30000' },
      { name: 'jit', setting: 'off' },
      { name: 'lock_timeout', setting: '10000' },
      { name: 'statement_timeout', setting: '30000' },
    ]);
  });

  it.each([
    ['the connection that was used last', false],
    ['each connection in turn', true],
  ])('in transaction mode, with %s, every call is refused, and says why', async (_, inTurn) => {
    const { store, url } = await storeBehind('transaction', inTurn);
    await lendTwo(url);
    for (const call of [() => store.migrations.status(), () => store.cards.count()]) {
      await expect(call()).rejects.toMatchObject({
        kind: 'config',
        code: 'transaction_pooling',
        message: expect.stringContaining('connections that a pooler shares between transactions'),
        hint: expect.stringContaining('pool_mode = session'),
      });
    }
  });

  it('in transaction mode a command ends with 78', async () => {
    const { url } = await storeBehind('transaction');
    const { code, stderr } = await runCli(['migrate', 'up', '--database-url', url]);
    expect(code).toBe(78);
    expect(stderr).toContain('pool_mode = session');
  });
});
