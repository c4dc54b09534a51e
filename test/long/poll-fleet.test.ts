// The product's main job on real stores: 900 cards, three task types, one instance and three. Few enough for a busy
// machine to keep the schedule; how much a fast one does is for the benches.
import { afterEach, describe, expect, it } from 'vitest';
import { perTaskType, TASK_TYPES, TASKS, type TaskType } from '../../src/domain/task-type.ts';
import { demoIccid, SimulatedFleet } from '../../src/gateway/simulate/simulated-fleet.ts';
import { Fleet, type GatewayTruth } from '../support/fleet.ts';
import { waitFor } from '../support/processes.ts';

const CARDS = 900;
/** As the simulator has it: nine in ten. */
const VERIFIED = Array.from({ length: CARDS }, (_, i) => demoIccid(i + 1)).filter((iccid) =>
  new SimulatedFleet(null, 0).realStatus(iccid),
).length;
const INTERVAL_SECONDS = 6;
const LIMIT = 20;

const fleets: Fleet[] = [];
afterEach(() => {
  for (const fleet of fleets.splice(0)) fleet.close();
});

async function startFleet(daemons: number): Promise<Fleet> {
  const fleet = await Fleet.start({ simulator: ['--latency-ms', '5'] });
  fleets.push(fleet);
  for (let n = 0; n < daemons; n += 1) await fleet.startDaemon();
  await fleet.setLimits(LIMIT);
  await fleet.setIntervals(INTERVAL_SECONDS);
  await fleet.importCards(CARDS);
  return fleet;
}

/** Completed polls by type and card, as the worker logs tell, from `since` on. */
async function completions(fleet: Fleet, since: number): Promise<Record<TaskType, Map<number, number[]>>> {
  const found = perTaskType(() => new Map<number, number[]>());
  for await (const line of fleet.logLines()) {
    const taskType = TASK_TYPES.find((type) => TASKS[type].completed === line.msg);
    const at = Date.parse(String(line.time));
    if (taskType === undefined || at < since) continue;
    const cardId = Number(line.card_id);
    found[taskType].set(cardId, [...(found[taskType].get(cardId) ?? []), at]);
  }
  return found;
}

/** Instances write logs of their own, so a card's times come in no order. */
function gapsInSeconds(times: readonly number[]): number[] {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted.slice(1).map((at, i) => (at - (sorted[i] ?? 0)) / 1_000);
}

interface Revolutions {
  readonly taskType: TaskType;
  readonly longestGap: number;
  readonly shortestGap: number;
}

/** Waits until every card of every type was polled so many times more, and judges the gaps by the engine's own times. */
async function revolutions(fleet: Fleet, count: number): Promise<Revolutions[]> {
  const from = Date.now();
  const polled = await waitFor(
    async () => {
      const found = await completions(fleet, from);
      const isDone = TASK_TYPES.every(
        (taskType) =>
          found[taskType].size === CARDS && [...found[taskType].values()].every((at) => at.length > count),
      );
      return isDone ? found : null;
    },
    { everyMs: 500, what: `every card to be polled ${count + 1} times` },
  );
  return TASK_TYPES.map((taskType) => {
    const gaps = [...polled[taskType].values()].flatMap(gapsInSeconds);
    return { taskType, longestGap: Math.max(...gaps), shortestGap: Math.min(...gaps) };
  });
}

function isRegular({ longestGap, shortestGap }: Revolutions): boolean {
  return longestGap < INTERVAL_SECONDS * 1.9 && shortestGap > INTERVAL_SECONDS * 0.5;
}

