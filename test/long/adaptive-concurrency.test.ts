// The effective limit with a real daemon, real stores and a gateway with a hidden capacity: found, shown everywhere,
// followed down and up, taken over by the next leader; the ceiling of the gateway; and the part switched off.
import { afterAll, afterEach, expect, it } from 'vitest';
import { TASK_TYPES } from '../../src/domain/task-type.ts';
import { type Simulator, startSimulator } from '../../src/gateway/simulate/simulator.ts';
import { Fleet } from '../support/fleet.ts';
import { waitFor } from '../support/processes.ts';

const CARDS = 4_000;
const LIMIT = 60;
const CAPACITY = 30;

interface Limit {
  readonly task_type: string;
  readonly max_concurrency: number;
  readonly effective_concurrency: number;
  readonly reason: string | null;
  readonly curve: ReadonlyArray<{ readonly concurrency: number; readonly rate_per_second: number }>;
}

const fleets: Fleet[] = [];
const gateways: Simulator[] = [];
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.close();
});
afterAll(() => {
  for (const fleet of fleets) fleet.close();
});

/** A fleet that has more to poll than the gateway bears. */
async function busyFleet(gateway: Simulator, env: Record<string, string> = {}): Promise<Fleet> {
  gateways.push(gateway);
  const fleet = await Fleet.start({ gatewayUrl: gateway.url, env });
  fleets.push(fleet);
  await fleet.startDaemon();
  await fleet.setLimits(LIMIT);
  await fleet.setIntervals(2);
  await fleet.importCards(CARDS);
  return fleet;
}

function startGateway(options: { capacity?: number; latencyMs?: number }): Promise<Simulator> {
  return startSimulator({ host: '127.0.0.1', port: 0, ...options });
}

async function limitsOf(fleet: Fleet): Promise<readonly Limit[]> {
  return (await fleet.get<{ items: Limit[] }>('/api/admin/polling-concurrency')).items;
}

function sum(limits: readonly Limit[]): number {
  return limits.reduce((total, limit) => total + limit.effective_concurrency, 0);
}

function reaches(fleet: Fleet, what: string, good: (limits: readonly Limit[]) => boolean) {
  return waitFor(
    async () => {
      const limits = await limitsOf(fleet);
      return good(limits) ? limits : null;
    },
    { what },
  );
}

it('is lowered to what the gateway bears, shown everywhere, taken over, and raised again', async () => {
  const gateway = await startGateway({ capacity: CAPACITY, latencyMs: 60 });
  const fleet = await busyFleet(gateway);
  // Three limits of 60 against a gateway that refuses more than 60 calls.
  const lowered = await reaches(fleet, 'the limits to be lowered', (limits) => sum(limits) <= 2 * CAPACITY);
  const reduced = lowered.find((limit) => limit.effective_concurrency < LIMIT) as Limit;
  expect(reduced).toMatchObject({
    max_concurrency: LIMIT,
    reason: expect.stringMatching(/refused|trial|call/),
  });

  const inRedis = await fleet.redis.get(`polling:concurrency:effective:${reduced.task_type}`);
  expect(Number(inRedis)).toBeGreaterThan(0);
  const { tasks } = await fleet.get<{
    tasks: Array<{ effective_concurrency: number; concurrency: { max: number } }>;
  }>('/api/admin/polling-stats');
  expect(tasks.some((task) => task.effective_concurrency < task.concurrency.max)).toBe(true);
  const metrics = await (await fetch(`${fleet.daemons[0]?.url}/metrics`)).text();
  const exposed = [...metrics.matchAll(/^cardpoll_concurrency_effective\{task_type="\w+"\} (\d+)$/gm)];
  expect(exposed).toHaveLength(TASK_TYPES.length);
  expect(exposed.some(([, value]) => Number(value) < LIMIT)).toBe(true);
  // Long lines are wrapped.
  expect((await fleet.cli('concurrency', 'advise')).stdout).toMatch(/reduced\s+to/);
  const changes = await fleet.logged('effective limit');
  expect(changes[0]).toMatchObject({
    task_type: expect.any(String),
    from: LIMIT,
    reason: expect.any(String),
  });
  await reaches(fleet, 'a curve', (limits) => limits.every(({ curve }) => curve.length > 0));

  await fleet.daemons[0]?.process.stop('SIGKILL');
  const left = await Promise.all(
    TASK_TYPES.map((type) => fleet.redis.get(`polling:concurrency:effective:${type}`)),
  );
  const byTheFirst = (await fleet.logged('effective limit')).length;
  await fleet.startDaemon();

  gateway.setCapacity(null);
  await reaches(
    fleet,
    'the limits to be as configured',
    // The reason goes with the next write.
    (limits) => sum(limits) === TASK_TYPES.length * LIMIT && limits.every(({ reason }) => reason === null),
  );
  const byTheSecond = (await fleet.logged('effective limit')).slice(byTheFirst);
  TASK_TYPES.forEach((type, i) => {
    const first = byTheSecond.find((change) => change.task_type === type);
    if (left[i] !== null) expect(first).toMatchObject({ from: Number(left[i]) });
  });
  expect(await fleet.redis.exists('polling:concurrency:effective:realname')).toBe(0);
});

