// Throwaway real Redis Cluster (three masters) and Redis Sentinel (master, replica, sentinels) on free ports.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port.ts';
import { RedisServer, startRedis } from './redis-server.ts';
import { waitFor } from './wait-for.ts';

export interface RedisCluster {
  readonly nodes: readonly RedisServer[];
  readonly urls: readonly string[];
  /** `redis-cluster://127.0.0.1:p1,127.0.0.1:p2,127.0.0.1:p3` */
  readonly url: string;
  stop(): Promise<void>;
}

export interface RedisSentinel {
  readonly master: RedisServer;
  readonly replica: RedisServer;
  readonly sentinels: readonly RedisServer[];
  /** `redis-sentinel://127.0.0.1:p1,127.0.0.1:p2/mymaster` */
  readonly url: string;
  stop(): Promise<void>;
}

const SLOTS = 16_384;
const BUS_OFFSET = 10_000;
const CLUSTER_ARGS = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'];

export async function startRedisCluster(): Promise<RedisCluster> {
  const nodes: RedisServer[] = [];
  for (let index = 0; index < 3; index++) {
    nodes.push(await startRedis({ port: await freePort(BUS_OFFSET), args: CLUSTER_ARGS }));
  }
  const clients = nodes.map(commandClient);
  await Promise.all(
    clients.map((client, index) => client.cluster('ADDSLOTS', ...slotsOf(index, nodes.length))),
  );
  await Promise.all(clients.map((client, index) => client.cluster('SET-CONFIG-EPOCH', index + 1)));
  // Each meets all others: to hear of each other by gossip takes seconds.
  for (const [index, client] of clients.entries()) {
    for (const { port } of nodes.slice(0, index)) await client.cluster('MEET', '127.0.0.1', port);
  }
  await Promise.all(
    clients.map((client) =>
      waitFor(async () => isWhole(await client.cluster('INFO'), nodes.length), { what: 'cluster_state:ok' }),
    ),
  );
  for (const client of clients) client.disconnect();
  return {
    nodes,
    urls: nodes.map((node) => node.url),
    url: `redis-cluster://${addresses(nodes)}`,
    stop: () => stopAll(nodes),
  };
}

export async function startRedisSentinel(sentinelCount = 2): Promise<RedisSentinel> {
  const master = await startRedis();
  const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(master.port)] });
  const sentinels: RedisServer[] = [];
  for (let index = 0; index < sentinelCount; index++) sentinels.push(await startSentinel(master.port));
  for (const sentinel of sentinels) {
    const client = commandClient(sentinel);
    await waitFor(
      async () => isWatched(await client.call('SENTINEL', 'MASTER', 'mymaster'), sentinelCount - 1),
      { what: 'the sentinel to see the replica and the other sentinels' },
    );
    client.disconnect();
  }
  const all = [...sentinels, replica, master];
  return {
    master,
    replica,
    sentinels,
    url: `redis-sentinel://${addresses(sentinels)}/mymaster`,
    stop: () => stopAll(all),
  };
}

/** A sentinel rewrites its configuration file, so each gets its own. One vote is enough: failover in about 2 s. */
async function startSentinel(masterPort: number): Promise<RedisServer> {
  const server = new RedisServer(await freePort(), ['sentinel.conf', '--sentinel']);
  const lines = [
    `sentinel monitor mymaster 127.0.0.1 ${masterPort} 1`,
    'sentinel down-after-milliseconds mymaster 1000',
    'sentinel failover-timeout mymaster 5000',
  ];
  writeFileSync(join(server.dir, 'sentinel.conf'), `${lines.join('\n')}\n`);
  await server.start();
  return server;
}

function commandClient(server: RedisServer): Redis {
  return new Redis({ host: '127.0.0.1', port: server.port, retryStrategy: () => null });
}

function slotsOf(index: number, nodes: number): number[] {
  const first = Math.floor((index * SLOTS) / nodes);
  const end = Math.floor(((index + 1) * SLOTS) / nodes);
  return Array.from({ length: end - first }, (_, offset) => first + offset);
}

function isWhole(info: unknown, nodes: number): boolean {
  const text = String(info);
  return text.includes('cluster_state:ok') && text.includes(`cluster_known_nodes:${nodes}`);
}

/** SENTINEL MASTER answers a flat list of names and values. */
function isWatched(reply: unknown, otherSentinels: number): boolean {
  const list = reply as string[];
  const value = (name: string) => list[list.indexOf(name) + 1];
  return (
    value('num-slaves') === '1' &&
    value('num-other-sentinels') === String(otherSentinels) &&
    value('flags') === 'master'
  );
}

function addresses(servers: readonly RedisServer[]): string {
  return servers.map((server) => `127.0.0.1:${server.port}`).join(',');
}

async function stopAll(servers: readonly RedisServer[]): Promise<void> {
  await Promise.all(servers.map((server) => server.stop()));
}
