// The fleet, leases, live instances and the progress of initialisation in Redis.
import type { Fleet } from '../../../domain/fleet.ts';
import { TASK_TYPES } from '../../../domain/task-type.ts';
import { camelKeys, snakeKeys } from '../../../platform/snake-keys.ts';
import type {
  Coordination,
  InitProgress,
  InitStatus,
  InstanceInfo,
  Reconciliation,
} from '../../ports/live/coordination.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';
import { packReconciliation, unpackReconciliation } from '../schedule/packed-reconciliation.ts';

export class RedisCoordination implements Coordination {
  constructor(
    private readonly client: RedisClient,
    private readonly keys: Keys,
  ) {}

  async lead(lease: string, holder: string, ttlMs: number): Promise<number | null> {
    const fence = await this.client.script('leaseTake', [this.keys.lease(lease)], [holder, ttlMs]);
    return fence === null ? null : Number(fence);
  }

  async resign(lease: string, holder: string): Promise<void> {
    await this.client.script('leaseResign', [this.keys.lease(lease)], [holder]);
  }

  fleet(): Promise<Fleet | null> {
    return readFleet(this.client, this.keys);
  }

  claimFleet(fleet: Fleet): Promise<Fleet> {
    return claimFleet(this.client, this.keys, fleet);
  }

  forgetFleet(): Promise<void> {
    return forgetFleet(this.client, this.keys);
  }

  async heartbeat(instance: InstanceInfo, ttlMs: number): Promise<void> {
    const args = [instance.instanceId, ttlMs, packInstance(instance)];
    await this.client.script('workersHeartbeat', [this.keys.workers], args);
  }

  async instances(): Promise<InstanceInfo[]> {
    const found = (await this.client.script('workersList', [this.keys.workers], ['live'])) as string[];
    return found.map(unpackInstance).sort((a, b) => (a.instanceId < b.instanceId ? -1 : 1));
  }

  async leave(instanceId: string): Promise<void> {
    await this.#forgetBookkeeping([instanceId]);
    await this.client.command('HDEL', this.keys.workers, instanceId);
  }

  async reapInstances(): Promise<string[]> {
    const dead = (await this.client.script('workersList', [this.keys.workers], ['dead'])) as string[];
    if (dead.length === 0) return [];
    // Remove what is stored for the instance first: after a crash in between, the next reaper still finds the instance.
    await this.#forgetBookkeeping(dead);
    return ((await this.client.script('workersRemoveDead', [this.keys.workers], dead)) as string[]).sort();
  }

  async initProgress(): Promise<InitProgress> {
    const fields = await this.#hash(this.keys.initProgress);
    const number = (name: string): number => Number(fields.get(name) ?? 0);
    const time = (name: string): number | null => Date.parse(fields.get(name) ?? '') || null;
    return {
      status: (fields.get('status') as InitStatus | undefined) ?? 'pending',
      total: number('total'),
      loaded: number('loaded'),
      lastCardId: number('last_card_id'),
      batch: number('batch'),
      batches: number('batches'),
      startedAtMs: time('started_at'),
      updatedAtMs: time('updated_at'),
      finishedAtMs: time('finished_at'),
      changeMark: fields.get('change_mark') ?? '',
      reason: (fields.get('reason') as InitProgress['reason'] | undefined) ?? 'build',
    };
  }

  async saveInitProgress(progress: InitProgress): Promise<void> {
    const time = (ms: number | null): string => (ms === null ? '' : new Date(ms).toISOString());
    const fields = {
      status: progress.status,
      total: progress.total,
      loaded: progress.loaded,
      last_card_id: progress.lastCardId,
      batch: progress.batch,
      batches: progress.batches,
      started_at: time(progress.startedAtMs),
      updated_at: time(progress.updatedAtMs),
      finished_at: time(progress.finishedAtMs),
      change_mark: progress.changeMark,
      reason: progress.reason,
    };
    await this.client.command('HSET', this.keys.initProgress, ...Object.entries(fields).flat());
  }

  async reconciliation(): Promise<Reconciliation> {
    return unpackReconciliation(await this.#hash(this.keys.reconciliation));
  }

  async saveReconciliation(state: Reconciliation): Promise<void> {
    const { requested_ms: _, ...fields } = packReconciliation(state);
    await this.client.command('HSET', this.keys.reconciliation, ...Object.entries(fields).flat());
  }

  async requestReconciliation(atMs: number): Promise<void> {
    await this.client.command('HSET', this.keys.reconciliation, 'requested_ms', atMs);
  }

  async #hash(key: string): Promise<Map<string, string>> {
    const reply = (await this.client.command('HGETALL', key)) as string[];
    const fields = new Map<string, string>();
    for (let i = 0; i < reply.length; i += 2) fields.set(reply[i] as string, reply[i + 1] as string);
    return fields;
  }

  async #forgetBookkeeping(instanceIds: readonly string[]): Promise<void> {
    const hashes = TASK_TYPES.flatMap((type) => [this.keys.claims(type), this.keys.statsFlushes(type)]);
    await Promise.all(hashes.map((key) => this.client.command('HDEL', key, ...instanceIds)));
  }
}

const KEYS_A_SCAN = 1_000;

/** The fleet that this Redis belongs to: a key that the first fleet sets and every instance reads. */
async function readFleet(client: RedisClient, keys: Keys): Promise<Fleet | null> {
  const text = (await client.command('GET', keys.fleet)) as string | null;
  if (text === null) return null;
  const [id = '', ...name] = text.split(' ');
  return { id, name: name.join(' ') };
}

/** @returns the fleet that Redis belongs to now */
async function claimFleet(client: RedisClient, keys: Keys, fleet: Fleet): Promise<Fleet> {
  const holder = await readFleet(client, keys);
  if (holder !== null) return holder;
  await client.command('SET', keys.fleet, `${fleet.id} ${fleet.name}`, 'NX');
  return (await readFleet(client, keys)) ?? fleet;
}

/** Deletes one key at a time: in a Cluster the keys are in different slots. */
async function forgetFleet(client: RedisClient, keys: Keys): Promise<void> {
  for (const master of client.masters) {
    let cursor = '0';
    do {
      const [next, found] = await master.scan(cursor, 'MATCH', keys.all, 'COUNT', KEYS_A_SCAN);
      await Promise.all(found.map((key) => client.command('UNLINK', key)));
      cursor = next;
    } while (cursor !== '0');
  }
}

/**
 * Instances of several versions read each other during an upgrade: a name that is in use stays. Instances of an older
 * version leave these fields out.
 */
const LATER_FIELDS = { probeAddress: null, breakers: [], databaseOutage: null, reloadFailure: null };

export function packInstance({ instanceId, ...rest }: InstanceInfo): string {
  return JSON.stringify(snakeKeys({ workerId: instanceId, ...rest }));
}

export function unpackInstance(packed: string): InstanceInfo {
  const { workerId, ...rest } = camelKeys(JSON.parse(packed)) as Omit<InstanceInfo, 'instanceId'> & {
    readonly workerId: string;
  };
  return { ...LATER_FIELDS, ...rest, instanceId: workerId };
}
