// Runs once before all tests (test/vitest.config.ts): finds or installs the real servers, then starts one PostgreSQL for
// the run and gives its URL to the tests as inject('postgresUrl'), with the name of a migrated database to copy.
//
// What a test uses:
// - PostgreSQL: freshDatabase(), a new database on the shared server (starting a server costs 1-2 s, migrating a database
//   half a second).
// - Redis: freshRedis(), a server of its own (50 ms), because key names carry no prefix and two files run at the same
//   time. There is no shared one.
// - Tests that stop, kill or freeze a server always start their own.
//
// It ends at teardown; when the run is killed instead, the kernel ends it (owned-process.ts).
import type { TestProject } from 'vitest/node';
import { openPostgresRecordStore } from '../../src/store/postgres/record-store.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { provision } from './provision.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string;
    migratedDatabase: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  provision();
  // Many fleets at a time share it, each daemon with a pool of its own.
  const postgres = await startPostgres({ args: ['-c', 'max_connections=400'] });
  project.provide('postgresUrl', postgres.url);
  project.provide('migratedDatabase', await migratedDatabase(postgres));
  return () => postgres.stop();
}

/** @returns its name */
async function migratedDatabase(postgres: PostgresServer): Promise<string> {
  const url = await postgres.createDatabase();
  const records = await openPostgresRecordStore({ url, applicationName: 'cardpoll-test' });
  await records.migrations.up();
  await records.close();
  return new URL(url).pathname.slice(1);
}
