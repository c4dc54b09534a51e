// The overview of the fleet at the operations: instances, health and since when, and what of the surroundings concerns which
// task type. What is made of the numbers of one task type is test/unit/operations/stats/task-stats.test.ts.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { BreakerReport } from '../../../../src/domain/limits/breaker.ts';
import type { StopSettings } from '../../../../src/domain/stops/stop.ts';
import { WebhookTester } from '../../../../src/engine/alerts/webhook-attempt.ts';
import { HealthWatch } from '../../../../src/health/health-watch.ts';
import { type Operations, openOperations } from '../../../../src/operations/operations.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { SsrfGuard } from '../../../../src/platform/ssrf-guard.ts';
import { INIT_NOT_STARTED } from '../../../../src/store/ports/live/coordination.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { fleetHealth } from '../../../support/fleet-health.ts';
import { inNumbers } from '../../../support/judged-facts.ts';
import { pauseByOperator, setLimit } from '../../../support/limits.ts';
import { TESTER_MEANS } from '../../../support/message-deps.ts';
import { type OperatedStores, openOperatedStores } from '../../../support/operated-stores.ts';
import { instanceOf, PolledFleet } from '../../../support/polled-fleet.ts';
import { statsDelta } from '../../../support/stats-delta.ts';
import { DEFAULT_STOPS, OF_FLEET } from '../../../support/stop-rules.ts';

let database: OperatedStores;
let stores: OperatedStores;
let clock: FakeClock;
let fleet: PolledFleet;
let stats: Operations['stats'];

beforeAll(async () => {
  database = await openOperatedStores();
  await database.sql(`INSERT INTO cards (card_id, iccid)
    SELECT id, '8986' || lpad(id::text, 16, '0') FROM generate_series(1, 3) id;
    UPDATE cards SET allowance_mb = 1;
    CREATE TABLE card_usage_of_all PARTITION OF card_usage DEFAULT`);
});
afterAll(() => database.close());
beforeEach(async () => {
  clock = new FakeClock();
  await database.sql(`DELETE FROM card_stops; DELETE FROM card_usage; DELETE FROM stop_control;
    INSERT INTO stop_control DEFAULT VALUES`);
  stores = await openOperatedStores({ databaseOf: database, clock });
  fleet = new PolledFleet(stores.live, clock);
  stats = stores.operations().stats;
});
afterEach(() => stores.close());

const breaker = (name: string, over: Partial<BreakerReport> = {}): BreakerReport => ({
  interface: name,
  state: 'open',
  sinceMs: clock.now() - 60_000,
  reason: 'timeouts',
  nextProbeAtMs: null,
  ...over,
});

/** The statistics of an instance with these settings of stops. */
function statsWith(stops: Partial<StopSettings>): Operations['stats'] {
  const guard = new SsrfGuard([], NO_PROXIES);
  const settings = { ...DEFAULT_STOPS, ...stops };
  return openOperations({
    live: stores.live,
    records: stores.records,
    health: fleetHealth(stores, clock, settings),
    clock,
    timeZone: 'UTC',
    version: '1.2.3',
    stops: settings,
    offers: () => true,
    guard,
    tester: new WebhookTester({ ...TESTER_MEANS, guard, secrets: [], timeZone: 'UTC', clock }),
    auditLog: { info: () => {} },
  }).stats;
}

/** The codes of what is wrong with each task type. */
async function codes() {
  const tasks = await stats.tasks();
  return Object.fromEntries(
    tasks.map(({ taskType, healthReasons }) => [taskType, healthReasons.map(({ code }) => code)]),
  );
}

/** Cards polled once a minute, one call at a time: of ten seconds, that are 0.1 a second. */
async function overload(taskType: 'realname' | 'carddata' | 'package', cards = 12, durationMs = 10_000) {
  await fleet.load(
    { configId: 9, taskType },
    Array.from({ length: cards }, (_, i) => i + 1),
    60_000,
  );
  await setLimit(stores.live.work, taskType, 1);
  await stores.live.stats.record(
    taskType,
    'w',
    1,
    statsDelta({ succeeded: 3, failed: 0, durationMs: 3 * durationMs }),
  );
}

