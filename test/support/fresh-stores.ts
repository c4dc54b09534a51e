// Empty stores for one test file. See global-setup.ts for which to use when.
import { inject } from 'vitest';
import { createDatabase, query } from './postgres-server.ts';
import { type RedisOptions, type RedisServer, startRedis } from './redis-server.ts';

const redisServers: RedisServer[] = [];

/**
 * The URL of a new database on the run's PostgreSQL with all migrations and without cards, a fleet of its own. It goes with the
 * server at the end of the run.
 */
export async function freshDatabase(): Promise<string> {
  const url = await createDatabase(inject('postgresUrl'), inject('migratedDatabase'));
  await query(url, 'UPDATE fleet SET fleet_id = gen_random_uuid(), name = current_database()');
  return url;
}

/** As freshDatabase(), without migrations. */
export function emptyDatabase(): Promise<string> {
  return createDatabase(inject('postgresUrl'));
}

/** An empty Redis of one's own, stopped at the end of the test file (after-each-file.ts). */
export async function freshRedis(options?: RedisOptions): Promise<RedisServer> {
  const server = await startRedis(options);
  redisServers.push(server);
  return server;
}

export async function stopFreshStores(): Promise<void> {
  await Promise.all(redisServers.splice(0).map((server) => server.stop()));
}
