// Two daemons with a ceiling, and work of every kind that waits: cards that are due, triggers of all cards, cards over their package.
// What is waited for is counted at the gateway (limited-gateway.ts). Used by test/fault/in-force*.test.ts.
import type { Redis } from 'ioredis';
import { TASK_TYPES, type TaskType } from '../../src/domain/task-type.ts';
import { Fleet, type FleetOptions } from './fleet.ts';
import { LimitedGateway } from './limited-gateway.ts';
import { waitFor } from './processes.ts';

const CARDS = 400;

const ENV = {
  CARDPOLL_STOPS_MAX_PER_HOUR: 'none',
  CARDPOLL_STOPS_MAX_PER_DAY: 'none',
};

interface LimitedOptions extends Pick<FleetOptions, 'postgres' | 'redis'> {
  readonly ceiling: number;
  /** After which a call is given up; a lease is twice as long. */
  readonly timeoutMs?: number;
  readonly limits?: Partial<Record<TaskType, number>>;
  /** How the daemons reach the stores; default: directly. */
  readonly through?: (fleet: Fleet) => Promise<Readonly<Record<string, string>>>;
}

export interface LimitedFleet {
  readonly fleet: Fleet;
  readonly gateway: LimitedGateway;
  /** Waits until the gateway has got so many further calls of each of these types. */
  calls(count: number, types?: readonly TaskType[]): Promise<void>;
  /** Orders polls of all cards for every type. */
  trigger(): Promise<void>;
  close(): Promise<void>;
}

/** @returns when the gateway gets calls of every type, and a trigger waits for each. */
export async function startLimitedFleet({
  ceiling,
  timeoutMs = 3_000,
  limits = {},
  through = async () => ({}),
  ...options
}: LimitedOptions): Promise<LimitedFleet> {
  const gateway = await LimitedGateway.start();
  const env = {
    ...ENV,
    CARDPOLL_GATEWAY_MAX_CONCURRENCY: String(ceiling),
    CARDPOLL_GATEWAY_TIMEOUT_MS: String(timeoutMs),
    CARDPOLL_LEASE_MS: String(2 * timeoutMs + 1_000),
  };
  const fleet = await Fleet.start({ ...options, gatewayUrl: gateway.url, env });
  const stores = await through(fleet);
  const limited: LimitedFleet = {
    fleet,
    gateway,
    async calls(count, types = TASK_TYPES) {
      const before = gateway.begun;
      await waitFor(() => types.every((type) => gateway.begun[type] >= before[type] + count), {
        what: `${count} further calls of ${types.join(', ')}`,
      });
    },
    async trigger() {
      for (const type of TASK_TYPES) await fleet.cli('trigger', 'by-condition', '--task', type, '--yes');
    },
    async close() {
      fleet.close();
      await gateway.close();
    },
  };
  await fleet.startDaemon(stores);
  await fleet.startDaemon(stores);
  for (const [type, limit] of Object.entries(limits)) {
    await fleet.cli('concurrency', 'set', type, String(limit), '--yes');
  }
  await fleet.setIntervals(1);
  await fleet.importCards(CARDS, () => 10);
  await limited.trigger();
  await limited.calls(5);
  return limited;
}

/** Waits until cards of triggers wait for every type. */
export async function triggersWait(redis: Pick<Redis, 'llen'>): Promise<void> {
  await waitFor(
    async () => {
      const triggered = await Promise.all(TASK_TYPES.map((type) => redis.llen(`polling:manual:${type}`)));
      return triggered.every((length) => length > 0);
    },
    { what: 'triggers of every type to wait' },
  );
}

/** Waits until all of record is in force in this life of Redis. */
export async function inForceAgain(redis: Pick<Redis, 'info' | 'get'>): Promise<void> {
  const life = /run_id:(\w+)/.exec(await redis.info('server'))?.[1];
  await waitFor(
    async () => {
      const lives = await Promise.all(TASK_TYPES.map((type) => redis.get(`polling:in-force:${type}`)));
      return lives.every((one) => one === life);
    },
    { what: 'limits and pauses to be in force' },
  );
}

/** Waits until the daemons have run so many scripts more: workers have claimed again and again. */
export async function turns(redis: Pick<Redis, 'info'>, count = 100): Promise<void> {
  const scripts = async () =>
    Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1]);
  const before = await scripts();
  await waitFor(async () => (await scripts()) >= before + count, { what: `${count} turns of the daemons` });
}
