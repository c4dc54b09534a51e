// Runs one suite on every implementation of the live store: Redis standalone and Redis Cluster, as the user that
// docs/security.md describes, and embedded. Every test gets an empty store. Also the few moves many suites share.
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe } from 'vitest';
import type { TaskType } from '../../../src/domain/task-type.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import type { LiveStore } from '../../../src/store/ports/live/live-store.ts';
import type { RingState } from '../../../src/store/ports/live/rings.ts';
import type { Claim, Settlement, WorkItem } from '../../../src/store/ports/live/work-queue.ts';
import { openRedisLiveStore } from '../../../src/store/redis/live-store.ts';
import { setLimits } from '../../support/limits.ts';
import { startRedis } from '../../support/redis-server.ts';
import { startRedisCluster } from '../../support/redis-topologies.ts';
import { asDocumentedUser } from '../../support/redis-user.ts';
import { openPacedLiveStore } from '../../support/virtual-pace.ts';
import { waitFor } from '../../support/wait-for.ts';

interface Deployment {
  /** A further client of the same store; closed after the test. */
  open(): Promise<LiveStore>;
  /** Makes the store empty. */
  empty(): Promise<void>;
  stop(): Promise<void>;
}

/** What a test of a suite works with. */
export interface Context {
  store: LiveStore;
  /** A second client of the same store, as another instance of the daemon would have. */
  another(): Promise<LiveStore>;
}

async function redisDeployment(): Promise<Deployment> {
  const server = await startRedis();
  return onServers(server.url, [server.url], () => server.stop());
}

async function clusterDeployment(): Promise<Deployment> {
  const cluster = await startRedisCluster();
  return onServers(cluster.url, cluster.urls, () => cluster.stop());
}

async function onServers(
  all: string,
  each: readonly string[],
  end: () => Promise<void>,
): Promise<Deployment> {
  const url = await asDocumentedUser(all, each);
  const admins = each.map((one) => new Redis(one));
  return {
    open: () => openRedisLiveStore({ url }),
    empty: async () => void (await Promise.all(admins.map((admin) => admin.flushall()))),
    async stop() {
      for (const admin of admins) admin.disconnect();
      await end();
    },
  };
}

async function embeddedDeployment(): Promise<Deployment> {
  let store = openPacedLiveStore({ clock: systemClock });
  return {
    open: async () => store,
    empty: async () => {
      store = openPacedLiveStore({ clock: systemClock });
    },
    stop: async () => {},
  };
}

type Deploy = () => Promise<Deployment>;

const ON_SERVERS: Readonly<Record<string, Deploy>> = {
  Redis: redisDeployment,
  'Redis Cluster': clusterDeployment,
};

export function describeLiveStore(concern: string, suite: (context: Context) => void): void {
  describeOn({ ...ON_SERVERS, embedded: embeddedDeployment }, concern, suite);
}

/** For what the embedded store has no need of. */
export function describeRedisLiveStore(concern: string, suite: (context: Context) => void): void {
  describeOn(ON_SERVERS, concern, suite);
}

function describeOn(
  deployments: Readonly<Record<string, Deploy>>,
  concern: string,
  suite: (context: Context) => void,
): void {
  describe.each(Object.entries(deployments))(`${concern}: %s`, (_, deploy) => {
    let deployment: Deployment;
    const opened: LiveStore[] = [];
    const another = async (): Promise<LiveStore> => {
      const store = await deployment.open();
      opened.push(store);
      return store;
    };
    const context: Context = { store: undefined as unknown as LiveStore, another };
    beforeAll(async () => {
      deployment = await deploy();
    });
    afterAll(() => deployment.stop());
    beforeEach(async () => {
      await deployment.empty();
      context.store = await another();
      await setLimits(context.store.work);
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((store) => store.close()));
    });
    suite(context);
  });
}

export const REALNAME: TaskType = 'realname';
export const NO_BACKOFF = { baseMs: 0, capMs: 0 };

export function range(count: number, from = 1): number[] {
  return Array.from({ length: count }, (_, i) => from + i);
}

/** Puts cards into the queue the only way there is, through a ring, with limits in force so that they can be claimed. */
export async function queueCards(store: LiveStore, cardIds: readonly number[]): Promise<void> {
  await setLimits(store.work);
  const ring = { configId: 999, taskType: REALNAME };
  await store.rings.configure(ring, { intervalMs: 64, enabled: true });
  await store.rings.startGeneration(ring, 64);
  await store.rings.add(ring, cardIds);
  let moved = 0;
  await waitFor(
    async () => {
      moved += (await store.rings.advance(ring, { maxBuckets: 64, queueCap: 1e6, fence: 1 })).moved;
      return moved === cardIds.length;
    },
    { what: 'all cards to be queued' },
  );
  await store.rings.drop(ring);
}

/** The ring of a store that has one. */
export async function onlyRing(store: LiveStore): Promise<RingState> {
  return (await store.rings.list())[0] as RingState;
}

let claims = 0;

/** A new claim, by default with a long lease. */
export function claim(
  store: LiveStore,
  max: number,
  { leaseMs = 600_000, instanceId = 'worker-1' }: { leaseMs?: number; instanceId?: string } = {},
): Promise<Claim> {
  claims += 1;
  return store.work.claim(REALNAME, { instanceId, claimNumber: claims, max, leaseMs });
}

export function settle(
  store: LiveStore,
  items: readonly WorkItem[],
  verdict: Settlement['verdict'],
  backoff = NO_BACKOFF,
): Promise<{ fenced: number }> {
  const settlements = items.map((item) => ({ item, verdict, random: 0.5 }));
  return store.work.settle(REALNAME, settlements, backoff);
}

export function cardIdsOf(items: readonly WorkItem[]): number[] {
  return items.map((item) => item.cardId).sort((a, b) => a - b);
}

/** Waits until no slot is live any more: every lease ran out. */
export async function leasesToExpire(store: LiveStore): Promise<void> {
  await waitFor(async () => (await store.work.counts(REALNAME)).inFlight === 0, { what: 'leases to expire' });
}
