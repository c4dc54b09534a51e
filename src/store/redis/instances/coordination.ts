// The fleet, leases, live instances, and the progress of initialisation and reconciliation in Redis.
import type { Fleet } from '../../../domain/fleet.ts';
import { TASK_TYPES } from '../../../domain/task-type.ts';
import { camelKeys, snakeCase, snakeKeys } from '../../../platform/snake-keys.ts';
import {
  byStoreClock,
  type Coordination,
  INIT_NOT_STARTED,
  type InstanceInfo,
  NEVER_RECONCILED,
} from '../../ports/live/coordination.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

const KEYS_A_SCAN = 1_000;

export function redisCoordination(client: RedisClient, keys: Keys): Coordination {
  async function fleetOf(): Promise<Fleet | null> {
    const text = (await client.command('GET', keys.fleet)) as string | null;
    if (text === null) return null;
    const [id = '', ...name] = text.split(' ');
    return { id, name: name.join(' ') };
  }

  async function read<State extends object>(key: string, nameOf: NameOf, initial: State): Promise<State> {
    const texts = await client.hash(key);
    const fields = Object.entries(initial).map(([field, value]) => {
      const name = nameOf(field);
      return [field, parsed(name, texts.get(name), value)];
    });
    return Object.fromEntries(fields);
  }

  async function save(key: string, nameOf: NameOf, state: object): Promise<void> {
    const texts = Object.entries(state).flatMap(([field, value]) => {
      const name = nameOf(field);
      return [name, packed(name, value)];
    });
    await client.command('HSET', key, ...texts);
  }

  async function forgetBookkeeping(instanceIds: readonly string[]): Promise<void> {
    const hashes = TASK_TYPES.flatMap((type) => [keys.claims(type), keys.statsFlushes(type)]);
    await Promise.all(hashes.map((key) => client.command('HDEL', key, ...instanceIds)));
  }

  return {
    async lead(lease, holder, ttlMs) {
      const fence = await client.script('leaseTake', [keys.lease(lease)], [holder, ttlMs]);
      return fence === null ? null : Number(fence);
    },

    async resign(lease, holder) {
      await client.script('leaseResign', [keys.lease(lease)], [holder]);
    },

    fleet: fleetOf,

    async claimFleet(fleet) {
      const holder = await fleetOf();
      if (holder !== null) return holder;
      await client.command('SET', keys.fleet, `${fleet.id} ${fleet.name}`, 'NX');
      return (await fleetOf()) ?? fleet;
    },

    /** Deletes one key at a time: in a Cluster the keys are in different slots. */
    async forgetFleet() {
      for (const master of client.masters) {
        for await (const found of master.scanStream({ match: keys.all, count: KEYS_A_SCAN })) {
          await Promise.all((found as string[]).map((key) => client.command('UNLINK', key)));
        }
      }
    },

    async heartbeat(instance, ttlMs) {
      const args = [instance.instanceId, ttlMs, packInstance(instance)];
      return Number(await client.script('workersHeartbeat', [keys.workers], args));
    },

    async instances() {
      const found = (await client.script('workersList', [keys.workers], ['live'])) as string[];
      return found
        .map(unpackInstance)
        .map(byStoreClock)
        .sort((a, b) => (a.instanceId < b.instanceId ? -1 : 1));
    },

    async leave(instanceId) {
      await forgetBookkeeping([instanceId]);
      await client.command('HDEL', keys.workers, instanceId);
    },

    async reapInstances() {
      const dead = (await client.script('workersList', [keys.workers], ['dead'])) as string[];
      if (dead.length === 0) return [];
      // Removes the instance's data first: after a crash in between, the next reaper still finds the instance.
      await forgetBookkeeping(dead);
      return ((await client.script('workersRemoveDead', [keys.workers], dead)) as string[]).sort();
    },

    initProgress: () => read(keys.initProgress, progressName, INIT_NOT_STARTED),
    saveInitProgress: (progress) => save(keys.initProgress, progressName, progress),
    reconciliation: () => read(keys.reconciliation, reconciliationName, NEVER_RECONCILED),

    async saveReconciliation({ requestedMs: _, ...state }) {
      await save(keys.reconciliation, reconciliationName, state);
    },

    requestReconciliation: (requestedMs) => save(keys.reconciliation, reconciliationName, { requestedMs }),
  };
}

/** The name of a state's field in its hash. A time is RFC 3339 in a name that ends in `_at`, otherwise a number. */
type NameOf = (field: string) => string;

/** `startedAtMs` is started_at. */
const progressName: NameOf = (field) => snakeCase(field).replace(/_ms$/, '');

/** `startedAtMs` is started_ms. */
const reconciliationName: NameOf = (field) => snakeCase(field).replace(/_at_ms$/, '_ms');

function packed(name: string, value: unknown): string {
  return typeof value === 'number' && name.endsWith('_at') ? new Date(value).toISOString() : `${value ?? ''}`;
}

function parsed(name: string, text: string | undefined, initial: unknown): unknown {
  if (text === undefined) return initial;
  if (typeof initial === 'string') return text;
  if (text === '') return null;
  return name.endsWith('_at') ? Date.parse(text) || null : Number(text);
}

/**
 * Instances of several versions read each other during an upgrade: an existing name stays. Instances of an older version lack
 * these fields.
 */
const LATER_FIELDS = {
  probeAddress: null,
  breakers: [],
  databaseOutage: null,
  reloadFailure: null,
  logTrouble: null,
  timeZone: null,
  stopMode: null,
  clockAheadMs: null,
  outsideHeartbeat: null,
};

export function packInstance({ instanceId, ...rest }: InstanceInfo): string {
  return JSON.stringify(snakeKeys({ workerId: instanceId, ...rest }));
}

export function unpackInstance(packed: string): InstanceInfo {
  const { workerId, ...rest } = camelKeys(JSON.parse(packed)) as Omit<InstanceInfo, 'instanceId'> & {
    readonly workerId: string;
  };
  return { ...LATER_FIELDS, ...rest, instanceId: workerId };
}