describe('a fleet', () => {
  it('in which nothing happened yet', async () => {
    const overview = await stats.overview();
    expect(overview).toMatchObject({
      generatedAt: new Date(clock.now()),
      version: '1.2.3',
      health: 'alert',
      healthReasons: [{ code: 'no_worker', taskType: null, since: null }],
      cardsTotal: 3,
      capacity: {
        demandPerSecond: 0,
        capacityPerSecond: null,
        boundBy: null,
        headroomPercent: null,
        drainSeconds: null,
        heldBy: 'no instance is known to poll',
        advice: null,
      },
      pauses: [],
      stops: {
        mode: 'enforce',
        ...{ doneHour: 0, doneDay: 0, budgetHour: 1, budgetDay: 1, fleetCards: 3 },
        ...{ held: 0, heldForOperator: 0, observed: 0, unconfirmed: 0, released: 0, resumedDay: 0 },
      },
      init: { status: 'pending', percent: 0 },
      workers: [],
    });
    expect(overview.tasks.map(({ taskType, health }) => [taskType, health])).toEqual([
      ['realname', 'normal'],
      ['carddata', 'normal'],
      ['package', 'normal'],
    ]);
    expect(overview.gateway.interfaces.every((one) => one.breaker === 'closed')).toBe(true);
  });

  it('lists each instance', async () => {
    const first = instanceOf('a', { pid: 7, startedAtMs: 1_000, heartbeatAtMs: 2_000, inFlight: 5 });
    await fleet.alive(first, instanceOf('b', { cacheHits: 2, cacheMisses: 1, probeAddress: '10.0.0.1:80' }));
    const { workers, health } = await stats.overview();
    expect(health).toBe('normal');
    expect(workers).toMatchObject([
      { workerId: 'a', cacheHitRatio: null },
      { workerId: 'b', cacheHits: 2, cacheMisses: 1, cacheHitRatio: 0.6666, probeAddress: '10.0.0.1:80' },
    ]);
    expect(workers[0]).toEqual({
      workerId: 'a',
      hostname: 'host-1',
      pid: 7,
      version: '1.2.3',
      roles: ['worker', 'scheduler', 'api'],
      probeAddress: null,
      startedAt: new Date(1_000),
      heartbeatAt: new Date(2_000),
      inFlight: 5,
      cacheHits: 0,
      cacheMisses: 0,
      breakers: [],
      databaseOutage: null,
      reloadFailure: null,
      logTrouble: null,
      outsideHeartbeat: null,
      timeZone: 'Asia/Shanghai',
      stopMode: 'enforce',
      clockAheadMs: null,
      cacheHitRatio: null,
      loopDelayMs: null,
      cpuPercent: null,
      redisMs: null,
      databaseMs: null,
    });
  });

  it('has a reason when its instances have different time zones', async () => {
    await fleet.alive(instanceOf('a'), instanceOf('b', { timeZone: 'UTC' }));
    const { healthReasons } = await stats.overview();
    expect(healthReasons).toMatchObject([
      { code: 'time_zones_differ', text: expect.stringContaining('Asia/Shanghai (a), UTC (b)') },
    ]);
  });

  it.each([
    [['scheduler'], ['no_worker cardpoll daemon --roles worker', 'init_stuck cardpoll doctor']],
    [
      ['worker'],
      ['no_scheduler cardpoll daemon --roles scheduler', 'init_stuck cardpoll daemon --roles scheduler'],
    ],
    [['worker', 'scheduler'], ['init_stuck cardpoll doctor']],
  ])('a fleet of nothing but %j is not initialised after 35 s', async (roles, found) => {
    await fleet.alive(instanceOf('a', { roles }));
    clock.advance(35_000);
    expect((await stats.overview()).init.status).toBe('pending');
    clock.advance(1);
    const { init, healthReasons } = await stats.overview();
    expect(init.status).toBe('stuck');
    expect(healthReasons.map(({ code, command }) => `${code} ${command}`)).toEqual(found);
  });

  it('shows the progress of the initialisation, and since when something is wrong', async () => {
    const progress = {
      ...INIT_NOT_STARTED,
      total: 8,
      loaded: 2,
      startedAtMs: clock.now(),
      updatedAtMs: clock.now(),
    };
    await stores.live.coordination.saveInitProgress({ ...progress, status: 'running' });
    await stores.live.health.note(['no_worker', 'realname paused'], 60_000);
    const since = new Date(clock.now());
    clock.advance(10_000);
    await stores.live.work.pause('realname', { ms: 5_000, reason: '429', by: 'w' });
    await pauseByOperator(stores.live.work, 'package', { ms: 5_000, reason: '', by: 'anna' });
    const { init, health, healthReasons } = await stats.overview();
    expect(init).toMatchObject({ status: 'running', percent: 25, etaSeconds: 30 });
    expect(health).toBe('alert');
    expect(healthReasons).toMatchObject([
      { code: 'no_worker', taskType: null, since },
      { code: 'paused', taskType: 'realname', since },
      { code: 'paused', taskType: 'package', since: new Date(clock.now()) },
    ]);
    expect(healthReasons.map(inNumbers)).toEqual([
      'no_worker alert',
      'paused alert 5 429',
      'paused warning 5',
    ]);
  });
});

