// What a fleet of another size would take: computed from measured figures, and nothing is guessed.
import { describe, expect, it } from 'vitest';
import {
  type PlanFacts,
  type PlannedTask,
  type PlanRequest,
  planOf,
} from '../../../../src/operations/plan/plan.ts';

/** 100,000 cards, of which 100 a second are polled, in 100 ms each. */
function task(taskType: PlannedTask['taskType'], over: Partial<PlannedTask> = {}): PlannedTask {
  return {
    taskType,
    offered: true,
    configs: [{ id: 1, intervalSeconds: 1_000, members: 100_000 }],
    callMs: 100,
    usualMs: 90,
    maxConcurrency: 100,
    effectiveConcurrency: 100,
    bestPerSecond: 110,
    leastIntervalSeconds: 0,
    ...over,
  };
}

function facts(over: Partial<PlanFacts> = {}): PlanFacts {
  return {
    atMs: 0,
    cards: 100_000,
    tasks: [task('realname'), task('carddata'), task('package')],
    limits: [],
    cardsPerCall: () => 1,
    ceiling: null,
    redis: { servers: 1, usedBytes: 20e6, limitBytes: 1e9 },
    databaseBytes: 80e6,
    workers: [{ cpuPercent: 20 }, { cpuPercent: 10 }],
    bestPerSecond: 310,
    polledPerSecond: 300,
    ...over,
  };
}

function withTask(over: Partial<PlannedTask>): PlanFacts {
  return facts({ tasks: [task('realname'), task('carddata', over), task('package')] });
}

const asked = (over: Partial<PlanRequest> = {}): PlanRequest => ({
  ...{ cards: null, add: null, intervals: [] },
  ...over,
});
const everySecond = (perSecond: number) => ({ id: 'all/second', interfaces: null, perSecond, burst: 10 });

const DOUBT = '; whether 2 instances are enough is not known';

it('a fleet fits as it is where its limits and what was measured allow the planned polls', () => {
  expect(planOf(facts(), asked())).toMatchObject({
    ...{ verdict: 'fits', text: 'fits as it is', needs: [], cards: 100_000, plannedCards: 100_000 },
    assumptions: ['a call takes as long as now, however many run at a time'],
  });
});

it('far more polls than were measured in any minute fit, but leave open whether the instances are enough', () => {
  const plan = planOf(facts(), asked({ add: 400_000 }));
  expect(plan.text).toBe(`fits as it is${DOUBT}`);
  expect(plan.tasks[1]).toMatchObject({
    ...{ demandPerSecond: 100, plannedPerSecond: 500, possiblePerSecond: 1_000, neededConcurrency: 55 },
    ...{ callMs: 100, callMsFrom: 'last_seconds', command: null },
  });
  expect(plan.assumptions[0]).toBe('the cards keep their mix of carriers and configs');
  expect(plan.notKnown).toContain('instances: no instance was busy');
});

it.each<[string, Partial<PlanRequest>, number]>([
  ['an absolute number', { cards: 300_000 }, 300_000],
  ['cards in addition', { add: 200_000 }, 300_000],
  ['fewer cards', { add: -50_000 }, 50_000],
  ['no card', { cards: 0 }, 0],
])('the plan is for %s', (_, request, plannedCards) => {
  const plan = planOf(facts(), asked(request));
  expect(plan).toMatchObject({ verdict: 'fits', plannedCards });
  expect(plan.tasks[0]?.plannedPerSecond).toBe(plannedCards / 1_000);
});

it.each<[string, Partial<PlanRequest>]>([
  ['too many cards in all', { add: 999_950_000 }],
  ['fewer than no card', { add: -100_001 }],
  ['both forms', { cards: 5, add: 5 }],
])('%s are refused', (_, request) => {
  expect(() => planOf(facts(), asked(request))).toThrow(
    expect.objectContaining({ kind: 'invalid', code: 'invalid_field' }),
  );
});

it('a limit that is too low is named with the command that sets the one needed', () => {
  const plan = planOf(facts(), asked({ add: 1_900_000 }));
  expect(plan.verdict).toBe('needs');
  expect(plan.needs).toEqual([
    'concurrency of realname 220 (now 100)',
    'concurrency of carddata 220 (now 100)',
    'concurrency of package 220 (now 100)',
  ]);
  expect(plan.tasks[1]?.command).toBe('cardpoll concurrency set carddata 220');
});

