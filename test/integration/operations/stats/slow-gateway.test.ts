// The ordinary bad night: a gateway that takes 20 ms, then 3 s, then 20 ms again. Every surface is read once a second, and each
// says within 20 s what the gateway itself counts, and within 20 s of the healing too. In compressed time.

import { afterEach, expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { perTaskType, TASK_TYPES, TASKS, type TaskType } from '../../../../src/domain/task-type.ts';
import { HealthWatch } from '../../../../src/health/health-watch.ts';
import type { CardTotal } from '../../../../src/operations/cards/card-total.ts';
import { StatsOperations } from '../../../../src/operations/stats/stats.ts';
import { toWire, type Wire } from '../../../../src/platform/snake-keys.ts';
import { INIT_NOT_STARTED } from '../../../../src/store/ports/live/coordination.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { type Behaviour, CompressedFleet } from '../../../support/compressed-fleet.ts';
import { describeLong, sampled } from '../../../support/effort.ts';
import { fleetHealth } from '../../../support/fleet-health.ts';
import { inNumbers } from '../../../support/judged-facts.ts';
import { instanceOf, PolledFleet } from '../../../support/polled-fleet.ts';
import { cli, daemonThatSays, json } from '../../../unit/cli/cli-under-test.ts';

/** 100 polls a second and task type. */
const FLEET = {
  taskTypes: TASK_TYPES,
  cards: 3_000,
  intervalSeconds: 30,
  limit: 100,
  buckets: 1_024,
};
const FAST_MS = 20;
const SLOW_MS = 3_000;
/** What everything has to know by then. */
const KNOWN_S = 20;
const SETTLED_S = 50;
/** The commands print the same answer of the API: npm test has them do so every tenth second. */
const SURFACES_EVERY_S = sampled(10, 1);
const COLUMNS = { columns: 200 };

type Body = Wire<Awaited<ReturnType<StatsOperations['overview']>>>;

let fleet: CompressedFleet | null = null;
afterEach(async () => {
  await fleet?.stop();
  fleet = null;
});

const taking =
  (ms: number): Behaviour =>
  () => ({ delayMs: ms });

function everyNth(n: number): () => boolean {
  let calls = 0;
  return () => {
    calls += 1;
    return calls % n === 0;
  };
}

/** A fleet that polls, and the statistics that its API would answer. */
async function start(options: Partial<typeof FLEET> = {}) {
  const polled = await CompressedFleet.start({ ...FLEET, ...options });
  fleet = polled;
  polled.behaviour = taking(FAST_MS);
  const { live, time } = polled;
  await new PolledFleet(live, time).alive(instanceOf('w'));
  // Its cards are in their rings; nothing else of its records is known.
  const loaded = { ...INIT_NOT_STARTED, status: 'completed' as const, total: FLEET.cards };
  const coordination = Object.assign(Object.create(live.coordination), { initProgress: async () => loaded });
  const health = fleetHealth({ live: { ...live, coordination }, records: {} as RecordStore }, time);
  const cardTotal = { read: async () => FLEET.cards } as unknown as CardTotal;
  const stats = new StatsOperations({
    ...{ health, live, cardTotal, offers: () => true, version: '1.2.3', clock: time },
    ...{ records: {} as RecordStore, calendar: new MonthCalendar('UTC'), resumeAtMonthStart: false },
  });
  const watch = new HealthWatch({ judge: health, health: live.health, clock: time, onError: () => {} });
  return { polled, stats, watch };
}

type Fleet = Awaited<ReturnType<typeof start>>;

/** Lets seconds pass. @returns for each second what the API says, and what the gateway counted in the ten seconds before. */
async function watched({ polled, stats, watch }: Fleet, seconds: number, see: (seen: Seen) => Promise<void>) {
  const answers: Array<Record<TaskType, number>> = [];
  for (let second = 1; second <= seconds; second += 1) {
    const count = perTaskType(() => 0);
    polled.onSuccess = (name) => {
      for (const taskType of TASK_TYPES) if (TASKS[taskType].interface === name) count[taskType] += 1;
    };
    await polled.time.run(1_000);
    answers.push(count);
    if (second % 10 === 0) await watch.runOnce();
    const last = answers.slice(-10);
    const rate = (taskType: TaskType) => last.reduce((sum, one) => sum + one[taskType], 0) / last.length;
    await see({ second, body: toWire(await stats.overview()), rate });
  }
}

interface Seen {
  readonly second: number;
  readonly body: Body;
  /** Good answers a second, as the gateway counts. */
  readonly rate: (taskType: TaskType) => number;
}

/** What an operator reads, by its command. */
async function surfaces(body: Body) {
  const { env } = await daemonThatSays((request, response) =>
    request.line === 'GET /api/admin/polling-stats'
      ? json(body)(request, response)
      : response.writeHead(404, { 'Content-Type': 'application/problem+json' }).end('{}'),
  );
  const shown = async (...argv: string[]) =>
    cli(argv, { env: { ...env, NO_COLOR: '1' }, tty: true, ...COLUMNS });
  const [stats, advise, doctor, dashboard] = [
    await shown('stats', '-o', 'wide'),
    await shown('concurrency', 'advise'),
    await shown('doctor'),
    await shown('dashboard', '--once'),
  ];
  return { stats: stats.stdout, advise: advise.stdout, doctor, dashboard: dashboard.stdout };
}

const codesOf = ({ health_reasons: reasons }: Body) => reasons.map(({ code }) => code);
const slowReason = ({ health_reasons: reasons }: Body) => reasons.find(({ code }) => code === 'gateway_slow');
const slowNumbers = (body: Body) => inNumbers(slowReason(body) ?? { code: 'none', severity: '', text: '' });
/** The share of the calls, their mean and the usual one, the median and the 95th percentile. */
const FEW_SLOW = /^gateway_slow \w+ ([7-9]|1[0-2]) 0\.[23]\d 0\.02 0\.02 [23]\.\d/;

async function expectFast({ body, second }: Seen): Promise<void> {
  expect(codesOf(body)).toEqual([]);
  for (const task of body.tasks) {
    // A hundred calls of 20 ms at a time.
    expect(task.capacity.capacity_per_second).toBeGreaterThan(4_000);
    expect(task.capacity.drain_seconds).toBe(0);
    // Not known before each card was polled once.
    expect([30, null]).toContain(task.achieved_interval_seconds);
    expect(task.avg_duration_ms_10s).toBeLessThan(2 * FAST_MS);
  }
  if (second % SURFACES_EVERY_S !== 0) return;
  const { stats, doctor, dashboard } = await surfaces(body);
  expect(stats).toMatch(/^● normal: [\d,]+ cards?, everything as configured$/m);
  expect(stats).toMatch(/gateway +● up, \d\d ms, 100 % ok/);
  expect(stats).toContain('no backlog');
  expect(dashboard).toMatch(/gateway +● up, \d\d ms, 100 % ok/);
  expect(doctor.code).toBe(0);
}

async function expectSlow({ body, rate, second }: Seen): Promise<void> {
  expect(body.health).toBe('alert');
  expect(slowReason(body)?.text).toMatch(/^realname, carddata, package: /);
  expect(slowNumbers(body)).toMatch(/^gateway_slow alert 3\.0 0\.02/);
  expect(codesOf(body)).toContain('interval_missed');
  for (const { task_type, capacity, advice, ...task } of body.tasks) {
    const own = rate(task_type);
    // Until trials have found out that less load does not help, the limit grows, and the gateway's count follows it.
    expect(capacity.capacity_per_second).toBeGreaterThan(0.75 * own);
    expect(capacity.capacity_per_second).toBeLessThan((second < SETTLED_S ? 3 : 1.3) * own);
    expect(capacity.headroom_percent).toBeLessThan(0);
    expect(capacity.drain_seconds).toBeNull();
    expect(task.avg_duration_ms_10s).toBeGreaterThan(0.9 * SLOW_MS);
    expect(task.achieved_interval_seconds).toBeGreaterThan((0.6 * task.due) / own);
    expect(task.achieved_interval_seconds).toBeLessThan((1.6 * task.due) / own);
    expect([advice.verdict, advice.max_concurrency]).toEqual(['keep', 100]);
  }
  if (second % SURFACES_EVERY_S !== 0) return;
  const { stats, advise, doctor, dashboard } = await surfaces(body);
  for (const text of [stats, advise, doctor.stdout, dashboard]) {
    expect(text).toContain('usually 0.02 s');
    expect(text).not.toMatch(/raise|% free|concurrency set/);
  }
  expect(stats).toMatch(/gateway +▲ slow, 3,0\d\d ms/);
  expect(stats).toContain('backlog grows at this rate');
  expect(dashboard).toMatch(/gateway +▲ slow, 3,0\d\d ms/);
  expect(doctor.code).toBe(1);
}

it('a slow gateway is reported within 20 s on every surface, and so is its recovery', async () => {
  const night = await start();
  const phase = async (ms: number, seconds: number, check: (seen: Seen) => Promise<void>) => {
    night.polled.behaviour = taking(ms);
    await watched(night, seconds, async (seen) => {
      if (seen.second >= KNOWN_S) await check(seen);
    });
  };
  await phase(FAST_MS, 60, expectFast);
  await phase(SLOW_MS, 90, expectSlow);
  await phase(FAST_MS, 60, expectFast);
});

/** Their rules and words are those of gateway-report and health-reasons, which have unit tests. */
describeLong('a gateway that is slow in another way', () => {
  /** Ends the calm minute, and looks at each second from the 20th on. */
  async function afterCalm(behaviour: Behaviour, seconds: number, check: (seen: Seen) => void, options = {}) {
    const night = await start(options);
    await watched(night, 60, async () => {});
    night.polled.behaviour = behaviour;
    await watched(night, seconds, async (seen) => {
      if (seen.second >= KNOWN_S) check(seen);
    });
  }

  it('for every tenth call: the share of the calls is named', async () => {
    const isOne = everyNth(10);
    const behaviour: Behaviour = () => ({ delayMs: isOne() ? SLOW_MS : FAST_MS });
    await afterCalm(behaviour, 40, ({ body }) => expect(slowNumbers(body)).toMatch(FEW_SLOW));
  });

  it('while the limit was lowered by hand: the gateway is the cause, not the limit', async () => {
    const behaviour = taking(SLOW_MS);
    const check = ({ body }: Seen) => {
      expect(slowNumbers(body)).toMatch(/^gateway_slow alert 3\.0 0\.02/);
      expect(body.tasks.map(({ advice }) => [advice.verdict, advice.max_concurrency])).toEqual(
        TASK_TYPES.map(() => ['keep', 10]),
      );
      expect(JSON.stringify(body)).not.toContain('concurrency set');
    };
    await afterCalm(behaviour, 50, check, { limit: 10 });
  });

  it('while little is polled: it is said, and no one is woken', async () => {
    const idle = { cards: 60, intervalSeconds: 60 };
    await afterCalm(
      taking(SLOW_MS),
      60,
      ({ body, second }) => {
        if (second < 40) return;
        expect(slowNumbers(body)).toMatch(/^gateway_slow warning 3\.0 0\.02/);
        expect(body.tasks.map(({ capacity }) => capacity.drain_seconds)).toEqual([0, 0, 0]);
        expect(codesOf(body)).not.toContain('overloaded');
      },
      idle,
    );
  });

  it('for one carrier, whose calls alone are timed by no one: the share of the calls is named', async () => {
    const ofCarrier = (cardId: number) => cardId % 10 === 0;
    const behaviour: Behaviour = (_, cardId) => ({ delayMs: ofCarrier(cardId) ? SLOW_MS : FAST_MS });
    await afterCalm(behaviour, 40, ({ body }) => expect(slowNumbers(body)).toMatch(FEW_SLOW));
  });

  it('for one interface: only that task type is named', async () => {
    const behaviour: Behaviour = (name) => ({ delayMs: name === 'flow' ? SLOW_MS : FAST_MS });
    await afterCalm(behaviour, 40, ({ body }) => {
      expect(slowReason(body)).toMatchObject({ task_type: 'carddata' });
      expect(slowNumbers(body)).toMatch(/^gateway_slow alert 3\.0/);
    });
  });

  it('and refuses as well: both are said, and no higher limit is advised', async () => {
    const isOne = everyNth(2);
    const behaviour: Behaviour = () =>
      isOne() ? { delayMs: FAST_MS, failure: 'http' } : { delayMs: SLOW_MS };
    await afterCalm(behaviour, 40, ({ body }) => {
      expect(slowNumbers(body)).toMatch(/^gateway_slow \w+ .*\b0\.02\b/);
      expect(codesOf(body)).toContain('success_rate');
      expect(new Set(body.tasks.map(({ advice }) => advice.verdict))).not.toContain('raise');
    });
  });
});
