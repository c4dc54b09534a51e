import { describe, expect, it } from 'vitest';
import type { PollsByCarrier } from '../../../../src/domain/results/carrier-polls.ts';
import { schedulePaceOf } from '../../../../src/domain/schedule/schedule-pace.ts';
import { judgeTask, type LimitedCounts } from '../../../../src/health/task-judge.ts';
import * as reports from '../../../../src/operations/stats/task-stats.ts';
import type { QueueStats } from '../../../../src/resources/stats.ts';
import { readingOf } from '../../../../src/store/ports/live/fleet-reading.ts';
import type { RingState } from '../../../../src/store/ports/live/rings.ts';
import { inNumbers } from '../../../support/judged-facts.ts';

const NOW_MS = 1_800_000_000_000;

const counts: LimitedCounts = {
  taskType: 'carddata',
  queueLength: 30,
  waitedMs: 0,
  retryDue: 0,
  backoff: 0,
  due: 10,
  inFlight: 3,
  manualLength: 2,
  maxConcurrency: 7,
  effectiveConcurrency: 7,
  leaderLimit: null,
  inForce: true,
};

function ring(changes: Partial<RingState>): RingState {
  return {
    configId: 1,
    taskType: 'carddata',
    enabled: true,
    generation: 1,
    members: 1_000,
    selection: '',
    loaded: true,
    building: null,
    buckets: 64,
    split: 0,
    intervalMs: 64_000,
    anchorMs: NOW_MS - 100_000,
    cursor: 100,
    skippedRevolutions: 0,
    achievedIntervalMs: null,
    lapStartedAtMs: null,
    joinedAfterId: 0,
    ...changes,
  };
}

function reading(
  succeeded: number,
  failed: number,
  durationMs: number,
  carriers: PollsByCarrier = new Map(),
  rings: readonly RingState[] = [],
  reasons: Record<string, number> = {},
) {
  const window = {
    succeeded,
    failed,
    durationMs,
    succeededMs: 0,
    implausible: 0,
    counters: 0,
    fallen: 0,
    seconds: 300,
    durations: {},
    reasons,
    carriers,
  };
  return readingNow(window, window, rings);
}

type Polls = ReturnType<typeof readingOf>['stats']['window'];

/** @param now the polls of the last seconds. */
function readingNow(window: Polls, now: Polls, rings: readonly RingState[] = []) {
  const stats = {
    total: 1_000,
    succeeded: 900,
    failed: 100,
    durationMs: 0,
    backpressure: 0,
    timeouts: 0,
    succeededMs: 0,
    limitReached: 0,
    window,
    now,
    lately: now,
    recent: { polls: 30, succeeded: 30, seconds: 15, durations: {} },
  };
  return readingOf(counts, stats, rings, NOW_MS);
}

const queueOf = (rings: readonly RingState[], differing: Partial<LimitedCounts> = {}) =>
  reports.queueStatsOf({ ...counts, ...differing }, schedulePaceOf(rings, NOW_MS));

describe('queueStatsOf', () => {
  it('sums the members of the rings', () => {
    const rings = [ring({}), ring({ configId: 2, members: 5 })];
    expect(queueOf(rings)).toMatchObject({
      scheduledCards: 1_005,
      queueLength: 30,
      due: 10,
    });
  });

  it('reports how far the slowest enabled ring is behind', () => {
    const rings = [
      ring({ cursor: 100 }),
      ring({ configId: 2, cursor: 58 }),
      ring({ configId: 3, cursor: 70 }),
    ];
    expect(queueOf(rings).scheduleLagSeconds).toBe(42);
  });

  it.each([
    ['longer than its ring is late', 50_000, 50],
    ['less long', 1_000, 42],
  ])('counts a card that waits %s', (_how, waitedMs, lag) => {
    const { stats } = reading(0, 0, 0);
    const { metrics } = readingOf({ ...counts, waitedMs }, stats, [ring({ cursor: 58 })], NOW_MS);
    expect(metrics.schedule.scheduleLagSeconds).toBe(lag);
  });

  it.each([
    ['ahead of its time', ring({ cursor: 150 })],
    ['disabled', ring({ enabled: false, cursor: 0 })],
    ['never built', ring({ generation: 0, buckets: 0, cursor: 0 })],
  ])('counts no lag for a ring that is %s', (_why, late) => {
    expect(queueOf([late]).scheduleLagSeconds).toBe(0);
  });

  it('shows the ring that is worst off for its interval, and what was left out', () => {
    const fast = ring({ intervalMs: 4_000, achievedIntervalMs: 43_000, skippedRevolutions: 9 });
    const slow = ring({ configId: 2, achievedIntervalMs: 65_000, skippedRevolutions: 1 });
    const off = ring({ configId: 3, enabled: false, achievedIntervalMs: 1e9 });
    for (const rings of [
      [slow, fast, off],
      [fast, off, slow],
    ])
      expect(queueOf(rings)).toMatchObject({
        intervalSeconds: 4,
        achievedIntervalSeconds: 43,
        skippedRevolutions: 10,
      });
    expect(queueOf([off])).toMatchObject({
      intervalSeconds: null,
      achievedIntervalSeconds: null,
    });
  });

  it('counts no more than one revolution as owed', () => {
    const lost = ring({ cursor: -10_000 });
    expect(queueOf([lost])).toMatchObject({ overdueCards: 1_000 });
  });

  it('gives running tasks in percent of the limit', () => {
    expect(queueOf([]).concurrency).toEqual({
      current: 3,
      max: 7,
      usagePercent: 42.86,
    });
  });
});

