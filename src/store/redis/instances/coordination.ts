// The fleet, leases, live instances, and the progress of initialisation and reconciliation in Redis.
import type { Fleet } from '../../../domain/fleet.ts';
import { TASK_TYPES } from '../../../domain/task-type.ts';
import { camelKeys, snakeKeys } from '../../../platform/snake-keys.ts';
import {
  type Coordination,
  INIT_NOT_STARTED,
  type InitProgress,
  type InstanceInfo,
  NEVER_RECONCILED,
  type Reconciliation,
} from '../../ports/live/coordination.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

const KEYS_A_SCAN = 1_000;

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

  async fleet(): Promise<Fleet | null> {
    const text = (await this.client.command('GET', this.keys.fleet)) as string | null;
    if (text === null) return null;
    const [id = '', ...name] = text.split(' ');
    return { id, name: name.join(' ') };
  }

  async claimFleet(fleet: Fleet): Promise<Fleet> {
    const holder = await this.fleet();
    if (holder !== null) return holder;
    await this.client.command('SET', this.keys.fleet, `${fleet.id} ${fleet.name}`, 'NX');
    return (await this.fleet()) ?? fleet;
  }

  /** Deletes one key at a time: in a Cluster the keys are in different slots. */
  async forgetFleet(): Promise<void> {
    for (const master of this.client.masters) {
      let cursor = '0';
      do {
        const [next, found] = await master.scan(cursor, 'MATCH', this.keys.all, 'COUNT', KEYS_A_SCAN);
        await Promise.all(found.map((key) => this.client.command('UNLINK', key)));
        cursor = next;
      } while (cursor !== '0');
    }
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
    return this.#read(this.keys.initProgress, PROGRESS, INIT_NOT_STARTED);
  }

  async saveInitProgress(progress: InitProgress): Promise<void> {
    await this.#save(this.keys.initProgress, PROGRESS, progress);
  }

  async reconciliation(): Promise<Reconciliation> {
    return this.#read(this.keys.reconciliation, RECONCILIATION, NEVER_RECONCILED);
  }

  async saveReconciliation(state: Reconciliation): Promise<void> {
    const { requestedMs: _, ...names } = RECONCILIATION;
    await this.#save(this.keys.reconciliation, names, state);
  }

  async requestReconciliation(atMs: number): Promise<void> {
    await this.client.command('HSET', this.keys.reconciliation, RECONCILIATION.requestedMs, atMs);
  }

  async #read<State extends object>(key: string, names: FieldNames<State>, initial: State): Promise<State> {
    const texts = await this.client.hash(key);
    const fields = Object.entries<unknown>(initial as Record<string, unknown>).map(([field, value]) => {
      const name = names[field as keyof State];
      return [field, parsed(name, texts.get(name), value)];
    });
    return Object.fromEntries(fields);
  }

  async #save<State extends object>(
    key: string,
    names: Partial<FieldNames<State>>,
    state: State,
  ): Promise<void> {
    const fields = Object.entries<string>(names as FieldNames<State>);
    const texts = fields.flatMap(([field, name]) => [name, packed(name, state[field as keyof State])]);
    await this.client.command('HSET', key, ...texts);
  }

  async #forgetBookkeeping(instanceIds: readonly string[]): Promise<void> {
    const hashes = TASK_TYPES.flatMap((type) => [this.keys.claims(type), this.keys.statsFlushes(type)]);
    await Promise.all(hashes.map((key) => this.client.command('HDEL', key, ...instanceIds)));
  }
}

/** The fields of a state, and their names in its hash. A time is RFC 3339 in a name that ends in `_at`, otherwise a number. */
type FieldNames<State> = Readonly<Record<keyof State, string>>;

const PROGRESS: FieldNames<InitProgress> = {
  status: 'status',
  total: 'total',
  loaded: 'loaded',
  lastCardId: 'last_card_id',
  batch: 'batch',
  batches: 'batches',
  startedAtMs: 'started_at',
  updatedAtMs: 'updated_at',
  finishedAtMs: 'finished_at',
  changeMark: 'change_mark',
  reason: 'reason',
};

const RECONCILIATION: FieldNames<Reconciliation> = {
  reason: 'reason',
  position: 'position',
  checked: 'checked',
  healed: 'healed',
  startedAtMs: 'started_ms',
  sweptAtMs: 'swept_ms',
  healedMissing: 'healed_missing',
  healedForeign: 'healed_foreign',
  healedDouble: 'healed_double',
  liveIdentity: 'live_identity',
  recordIdentity: 'record_identity',
  requestedMs: 'requested_ms',
  answeredRequestMs: 'answered_request_ms',
};

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
