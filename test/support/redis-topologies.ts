// Throwaway real Redis Cluster (three masters) and Redis Sentinel (master, replica, sentinels) on free ports.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { ServerTls } from './certificates.ts';
import { freePort } from './free-port.ts';
import { RedisServer, startRedis, tlsArguments } from './redis-server.ts';
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
const CLUSTER_TLS_ARGS = ['--tls-cluster', 'yes', '--cluster-announce-hostname', 'localhost'].concat([
  '--cluster-preferred-endpoint-type',
  'hostname',
]);

/** @param tls the URL is one over TLS then, by the name `localhost` */
export async function startRedisCluster(tls?: ServerTls): Promise<RedisCluster> {
  const nodes: RedisServer[] = [];
  for (let index = 0; index < 3; index++) {
    const port = await freePort(BUS_OFFSET);
    const overTls = tls === undefined ? { port } : { tls, tlsPort: port };
    const args = tls === undefined ? CLUSTER_ARGS : [...CLUSTER_ARGS, ...CLUSTER_TLS_ARGS];
    nodes.push(await startRedis({ ...overTls, args }));
  }
  const clients = nodes.map((node) => commandClient(node));
  await Promise.all(
    clients.map((client, index) => client.cluster('ADDSLOTS', ...slotsOf(index, nodes.length))),
  );
  await Promise.all(clients.map((client, index) => client.cluster('SET-CONFIG-EPOCH', index + 1)));
  // Each meets all others: to hear of each other by gossip takes seconds.
  for (const [index, client] of clients.entries()) {
    for (const { port, tlsPort } of nodes.slice(0, index)) {
      await client.cluster('MEET', '127.0.0.1', tlsPort ?? port);
    }
  }
  await Promise.all(
    clients.map((client) =>
      waitFor(async () => isWhole(await client.cluster('INFO'), nodes.length), { what: 'cluster_state:ok' }),
    ),
  );
  // Until a node has heard the name of another one, it tells clients of a server without one.
  const namesOf = async (client: Redis) => `${await client.cluster('NODES')}`.split(',localhost').length - 1;
  if (tls !== undefined) {
    await Promise.all(
      clients.map((client) =>
        waitFor(async () => (await namesOf(client)) === nodes.length, { what: 'the names of all nodes' }),
      ),
    );
  }
  for (const client of clients) client.disconnect();
  return {
    nodes,
    urls: nodes.map((node) => node.url),
    url: `${tls === undefined ? 'redis' : 'rediss'}-cluster://${addresses(nodes, tls === undefined ? '127.0.0.1' : 'localhost')}`,
    stop: () => stopAll(nodes),
  };
}

/** A node that follows this master. It goes with the test file, or by its stop(). */
export async function addReplica(
  { nodes }: Pick<RedisCluster, 'nodes'>,
  master: RedisServer,
): Promise<RedisServer> {
  const replica = await startRedis({ port: await freePort(BUS_OFFSET), args: CLUSTER_ARGS });
  const [client, ofMaster] = [commandClient(replica), commandClient(master)];
  const id = await ofMaster.cluster('MYID');
  for (const { port } of nodes) await client.cluster('MEET', '127.0.0.1', port);
  await waitFor(async () => (await client.cluster('REPLICATE', String(id))) === 'OK', {
    what: 'the replica to know its master',
  });
  await waitFor(async () => /master_link_status:up/.test(await client.info('replication')), {
    what: 'the replica to follow',
  });
  client.disconnect();
  ofMaster.disconnect();
  return replica;
}

/** @param secured the URL is one over TLS then, and the sentinels have a password */
export async function startRedisSentinel(
  sentinelCount = 2,
  secured?: { readonly tls: ServerTls; readonly password: string },
): Promise<RedisSentinel> {
  const tls = secured === undefined ? {} : { tls: secured.tls };
  const master = await startRedis(tls);
  const masterPort = String(master.tlsPort ?? master.port);
  const replica = await startRedis({ ...tls, args: ['--replicaof', '127.0.0.1', masterPort] });
  const sentinels: RedisServer[] = [];
  for (let index = 0; index < sentinelCount; index++) {
    sentinels.push(await startSentinel(masterPort, secured));
  }
  for (const sentinel of sentinels) {
    const client = commandClient(sentinel, secured?.password);
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
    url: `${secured === undefined ? 'redis' : 'rediss'}-sentinel://${addresses(sentinels)}/mymaster`,
    stop: () => stopAll(all),
  };
}

/** A sentinel rewrites its configuration file, so each gets its own. One vote is enough: failover in about 2 s. */
async function startSentinel(
  masterPort: string,
  secured?: { readonly tls: ServerTls; readonly password: string },
): Promise<RedisServer> {
  const tlsPort = secured === undefined ? undefined : await freePort();
  const tls = secured === undefined ? [] : tlsArguments(secured.tls, tlsPort);
  const server = new RedisServer(await freePort(), ['sentinel.conf', '--sentinel', ...tls], tlsPort);
  const lines = [
    `sentinel monitor mymaster 127.0.0.1 ${masterPort} 1`,
    'sentinel down-after-milliseconds mymaster 1000',
    'sentinel failover-timeout mymaster 5000',
    ...(secured === undefined
      ? []
      : [`requirepass ${secured.password}`, `sentinel sentinel-pass ${secured.password}`]),
  ];
  writeFileSync(join(server.dir, 'sentinel.conf'), `${lines.join('\n')}\n`);
  await server.start();
  return server;
}

function commandClient(server: RedisServer, password?: string): Redis {
  const credentials = password === undefined ? {} : { password };
  return new Redis({ host: '127.0.0.1', port: server.port, retryStrategy: () => null, ...credentials });
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

function addresses(servers: readonly RedisServer[], host = '127.0.0.1'): string {
  return servers.map(({ port, tlsPort }) => `${host}:${tlsPort ?? port}`).join(',');
}

async function stopAll(servers: readonly RedisServer[]): Promise<void> {
  await Promise.all(servers.map((server) => server.stop()));
}