it('a limit beyond the largest is no limit to set', () => {
  const plan = planOf(facts(), asked({ cards: 1_000_000_000 }));
  expect(plan.tasks[1]).toMatchObject({ neededConcurrency: 110_000, command: null });
  expect(plan.text).toContain('110,000 calls of carddata at a time, and a limit is at most 100,000');
});

it('a limit that the leader has lowered leaves it open whether the gateway takes more', () => {
  const lowered = withTask({ effectiveConcurrency: 40 });
  expect(planOf(lowered, asked({ add: 400_000 }))).toMatchObject({
    verdict: 'unknown',
    text: 'cannot be told: carddata: 40 of 100 calls at a time are in force, and 55 are needed',
  });
  expect(planOf({ ...lowered, ceiling: 1_000 }, asked({ add: 400_000 })).verdict).toBe('fits');
});

it('a rate limit in the way is named with the rate that is needed', () => {
  const limits = [everySecond(400)];
  expect(planOf(facts({ limits }), asked())).toMatchObject({
    verdict: 'fits',
    rateLimits: [{ id: 'all/second', perSecond: 400, plannedPerSecond: 300 }],
  });
  const plan = planOf(facts({ limits }), asked({ add: 100_000 }));
  expect(plan.text).toBe(`needs: rate limit all/second of 600 a second (now 400 a second)${DOUBT}`);
  expect(plan.tasks[1]?.possiblePerSecond).toBeCloseTo(133.33);
});

it('calls of several cards count once in a rate limit', () => {
  const plan = planOf(facts({ limits: [everySecond(60)], cardsPerCall: () => 10 }), asked({ add: 50_000 }));
  expect(plan).toMatchObject({ verdict: 'fits', rateLimits: [{ plannedPerSecond: 45 }] });
});

it('a rate limit of one interface counts that interface alone', () => {
  const limits = [{ ...everySecond(120), interfaces: ['flow'] as const }];
  expect(planOf(facts({ limits }), asked({ add: 10_000 }))).toMatchObject({
    verdict: 'fits',
    rateLimits: [{ plannedPerSecond: 110 }],
  });
});

it('gateway.max_concurrency is in the way where all types together need more', () => {
  const plan = planOf(facts({ ceiling: 30 }), asked({ add: 100_000 }));
  expect(plan.text).toBe(`needs: gateway.max_concurrency 66 (now 30)${DOUBT}`);
  expect(plan.gateway).toEqual({ maxConcurrency: 30, neededConcurrency: 66 });
});

it('an interval replaces those of all enabled configs of the type', () => {
  const configs = [
    { id: 1, intervalSeconds: 1_000, members: 60_000 },
    { id: 2, intervalSeconds: 60, members: 6_000 },
  ];
  const plan = planOf(withTask({ configs }), asked({ intervals: [{ taskType: 'carddata', seconds: 600 }] }));
  expect(plan.tasks[1]).toMatchObject({ intervalSeconds: 600, demandPerSecond: 160, plannedPerSecond: 110 });
  expect(plan.tasks[0]).toMatchObject({ intervalSeconds: null, plannedPerSecond: 100 });
});

it('an interval that the gateway forbids for one card is named with the shortest allowed one', () => {
  const limited = withTask({ leastIntervalSeconds: 900 });
  expect(planOf(limited, asked()).verdict).toBe('fits');
  expect(planOf(limited, asked({ intervals: [{ taskType: 'carddata', seconds: 600 }] })).text).toBe(
    `needs: an interval of 15m or more for carddata (gateway.rate_limits)${DOUBT}`,
  );
});

it.each([
  ['without an enabled config', { configs: [] }, 'carddata: no config is enabled, so nothing is polled'],
  [
    'that is not offered',
    { offered: false },
    'carddata: the gateway does not offer it, so nothing is polled',
  ],
])('a type %s needs nothing, and the plan says so', (_, over, said) => {
  const plan = planOf(withTask({ ...over, callMs: null, usualMs: null }), asked({ add: 100_000 }));
  expect(plan.verdict).toBe('fits');
  expect(plan.tasks[1]).toMatchObject({ plannedPerSecond: 0, neededConcurrency: null });
  expect(plan.notKnown).toContain(said);
});