describe.each([1, 3])('with %d instance(s)', (instances) => {
  it('polls every card of every type once an interval and keeps the limit', async () => {
    const fleet = await startFleet(instances);
    await waitFor(
      async () => {
        const { items } = await fleet.get<{ items: Array<{ scheduled_cards: number }> }>(
          '/api/admin/polling-stats/queues',
        );
        return items.every((item) => item.scheduled_cards === CARDS);
      },
      { what: 'all cards to be scheduled for all types' },
    );
    // Cards found verified by their first poll change ring, and so phase, once. When all have, and one revolution later,
    // nobody is on the way any more: three revolutions must be regular then, as soon as the machine allows for it.
    await waitFor(
      async () => {
        const { items } = await fleet.get<{ items: Array<{ card_condition: string; members: number }> }>(
          '/api/admin/polling-configs',
        );
        return items.find((config) => config.card_condition === 'verified')?.members === VERIFIED;
      },
      { what: 'all verified cards to be in their ring' },
    );
    await revolutions(fleet, 1);
    let seen: readonly Revolutions[] = [];
    await waitFor(
      async () => {
        seen = await revolutions(fleet, 3);
        return seen.every(isRegular);
      },
      { what: 'regular revolutions' },
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${JSON.stringify(seen)}`);
    });
    const truth = await fleet.truth();
    expect(truth.max_in_flight).toBeLessThanOrEqual(3 * LIMIT);
    for (const [name, most] of Object.entries(truth.max_in_flight_by_interface)) {
      expect(most, `${name}: calls in flight at the gateway`).toBeLessThanOrEqual(LIMIT);
    }
    await checkKeys(fleet);
    for (const daemon of fleet.daemons) {
      const { code, stderr } = await daemon.process.stop('SIGTERM');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    }
    expect(await fleet.redis.get('polling:concurrency:current:realname')).toBe('0');
  });
});

/** Operations interface, section 1.1, as redis-cli sees it. */
async function checkKeys(fleet: Fleet): Promise<void> {
  const { redis } = fleet;
  for (const type of TASK_TYPES) {
    await waitFor(async () => (await redis.type(`polling:queue:${type}`)) === 'zset', {
      what: `${type} to have something in its queue`,
    });
    await redis.rpush(`polling:manual:${type}`, '1');
    expect(await redis.type(`polling:concurrency:current:${type}`)).toBe('string');
    expect(Number(await redis.get(`polling:concurrency:current:${type}`))).toBeGreaterThanOrEqual(0);
    expect(await redis.get(`polling:concurrency:config:${type}`)).toBe(String(LIMIT));
    const stats = await redis.hgetall(`polling:stats:${type}`);
    expect(stats).toMatchObject({ failed: expect.any(String), avg_duration_ms: expect.any(String) });
    expect(Number(stats.total)).toBe(Number(stats.succeeded) + Number(stats.failed));
    await waitFor(async () => (await redis.llen(`polling:manual:${type}`)) === 0, {
      what: 'the manual card to be taken',
    });
  }
  expect(await redis.hgetall('polling:init:progress')).toMatchObject({ status: 'completed' });
}

/** A pause until nearly every card is due: most of them have been for half an interval and more. */
async function fallsBehindAsMeasured(fleet: Fleet): Promise<void> {
  const late = async () => {
    const { count, within } = await lateness(fleet, 'package', 2.5);
    return count - within;
  };
  await fleet.cli('pause', 'package', '--for', '1h', '--reason', 'to fall behind');
  await waitFor(async () => (await fleet.redis.zcard('polling:queue:package')) > 0.9 * CARDS, {
    what: 'nearly every card to be due',
  });
  const before = await late();
  await fleet.cli('resume', 'package');
  await waitFor(async () => (await late()) - before > 0.4 * CARDS, {
    what: 'late cards to be counted as late',
  });
}

/** Of all instances together. */
async function lateness(
  fleet: Fleet,
  type: TaskType,
  le: number,
): Promise<{ count: number; within: number }> {
  const pages = await Promise.all(
    fleet.daemons.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()),
  );
  const sum = (sample: string) =>
    pages
      .map((page) =>
        page.split('\n').find((line) => line.startsWith(`cardpoll_poll_lateness_seconds_${sample} `)),
      )
      .reduce((total, line) => total + Number(line?.split(' ').at(-1)), 0);
  return {
    count: sum(`count{task_type="${type}"}`),
    within: sum(`bucket{le="${le}",task_type="${type}"}`),
  };
}

/** Waits for so many further calls at the gateway, looking at what it tells meanwhile. */
async function goesOn(
  fleet: Fleet,
  calls: number,
  look: (truth: GatewayTruth) => void = () => {},
): Promise<void> {
  const { requests } = await fleet.truth();
  const seen: GatewayTruth[] = [];
  await waitFor(
    async () => {
      const truth = await fleet.truth();
      seen.push(truth);
      return truth.requests >= requests + calls;
    },
    { what: `${calls} further calls` },
  );
  for (const truth of seen) look(truth);
}

describe('operating a running fleet', () => {
  it('follows configs and limits on every instance within a second, and works off manual cards', async () => {
    const fleet = await startFleet(2);
    const counts = async () => (await fleet.truth()).by_interface;
    await waitFor(async () => ((await counts()).flow ?? 0) > 100, {
      what: 'traffic checks',
    });

    await fleet.cli('configs', 'disable', '3', '--yes');
    const settled = await waitFor(
      async () => {
        const before = (await counts()).flow ?? 0;
        await goesOn(fleet, CARDS);
        return (await counts()).flow === before ? before : null;
      },
      { what: 'traffic checks to end while the others go on' },
    );
    await goesOn(fleet, 2 * CARDS);
    expect((await counts()).flow, 'traffic checks after the config was disabled').toBe(settled);

    await fleet.cli('configs', 'enable', '3', '--yes');
    await waitFor(async () => ((await counts()).flow ?? 0) > settled, { what: 'traffic checks to go on' });

    const small = 3;
    await fleet.setLimits(small);
    await waitFor(async () => (await fleet.truth()).in_flight <= 3 * small, {
      what: 'the limits to be kept',
    });
    await goesOn(fleet, CARDS, ({ in_flight }) =>
      expect(in_flight, 'calls in flight under the new limit').toBeLessThanOrEqual(3 * small),
    );
    await fleet.setLimits(LIMIT);

    const manual = await fleet.redis.rpush(
      'polling:manual:package',
      ...Array.from({ length: 500 }, (_, i) => `${i + 1}`),
    );
    expect(manual).toBeGreaterThan(0);
    await waitFor(async () => (await fleet.redis.llen('polling:manual:package')) === 0, {
      what: 'the manual list to be worked off',
    });
    await fallsBehindAsMeasured(fleet);
  });
});
