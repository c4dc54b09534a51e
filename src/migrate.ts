// The composition root of `cardpoll migrate`: the record store alone. Called by main.ts.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { MigrateAction, MigrateResult } from './cli/launchers.ts';
import type { MigrateConfig } from './config/daemon-config.ts';
import { openPostgresRecordStore } from './store/postgres/record-store.ts';
import { MIGRATIONS } from './store/sql/migrations/migration-list.ts';
import { APPLICATION_NAME } from './store/sql/sql-record-store.ts';
import { openEmbedded } from './stores.ts';

/** `cardpoll migrate`: opens the record store alone. @returns every migration, and the ids applied now. */
export async function runMigrate(
  config: MigrateConfig,
  action: MigrateAction,
  onBegin: (id: string) => void,
): Promise<MigrateResult> {
  const { database } = config;
  // Opening an embedded database would create it, which a query must not do.
  if (
    action === 'status' &&
    database.kind === 'embedded' &&
    !existsSync(join(database.dataDir, 'PG_VERSION'))
  ) {
    return { applied: [], migrations: MIGRATIONS.map(({ id }) => ({ id, appliedAtMs: null, newer: false })) };
  }
  const records =
    database.kind === 'postgres'
      ? await openPostgresRecordStore({
          url: database.databaseUrl,
          applicationName: APPLICATION_NAME,
          readsOnly: action === 'status',
        })
      : await openEmbedded(database.dataDir);
  try {
    const applied = action === 'up' ? await records.migrations.up(onBegin) : [];
    return { applied, migrations: await records.migrations.status() };
  } finally {
    await records.close();
  }
}