describe('nothing measured', () => {
  const unmeasured = { callMs: null, usualMs: null, bestPerSecond: null };

  it('no call means that no limit can be computed', () => {
    const tasks = [task('realname', unmeasured), task('carddata', unmeasured), task('package')];
    const plan = planOf(facts({ tasks }), asked({ add: 100_000 }));
    expect(plan).toMatchObject({
      verdict: 'unknown',
      text: 'cannot be told: no call of realname, carddata was measured',
      gateway: { neededConcurrency: null },
    });
    expect(plan.tasks[1]).toMatchObject({
      ...{ possiblePerSecond: null, callMs: null, callMsFrom: null },
      ...{ neededConcurrency: null, command: null },
    });
  });

  it('a day of calls is enough', () => {
    const plan = planOf(withTask({ callMs: null }), asked());
    expect(plan.tasks[1]).toMatchObject({ callMs: 90, callMsFrom: 'last_day', neededConcurrency: 10 });
  });

  it('a pace of the last hour is enough', () => {
    const plan = planOf(withTask({ callMs: null, usualMs: null }), asked());
    expect(plan.verdict).toBe('fits');
    expect(plan.notKnown).toContain('no call of carddata was measured');
  });

  it('a ring that is not built leaves the demand open', () => {
    const plan = planOf(withTask({ configs: [{ id: 7, intervalSeconds: 60, members: null }] }), asked());
    expect(plan.text).toBe('cannot be told: carddata: the schedule of config 7 is not built');
    expect(plan.tasks[1]).toMatchObject({ demandPerSecond: null, plannedPerSecond: null });
  });

  it('a fleet without cards has no mix to plan with', () => {
    const tasks = [task('carddata', { configs: [{ id: 1, intervalSeconds: 60, members: 0 }] })];
    const empty = facts({ cards: 0, tasks, polledPerSecond: 0 });
    expect(planOf(empty, asked({ add: 10 })).text).toBe(
      'cannot be told: the fleet has no cards, so their mix of carriers and configs is not known',
    );
    expect(planOf(empty, asked()).verdict).toBe('fits');
  });
});

describe('stores', () => {
  it('a server of Redis that gets too full needs more memory', () => {
    const redis = { servers: 1, usedBytes: 20e6, limitBytes: 100e6 };
    const plan = planOf(facts({ redis }), asked({ cards: 1_000_000 }));
    expect(plan.text).toContain('memory of Redis for 108.2 MB (now 100.0 MB)');
    expect(plan.redis).toMatchObject({ bytesPerCard: 98, plannedBytes: 108_200_000 });
  });

  it('bytes per card in PostgreSQL are measured, and of a small fleet not known', () => {
    expect(planOf(facts(), asked({ add: 100_000 })).database).toEqual({
      ...{ bytes: 80e6, bytesPerCard: 800, plannedBytes: 160e6 },
    });
    const small = planOf(facts({ cards: 9_999 }), asked({ add: 1 }));
    expect(small.database).toEqual({ bytes: 80e6, bytesPerCard: null, plannedBytes: null });
    expect(small.notKnown).toContain('PostgreSQL: bytes per card, with fewer than 10,000 cards');
  });

  it('sizes that a store does not report are not known', () => {
    const redis = { servers: 0, usedBytes: null, limitBytes: null };
    const plan = planOf(facts({ redis, databaseBytes: null }), asked());
    expect(plan.verdict).toBe('fits');
    expect(plan.notKnown).toEqual(
      expect.arrayContaining(['Redis: its memory is not reported', 'PostgreSQL: the size of the database']),
    );
  });
});

describe('instances', () => {
  it('a fleet that polls nothing at the moment fits with that word', () => {
    const plan = planOf(facts({ workers: [], bestPerSecond: null, polledPerSecond: 0 }), asked());
    expect(plan.text).toBe('fits as it is; no instance polls now');
  });

  it('busy instances give a lower bound', () => {
    const busy = facts({ workers: [{ cpuPercent: 80 }, { cpuPercent: 80 }] });
    const plan = planOf(busy, asked({ add: 200_000 }));
    expect(plan.instances).toEqual({ workers: 2, busy: 2, perSecond: 150, cpuPercent: 80, atLeast: 5 });
    expect(plan.text).toBe('needs: at least 5 instances (now 2)');
    expect(planOf(busy, asked()).verdict).toBe('fits');
  });

  it.each([
    ['one that is not busy', [{ cpuPercent: 80 }, { cpuPercent: 20 }], 'instances: only 1 of 2 were busy'],
    ['one that does not say', [{ cpuPercent: 80 }, { cpuPercent: null }], 'instances: only 1 of 2 were busy'],
    ['none', [], 'instances: none polls now'],
  ])('a fleet with %s gives none', (_, workers, said) => {
    const plan = planOf(facts({ workers }), asked());
    expect(plan.instances.atLeast).toBeNull();
    expect(plan.notKnown).toContain(said);
  });
});