const FREE = {
  instances: [{ roles: ['worker'], databaseOutage: null }],
  pauses: [],
  nowMs: 0,
  starting: false,
  breakers: [],
  followUps: [],
  cutOff: new Map(),
  growth: null,
  stops: null,
  limit: null,
  paceShare: null,
  maintained: [],
  stopMode: null,
  since: new Map<string, number>(),
};

type Around = Parameters<typeof judgeTask>[1];

/** The numbers of a task type with these counts, as health judges it. */
function taskStatsOf(queue: QueueStats, own: ReturnType<typeof reading>, around: Around) {
  const limited = { ...counts, ...queue, maxConcurrency: queue.concurrency.max };
  return reports.taskStatsOf(judgeTask({ ...own, counts: limited }, around), true);
}

describe('taskStatsOf', () => {
  const queue = queueOf([]);

  it('takes rate, success and duration from the window and the totals from the start of counting', () => {
    expect(taskStatsOf(queue, reading(285, 15, 60_000), FREE)).toMatchObject({
      total: 1_000,
      succeeded: 900,
      failed: 100,
      successRate: 95,
      avgDurationMs: 200,
      ratePerSecond: 1,
      ratePerSecond_10s: 2,
      health: 'warning',
      healthReasons: [{ code: 'success_rate', severity: 'warning' }],
    });
  });

  it('does not count polls that cardpoll held back against the gateway', () => {
    const carriers = new Map([[7, { polls: 40, failed: 30 }]]);
    const stats = taskStatsOf(queue, reading(570, 430, 0, carriers, [], { held: 400, timeout: 30 }), FREE);
    expect(stats).toMatchObject({ held: 400, successRate: 95 });
    expect(stats.healthReasons.map(inNumbers)).toEqual([
      'carrier_failing warning 7 75',
      'success_rate warning 95 30',
      'polls_held warning 40',
    ]);
    const none = taskStatsOf(queue, reading(0, 300, 0, new Map(), [], { held: 300 }), FREE);
    expect(none).toMatchObject({
      successRate: null,
      health: 'warning',
      healthReasons: [{ code: 'polls_held' }],
    });
    const few = taskStatsOf(queue, reading(95, 5, 0, new Map(), [], { held: 5 }), FREE);
    expect(few).toMatchObject({ successRate: 100, healthReasons: [] });
    const { metrics } = reading(1, 999, 0, new Map(), [], { held: 998, timeout: 1 });
    expect(metrics).toMatchObject({ polls: 1_000, held: 998, successRate: 50 });
  });

  it('names the carrier that fails far more than the others', () => {
    const carriers = new Map([[7, { polls: 100, failed: 96 }]]);
    const { healthReasons } = taskStatsOf(queue, reading(800, 200, 60_000, carriers), FREE);
    expect(healthReasons.map(inNumbers)).toEqual(['carrier_failing alert 7 96', 'success_rate alert 80']);
  });

  it('reports what holds the type back', () => {
    const pause = {
      ...({
        id: null,
        sinceMs: 0,
        source: 'gateway',
        by: 'worker',
        reason: 'HTTP 429',
        untilMs: 30_000,
      } as const),
    };
    const { health, healthReasons } = taskStatsOf(queue, reading(10, 0, 100), { ...FREE, pauses: [pause] });
    expect([health, ...healthReasons.map(inNumbers)]).toEqual(['alert', 'paused alert 30 429']);
  });

  it('compares what the schedule asks for with what the limit lets through', () => {
    // Seven calls of 100 ms at a time are 70 a second; 6,400 cards every 64 s are 100 a second.
    const rings = [ring({ members: 6_400, cursor: 58 })];
    const busy = queueOf(rings);
    expect(busy).toMatchObject({ demandPerSecond: 100, scheduleLagSeconds: 42, overdueCards: 4_200 });
    const { capacity, healthReasons } = taskStatsOf(busy, reading(10, 0, 1_000, new Map(), rings), FREE);
    expect(capacity).toMatchObject({
      capacityPerSecond: 70,
      boundBy: 'concurrency',
      headroomPercent: -42.86,
      drainSeconds: null,
    });
    expect(healthReasons).toContainEqual(
      expect.objectContaining({ code: 'overloaded', command: 'cardpoll concurrency set carddata 50' }),
    );
    const wide = queueOf(rings, { maxConcurrency: 20, effectiveConcurrency: 20 });
    // 10 due, 2 by hand and 4,200 overdue at 100 a second to spare.
    expect(taskStatsOf(wide, reading(10, 0, 1_000, new Map(), rings), FREE).capacity.drainSeconds).toBe(43);
  });

  it('counts failing cards whose retry is due with those that wait for it', () => {
    expect(queueOf([], { backoff: 2, retryDue: 1_350 })).toMatchObject({ backoff: 1_352, due: 10 });
  });

  it.each([
    ['no worker is alive', [{ roles: ['api'], databaseOutage: null }], 'no instance is known to poll'],
    [
      'no worker can use the database',
      [
        { roles: ['worker'], databaseOutage: { sinceMs: 0, reason: 'it is down' } },
        { roles: ['api'], databaseOutage: null },
      ],
      'no instance can use the database',
    ],
  ])('shows no capacity while %s', (_, instances, heldBy) => {
    const { capacity } = taskStatsOf(queue, reading(10, 0, 1_000), { ...FREE, instances });
    expect(capacity).toMatchObject({ heldBy, capacityPerSecond: null, drainSeconds: null });
  });

  it('asks for more than nothing with one card an hour', () => {
    const rings = [ring({ members: 1, intervalMs: 3_600_000 })];
    const { capacity, demandPerSecond } = taskStatsOf(
      queueOf(rings),
      reading(10, 0, 1_000, new Map(), rings),
      FREE,
    );
    expect([demandPerSecond, capacity.demandPerSecond, capacity.headroomPercent]).toEqual([
      0.000_28, 0.000_28, 99.99,
    ]);
  });

  it('owes what waits in the manual list too', () => {
    // 70 a second let through, 20 of them asked for: 10 due and 490 by hand take ten seconds.
    const rings = [ring({ members: 1_280 })];
    const own = queueOf(rings, { manualLength: 490 });
    const { capacity } = taskStatsOf(own, reading(10, 0, 1_000, new Map(), rings), FREE);
    expect(capacity.drainSeconds).toBe(10);
  });

  it('is worse off while its limit is used up and the queue grows, not while it is enough', () => {
    const used = queueOf([], { inFlight: 7 });
    expect(taskStatsOf(used, reading(10, 0, 100), FREE).healthReasons).toEqual([]);
    const rings = [ring({ members: 6_400 })];
    const short = queueOf(rings, { inFlight: 7 });
    const { healthReasons } = taskStatsOf(short, reading(10, 0, 1_000, new Map(), rings), FREE);
    expect(healthReasons.map(inNumbers)).toEqual([
      'concurrency_usage alert 100',
      'overloaded warning 50 1.6',
    ]);
  });

  it('judges and shows the present, and keeps the five minutes next to it', () => {
    const polls = (over: Partial<Polls>): Polls => ({ ...reading(0, 0, 0).stats.window, ...over });
    const five = polls({ succeeded: 50_000, durationMs: 1_000_000, succeededMs: 1_000_000 });
    const now = polls({
      succeeded: 200,
      failed: 200,
      durationMs: 1_200_000,
      succeededMs: 600_000,
      durations: { 36: 400 },
      reasons: { http: 200 },
    });
    const limit = { limit: null, normalMs: 3_000, reason: null, curve: [] };
    const usual = { p50Ms: 20, meanMs: 20, seconds: 600 };
    const slow = taskStatsOf(queue, readingNow(five, now), { ...FREE, limit: { ...limit, usual } });
    expect(slow).toMatchObject({
      ...{ successRate: 100, avgDurationMs: 20 },
      ...{ successRate_10s: 50, avgDurationMs_10s: 3_000, usualDurationMs: 20 },
      capacity: { capacityPerSecond: 2.33 },
      advice: { verdict: 'keep', maxConcurrency: 7 },
    });
    expect(slow.healthReasons.map(inNumbers)).toEqual([
      'gateway_slow warning 3.0 0.02',
      'success_rate alert 50 200',
      'avg_duration alert 3.0',
    ]);
  });

  it('has no success rate and no duration without a sample', () => {
    const stats = taskStatsOf(queue, reading(0, 0, 0), FREE);
    expect(stats).toMatchObject({
      successRate: null,
      avgDurationMs: null,
      ratePerSecond: 0,
      health: 'normal',
    });
  });

  it('takes a few failures of the last seconds for chance, not many', () => {
    const polls = (over: Partial<Polls>): Polls => ({ ...reading(0, 0, 0).stats.window, ...over });
    const five = polls({ succeeded: 970, failed: 30 });
    const codes = (succeeded: number, failed: number) =>
      taskStatsOf(queue, readingNow(five, polls({ succeeded, failed })), FREE).healthReasons.map(
        ({ code }) => code,
      );
    expect(codes(90, 7)).toEqual([]);
    expect(codes(900, 70)).toEqual(['success_rate']);
    expect(codes(20, 10)).toEqual(['success_rate']);
    expect(codes(3, 9)).toEqual(['success_rate']);
  });

  it('ends what the last minutes show as soon as the last polls cannot be of the same', () => {
    const polls = (over: Partial<Polls>): Polls => ({ ...reading(0, 0, 0).stats.window, ...over });
    const said = (five: Partial<Polls>, succeeded: number) =>
      taskStatsOf(queue, readingNow(polls(five), polls({ succeeded, seconds: 20 })), FREE).healthReasons.map(
        inNumbers,
      );
    // Ten polls of a gateway that fails every second call do not all succeed, those of one that fails every fourth may.
    expect(said({ succeeded: 50, failed: 50 }, 10)).toEqual([]);
    expect(said({ succeeded: 75, failed: 25 }, 10)).toEqual(['success_rate alert 75 5 100 20']);
    expect(said({ succeeded: 75, failed: 25 }, 25)).toEqual([]);
  });

  it('ends what was slow when the last polls are not, and does not take few slow ones for slowness', () => {
    const polls = (succeeded: number, meanMs: number): Polls => ({
      ...reading(succeeded, 0, 0).stats.window,
      durationMs: succeeded * meanMs,
    });
    const codes = (fiveMs: number, nowMs: number) =>
      taskStatsOf(queue, readingNow(polls(100, fiveMs), polls(12, nowMs)), FREE).healthReasons.map(
        ({ code }) => code,
      );
    expect(codes(2_244, 20)).toEqual([]);
    expect(codes(20, 2_244)).toEqual([]);
    expect(codes(2_244, 2_244)).toEqual(['avg_duration']);
  });

  it('says at once that readings are not believed, and that they are again', () => {
    const polls = (succeeded: number, implausible: number): Polls => ({
      ...reading(succeeded, 0, 0).stats.window,
      implausible,
    });
    const severities = (five: Polls, now: Polls) =>
      taskStatsOf(queue, readingNow(five, now), FREE).healthReasons.map(({ severity }) => severity);
    expect(severities(polls(7_500, 300), polls(300, 300))).toEqual(['alert']);
    expect(severities(polls(7_500, 4_000), polls(300, 0))).toEqual([]);
    expect(severities(polls(40, 30), polls(12, 0))).toEqual(['alert']);
  });

  it('judges health before rounding', () => {
    const stats = taskStatsOf(queue, reading(8_999_999, 1_000_001, 0), FREE);
    expect(stats).toMatchObject({ successRate: 89.99, health: 'alert' });
    expect(stats.healthReasons[0]?.text).toBe('89.9 % of polls succeed');
    expect(taskStatsOf(queue, reading(999_999, 1, 0), FREE).successRate).toBe(99.99);
  });
});
