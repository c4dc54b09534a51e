// PostgreSQL behind a pooler: PgBouncer in session mode does, one that shares connections between transactions is refused.
import { afterAll, describe, expect, it } from 'vitest';
import type { RecordStore } from '../../../src/store/ports/records/record-store.ts';
import { PostgresClient } from '../../../src/store/postgres/pool.ts';
import { openPostgresRecordStore } from '../../../src/store/postgres/record-store.ts';
import { emptyDatabase } from '../../support/fresh-stores.ts';
import { startPooler } from '../../support/pooler.ts';
import { runCli } from '../../support/processes.ts';
import { addCards, range } from './stores.ts';

const opened: Array<{ close(): Promise<void> }> = [];
afterAll(async () => {
  for (const one of opened) await one.close();
});

async function storeBehind(mode: 'session' | 'transaction'): Promise<{ store: RecordStore; url: string }> {
  const pooler = await startPooler(await emptyDatabase(), mode);
  const store = await openPostgresRecordStore({ url: pooler.url, applicationName: 'cardpoll' });
  opened.push(store, { close: () => pooler.server.stop() });
  return { store, url: pooler.url };
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

  it('in transaction mode every call is refused, and says why', async () => {
    const { store } = await storeBehind('transaction');
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