describe('a task type', () => {
  it('is held back by its own pauses alone', async () => {
    await pauseByOperator(stores.live.work, 'carddata', { ms: 90_000, reason: 'x', by: 'anna' });
    clock.advance(30_000);
    expect(await codes()).toEqual({ realname: [], carddata: ['paused'], package: [] });
    expect((await stats.tasks())[1]?.healthReasons.map(inNumbers)).toEqual(['paused warning 1']);
    expect((await stats.overview()).pauses).toMatchObject([{ taskType: 'carddata', by: 'anna' }]);
  });

  it('names the carriers that fail far more than the others, for five minutes', async () => {
    const carriers = new Map([
      [7, { polls: 100, failed: 96 }],
      [8, { polls: 400, failed: 3 }],
    ]);
    const delta = { succeeded: 402, failed: 98, durationMs: 500, reasons: { http: 98 }, carriers };
    await stores.live.stats.record('carddata', 'w', 1, statsDelta(delta));
    const said = async () => (await stats.tasks())[1]?.healthReasons.map(inNumbers);
    expect(await said()).toEqual(['carrier_failing alert 7 96', 'success_rate alert 80.4 98']);
    clock.advance(300_000);
    expect(await said()).toEqual([]);
  });

  it('is held back by a breaker of what it calls, and by that of the gateway', async () => {
    await fleet.alive(instanceOf('a', { breakers: [breaker('flow')] }));
    expect(await codes()).toEqual({ realname: [], carddata: ['breaker_open'], package: [] });
    await fleet.alive(instanceOf('a', { breakers: [breaker('gateway')] }));
    const each = ['breaker_open'];
    expect(await codes()).toEqual({ realname: each, carddata: each, package: each });
    const { interfaces } = (await stats.overview()).gateway;
    expect(interfaces.filter((one) => one.breaker !== 'closed')).toMatchObject([
      { interface: 'gateway', breaker: 'open', reason: 'timeouts', instances: 1 },
    ]);
  });

  it('shows stops without effect to a fleet that stops cards', async () => {
    await database.sql(`
      INSERT INTO card_usage (card_id, month, used_mb, last_reading_mb, read_at)
        SELECT id, date_trunc('month', now()), 2, 2, now() FROM generate_series(1, 3) id;
      INSERT INTO card_stops (card_id, month, iccid, used_mb, allowance_mb, unconfirmed, acknowledged_at)
        SELECT card_id, month, cards.iccid, 2, 1, 1, now() FROM card_usage JOIN cards USING (card_id) WHERE card_id < 3`);
    expect((await stats.overview()).stops).toMatchObject({ unconfirmed: 2 });
    expect(await codes()).toEqual({ realname: [], carddata: [], package: ['stop_unconfirmed'] });
  });

  it('shows waiting and completed stops and resumed cards to a fleet that stops cards', async () => {
    await database.sql(`
      INSERT INTO card_stops (card_id, month, iccid, used_mb, allowance_mb, state, held_by, resumed_at)
        SELECT id, '2026-11-01', '', 2, 1, state, reason, resumed
        FROM unnest(ARRAY[1, 2, 3], ARRAY['held', 'observed', 'resumed'], ARRAY['budget_day'],
          ARRAY[NULL, NULL, now() - interval '1 hour']) AS made(id, state, reason, resumed);
      UPDATE stop_control SET minute = floor(extract(epoch FROM now()) / 60), by_minute[61] = 1, by_quarter[97] = 1,
        by_quarter[50] = 2`);
    const stops = statsWith({ maxPerDay: { unit: 'cards', cards: 3 }, maxPerHour: { unit: 'none' } });
    expect((await stops.overview()).stops).toEqual({
      mode: 'enforce',
      ...{ doneHour: 1, doneDay: 3, budgetHour: null, budgetDay: 3, fleetCards: 3 },
      ...{
        held: 1,
        heldForOperator: 1,
        observed: 1,
        unconfirmed: 0,
        released: 0,
        resumedDay: 1,
        overRunning: null,
        overRunningAt: null,
        overRunningCards: [],
        stoppedWithin: null,
        stoppedWithinCards: [],
      },
    });
    expect((await stops.tasks())[2]?.healthReasons.map(inNumbers)).toEqual(['stops_held warning 1 3 3 1']);
  });

  it('shows the mode: that of the setting until an operator sets one', async () => {
    const mode = async () => (await statsWith({ mode: 'observe' }).overview()).stops.mode;
    expect(await mode()).toBe('observe');
    await stores.records.stopControl.setMode('enforce', 'anna', 'it looks right');
    expect(await mode()).toBe('enforce');
  });

  it('shows readings that jump until they are accepted', async () => {
    await stores.records.stopControl.beginJump({
      factor: 1024,
      baselineMbPerHour: 0.05,
      recentMbPerHour: 51.2,
      ...OF_FLEET,
    });
    const [jump] = (await stats.overview()).healthReasons.filter(({ code }) => code === 'usage_jump');
    expect(jump).toMatchObject({ taskType: 'package', severity: 'alert', since: expect.any(Date) });
    expect(jump?.since?.getTime()).toBe((await stores.records.stopControl.jump())?.sinceMs);
    await stores.records.stopControl.setMode('enforce', 'anna', 'the readings are right');
    // A reason is shown for ten seconds at least.
    clock.advance(10_000);
    expect(await codes()).toMatchObject({ package: [] });
  });

  it('shows readings that were not believed', async () => {
    const { stats: counts } = stores.live;
    const polls = { succeeded: 19, failed: 0, durationMs: 950 };
    await counts.record('carddata', 'w', 1, statsDelta({ ...polls, implausible: 10 }));
    await counts.record('package', 'w', 1, statsDelta(polls));
    const own = (await stats.overview()).healthReasons.filter(({ taskType }) => taskType !== null);
    expect(own).toMatchObject([{ taskType: 'carddata' }]);
    expect(own.map(inNumbers)).toEqual([
      expect.stringMatching(/^implausible_readings alert 10 19 \d+ 52\.6$/),
    ]);
  });

  it('shows no stops while the database does not answer', async () => {
    await database.sql('ALTER TABLE card_stops RENAME TO card_stops_away');
    try {
      expect((await stats.overview()).stops).toEqual({
        mode: null,
        ...{ doneHour: null, doneDay: null, budgetHour: null, budgetDay: null, fleetCards: null },
        ...{
          held: null,
          heldForOperator: null,
          observed: null,
          unconfirmed: null,
          released: null,
          resumedDay: null,
          overRunning: null,
          overRunningAt: null,
          overRunningCards: [],
          stoppedWithin: null,
          stoppedWithinCards: [],
        },
      });
      expect(await codes()).toEqual({ realname: [], carddata: [], package: [] });
    } finally {
      await database.sql('ALTER TABLE card_stops_away RENAME TO card_stops');
    }
  });

  it('has polls of its own', async () => {
    await stores.live.stats.record(
      'carddata',
      'w',
      1,
      statsDelta({ succeeded: 3, failed: 1, durationMs: 400 }),
    );
    const own = (await stats.tasks()).map(({ taskType, total, successRate }) => [
      taskType,
      total,
      successRate,
    ]);
    expect(own).toEqual([
      ['realname', 0, null],
      ['carddata', 4, 75],
      ['package', 0, null],
    ]);
  });

  it('has a queue and rings of its own', async () => {
    await fleet.queue('carddata', [1, 2, 3]);
    await fleet.claim('carddata', 1);
    await fleet.load({ configId: 1, taskType: 'realname' }, [1, 2], 64_000);
    clock.advance(32_000);
    const queues = await stats.queues();
    expect(queues).toMatchObject([
      { taskType: 'realname', queueLength: 0, due: 0, scheduledCards: 2, scheduleLagSeconds: 32 },
      { taskType: 'carddata', queueLength: 3, due: 2, inFlight: 1, scheduledCards: 0 },
      { taskType: 'package', queueLength: 0, scheduledCards: 0 },
    ]);
    expect(queues[1]?.scheduleLagSeconds, 'since the cards were queued').toBeGreaterThanOrEqual(32);
  });
});

