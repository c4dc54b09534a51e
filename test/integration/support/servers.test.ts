import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock, withTimeout } from '../../../src/platform/clock.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { startPostgres } from '../../support/postgres-server.ts';
import { startRedisCluster, startRedisSentinel } from '../../support/redis-topologies.ts';
import { waitFor } from '../../support/wait-for.ts';

const clients: Redis[] = [];
const connect = (url: string) => {
  const client = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0 });
  client.on('error', () => {});
  clients.push(client);
  return client;
};
afterAll(() => {
  for (const client of clients) client.disconnect();
});

async function databaseName(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('SELECT current_database() AS name');
  await client.end();
  return rows[0].name;
}

describe('the shared PostgreSQL of the run', () => {
  it('gives every caller another empty database', async () => {
    const [one, other] = await Promise.all([freshDatabase(), freshDatabase()]);
    expect(await databaseName(one)).not.toBe(await databaseName(other));
  });
});

describe('a throwaway Redis', () => {
  it('keeps its port over kill and restart, loses its data, and is gone after stop', async () => {
    const server = await freshRedis();
    await connect(server.url).set('key', 'value');
    await server.kill('SIGKILL');
    await expect(connect(server.url).ping()).rejects.toThrow();
    await server.restart();
    expect(await connect(server.url).exists('key')).toBe(0);
    await server.stop();
    await expect(connect(server.url).ping()).rejects.toThrow();
  });

  it('answers nothing while paused', async () => {
    const server = await freshRedis();
    const client = connect(server.url);
    await client.ping();
    server.pause();
    const answer = client.ping();
    expect(await withTimeout(200, answer, systemClock)).toBe(false);
    server.resume();
    expect(await answer).toBe('PONG');
  });

  it('runs noeviction and persists nothing, unless asked', async () => {
    const plain = connect((await freshRedis()).url);
    expect(await plain.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
    expect(await plain.config('GET', 'save')).toEqual(['save', '']);
    const kept = await freshRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
    await connect(kept.url).set('key', 'value');
    await kept.restart();
    expect(await connect(kept.url).get('key')).toBe('value');
  });
});

describe('a throwaway PostgreSQL', () => {
  it('keeps its data over kill -9 and restart', async () => {
    const server = await startPostgres();
    const url = await server.createDatabase();
    const before = await databaseName(url);
    await server.kill('SIGKILL');
    await expect(databaseName(url)).rejects.toThrow();
    await server.restart();
    expect(await databaseName(url)).toBe(before);
    await server.stop();
  });
});

describe('throwaway topologies', () => {
  it('a cluster of three masters serves every slot', async () => {
    const cluster = await startRedisCluster();
    const info = await connect(cluster.urls[0] ?? '').cluster('INFO');
    expect(info).toContain('cluster_slots_ok:16384');
    expect(info).toContain('cluster_size:3');
    await cluster.stop();
  });

  it('sentinels agree on the master and move it when it dies', async () => {
    const { master, replica, sentinels, stop } = await startRedisSentinel();
    const sentinel = connect(sentinels[0]?.url ?? '');
    const address = async () => sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'mymaster');
    expect(await address()).toEqual(['127.0.0.1', String(master.port)]);
    await master.kill('SIGKILL');
    await waitFor(async () => ((await address()) as string[])[1] === String(replica.port), {
      what: 'the replica to be promoted',
    });
    await stop();
  });
});
