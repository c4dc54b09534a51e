// PostgreSQL behind an address that leads to a server without writes: a standby after a failover, or a primary that was
// set to read only. The pool must find the new primary by itself, however busy it is.
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RecordStore } from '../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../../src/store/postgres/record-store.ts';
import { BreakableLink } from '../../support/breakable-link.ts';
import { freePort } from '../../support/free-port.ts';
import { type PostgresServer, query, standbyOf, startPostgres } from '../../support/postgres-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { addCards, range } from './stores.ts';

const CONNECTIONS = 4;
const READ_ONLY = { kind: 'unavailable', code: 'postgres_read_only' };

describe('a PostgreSQL failover', () => {
  let primary: PostgresServer;
  let standby: PostgresServer;
  let url: string;
  let link: BreakableLink;
  let store: RecordStore;

  beforeAll(async () => {
    primary = await startPostgres();
    url = await primary.createDatabase();
    const direct = await openPostgresRecordStore({ url, applicationName: 'cardpoll' });
    await direct.migrations.up();
    await addCards(direct, 1, 2, 3);
    await direct.close();
    standby = await standbyOf(primary, await freePort());
    await standby.start();
  });
  afterAll(() => Promise.all([primary.stop(), standby.stop()]));

  beforeEach(async () => {
    link = await BreakableLink.to(primary.port);
    store = await openPostgresRecordStore({
      url: link.around(url),
      applicationName: 'cardpoll',
      maxConnections: CONNECTIONS,
    });
    return async () => {
      await store.close();
      await link.close();
    };
  });

  const write = () => store.results.write([{ cardId: 1, taskType: 'realname', polledAtMs: 1 }]);
  /** All connections of the pool at once. */
  const everywhere = <T>(call: () => Promise<T>) => Promise.allSettled(range(CONNECTIONS).map(call));

  async function setReadOnly(server: PostgresServer, setting: 'on' | 'off'): Promise<void> {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(`ALTER SYSTEM SET default_transaction_read_only = ${setting}`);
    await client.query('SELECT pg_reload_conf()');
    await waitFor(
      async () =>
        (await client.query('SHOW default_transaction_read_only')).rows[0].default_transaction_read_only ===
        setting,
      { what: `default_transaction_read_only = ${setting}` },
    );
    await client.end();
  }

  it('a standby is refused, by name, and the next call finds the primary', async () => {
    link.leadTo(standby.port);
    const error = await store.ping().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(READ_ONLY);
    expect(String(error)).toContain(
      `127.0.0.1:${link.port} takes no writes: it is a standby, or set to read only`,
    );
    await expect(write()).rejects.toMatchObject(READ_ONLY);
    await expect(store.migrations.up()).rejects.toMatchObject(READ_ONLY);
    link.leadTo(primary.port);
    expect(await write()).toMatchObject({ staleUsage: [] });
  });

  it('connections of a server that takes no writes any more are given up, also those that only read', async () => {
    await everywhere(() => store.ping());
    await setReadOnly(primary, 'on');
    try {
      await expect(write()).rejects.toMatchObject(READ_ONLY);
      // Every connection asks again, and the server refuses.
      for (const { status } of await everywhere(() => store.configs.list())) expect(status).toBe('rejected');
    } finally {
      await setReadOnly(primary, 'off');
    }
    expect(await write()).toMatchObject({ staleUsage: [] });
  });

  it('a pool that is never idle leaves the old server when the address leads to the new one', async () => {
    await everywhere(() => store.ping());
    await setReadOnly(primary, 'on');
    try {
      await everywhere(write);
      await query(standby.url, 'SELECT pg_promote()');
      link.leadTo(standby.port);
      for (const { status } of await everywhere(write)) expect(status).toBe('fulfilled');
    } finally {
      await setReadOnly(primary, 'off');
    }
  });
});