describe('what is wrong', () => {
  it('is noted every two seconds, and ends half a minute after it was noted last', async () => {
    const watch = new HealthWatch({
      ...{ judge: stores.health, health: stores.live.health },
      clock,
      onError: () => {},
    });
    const names = async () =>
      [...(await stores.live.health.since()).keys()].filter((name) => name !== 'watched');
    await pauseByOperator(stores.live.work, 'package', { ms: 1_000, reason: '', by: 'anna' });
    const since = new Date(clock.now());
    expect(await watch.runOnce()).toBe(2_000);
    expect(await names()).toEqual(['no_worker', 'package paused']);
    clock.advance(10_000);
    await watch.runOnce();
    expect((await stats.overview()).healthReasons).toMatchObject([{ code: 'no_worker', since }]);
    clock.advance(20_000);
    expect(await names(), 'the pause is over, and may come again').toEqual(['no_worker', 'package paused']);
    clock.advance(1);
    expect(await names()).toEqual(['no_worker']);
    clock.advance(10_000);
    expect(await names()).toEqual([]);
  });
});

describe('a dead gateway', () => {
  it('is one reason of the fleet, with the time of its beginning', async () => {
    const watch = new HealthWatch({
      ...{ judge: stores.health, health: stores.live.health },
      clock,
      onError: () => {},
    });
    await fleet.alive(instanceOf('a', { breakers: [breaker('gateway')] }));
    const since = new Date(clock.now());
    await watch.runOnce();
    clock.advance(3_000);
    const { healthReasons, tasks } = await stats.overview();
    expect(healthReasons).toMatchObject([{ code: 'breaker_open', taskType: null, since }]);
    expect(tasks.map((task) => task.healthReasons[0]?.since)).toEqual([since, since, since]);
  });
});

