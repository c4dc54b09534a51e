// Runs once before all tests (test/vitest.config.ts): finds or installs the real servers, then starts one PostgreSQL for
// the run and gives its URL to the tests as inject('postgresUrl').
//
// What a test uses:
// - PostgreSQL: freshDatabase(), a new database on the shared server (starting a server costs 1-2 s).
// - Redis: freshRedis(), a server of its own (50 ms), because key names carry no prefix and two files run at the same
//   time. There is no shared one.
// - Tests that stop, kill or freeze a server always start their own.
//
// It ends at teardown; when the run is killed instead, the kernel ends it (owned-process.ts).
import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres-server.ts';
import { provision } from './provision.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  provision();
  // Many fleets at a time share it, each daemon with a pool of its own.
  const postgres = await startPostgres({ args: ['-c', 'max_connections=400'] });
  project.provide('postgresUrl', postgres.url);
  return () => postgres.stop();
}
