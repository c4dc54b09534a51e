// Runs once before all tests (test/vitest.config.ts): finds or installs the real servers, then starts one Redis and one
// PostgreSQL for the run and gives their URLs to the tests as inject('redisUrl') and inject('postgresUrl').
//
// What a test uses:
// - PostgreSQL: freshDatabase(), a new database on the shared server (starting a server costs 1-2 s).
// - Redis: freshRedis(), an own server (50 ms), because key names carry no prefix and two files run at the same time.
//   The shared Redis is for tests that leave no key behind: connecting, refusing a version, a doctor's look.
// - Tests that stop, kill or freeze a server always start their own.
//
// Both end at teardown; when the run is killed instead, the kernel ends them (owned-process.ts).
import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres-server.ts';
import { provision } from './provision.ts';
import { startRedis } from './redis-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    redisUrl: string;
    postgresUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  provision();
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  project.provide('redisUrl', redis.url);
  project.provide('postgresUrl', postgres.url);
  return async () => {
    await Promise.all([redis.stop(), postgres.stop()]);
  };
}