describe('the number of cards', () => {
  it.each([
    [true, 1_000],
    [undefined, 1_000],
    [false, 3],
  ])('is counted unless an estimate will do: exact %s', async (exactTotals, cardsTotal) => {
    const totals = { count: async () => 1_000, estimate: async () => 3 };
    const cards = Object.assign(Object.create(stores.records.cards), totals);
    const guard = new SsrfGuard([], NO_PROXIES);
    const { stats: anew } = openOperations({
      live: stores.live,
      records: { ...stores.records, cards },
      health: stores.health,
      clock,
      timeZone: 'UTC',
      version: '1.2.3',
      stops: DEFAULT_STOPS,
      offers: () => true,
      guard,
      tester: new WebhookTester({ ...TESTER_MEANS, guard, secrets: [], timeZone: 'UTC', clock }),
      auditLog: { info: () => {} },
      ...(exactTotals === undefined ? {} : { exactTotals }),
    });
    expect((await anew.overview()).cardsTotal).toBe(cardsTotal);
  });
});

describe('the capacity of the fleet', () => {
  it('is that of its task types, with what each of them needs', async () => {
    await fleet.alive(instanceOf('a'));
    await overload('realname');
    await overload('package', 6, 30_000);
    expect((await stats.overview()).capacity).toEqual({
      demandPerSecond: 0.3,
      capacityPerSecond: 0.13,
      boundBy: 'concurrency',
      headroomPercent: -200,
      headroomTaskType: 'package',
      drainSeconds: 0,
      heldBy: null,
      advice: expect.stringMatching(
        /^raise the limit of realname to 20, .* 2\.2 .*; raise the limit of package to 20, .* 3\.3 /,
      ),
    });
  });

  it('is not known while the gateway is dead, whatever the few calls took', async () => {
    await overload('realname');
    await fleet.alive(instanceOf('a', { breakers: [breaker('gateway')] }));
    const { capacity, tasks } = await stats.overview();
    expect(capacity).toMatchObject({
      capacityPerSecond: null,
      boundBy: null,
      headroomPercent: null,
      heldBy: 'the gateway is dead',
      advice: null,
    });
    expect(tasks.map((task) => task.capacity.heldBy)).toEqual(Array(3).fill('the gateway is dead'));
  });

  it('comes without advice where it does', async () => {
    await fleet.alive(instanceOf('a'));
    await overload('realname', 3);
    const { capacity } = await stats.overview();
    expect(capacity).toMatchObject({
      demandPerSecond: 0.05,
      capacityPerSecond: 0.1,
      boundBy: 'concurrency',
      headroomPercent: 50,
      advice: null,
    });
  });
});