it('never lets more calls out than the ceiling, from the first one on', async () => {
  const CEILING = 40;
  const gateway = await startGateway({ latencyMs: 40 });
  const fleet = await busyFleet(gateway, {
    CARDPOLL_GATEWAY_MAX_CONCURRENCY: String(CEILING),
    CARDPOLL_ADAPTIVE_CONCURRENCY: 'off',
  });
  const even = (limits: readonly Limit[]) =>
    sum(limits) === CEILING && limits.every((limit) => limit.effective_concurrency >= CEILING / 4);
  const limits = await reaches(fleet, 'an even division', even);
  expect(limits[0]?.reason).toContain(`ceiling of ${CEILING}`);
  await waitFor(() => gateway.stats().requests > 3_000, { what: 'calls' });
  // Two types have nothing to do any more: the third gets what they leave.
  for (const id of ['1', '2', '4']) await fleet.cli('configs', 'disable', id, '--yes');
  await reaches(
    fleet,
    'the share of the busy type to grow',
    (now) =>
      (now.find(({ task_type }) => task_type === 'carddata')?.effective_concurrency ?? 0) > CEILING / 2,
  );
  const busy = gateway.stats().byInterface.flow;
  await waitFor(() => gateway.stats().byInterface.flow > busy + 1_000, {
    what: 'the busy type to use its share',
  });
  for (const id of ['1', '2', '4']) await fleet.cli('configs', 'enable', id, '--yes');
  await reaches(fleet, 'an even division again', even);
  expect(gateway.stats().maxInFlight).toBeLessThanOrEqual(CEILING);
  expect(gateway.stats().maxInFlight).toBeGreaterThan(CEILING / 2);
});

it('switched off, removes what was lowered and lowers nothing', async () => {
  const gateway = await startGateway({ capacity: CAPACITY });
  gateways.push(gateway);
  const fleet = await Fleet.start({
    gatewayUrl: gateway.url,
    env: { CARDPOLL_ADAPTIVE_CONCURRENCY: 'off' },
  });
  fleets.push(fleet);
  await fleet.redis.set('polling:concurrency:effective:realname', '2');
  await fleet.startDaemon();
  await waitFor(async () => (await fleet.redis.exists('polling:concurrency:effective:realname')) === 0, {
    what: 'the effective limit to be removed',
  });
  await fleet.setLimits(LIMIT);
  await fleet.setIntervals(2);
  await fleet.importCards(500);
  await waitFor(() => gateway.stats().rejected > 0, { what: 'calls to be refused' });
  expect(sum(await limitsOf(fleet))).toBe(TASK_TYPES.length * LIMIT);
});
