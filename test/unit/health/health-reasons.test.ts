import { describe, expect, it } from 'vitest';
import type { TASK_TYPES } from '../../../src/domain/task-type.ts';
import {
  type ClockGap,
  failingCauses,
  goneCauses,
  logCauses,
  putBackCauses,
  reloadCauses,
  zoneCauses,
} from '../../../src/health/fleet-faults.ts';
import { KeptReasons } from '../../../src/health/fleet-health.ts';
import * as found from '../../../src/health/health-reasons.ts';
import { healthOfReasons, type TaskHealthInputs } from '../../../src/health/health-reasons.ts';
import { inOrder } from '../../../src/health/reason-order.ts';
import type { StopFigures } from '../../../src/health/stop-figures.ts';
import type { InstanceInfo } from '../../../src/store/ports/live/coordination.ts';
import { instanceOf } from '../../support/polled-fleet.ts';
import { CALM_STOPS } from '../../support/stop-figures.ts';

const UNCHANGED = { nowMs: 0, changeOf: () => null };
const taskReasons = (inputs: TaskHealthInputs) => inOrder(found.taskReasons(inputs), UNCHANGED);
type FleetInputs = Parameters<typeof found.fleetReasons>[0];
const fleetReasons = (inputs: Omit<FleetInputs, 'pauses'> & Partial<FleetInputs>) =>
  inOrder(found.fleetReasons({ pauses: [], ...inputs }), UNCHANGED);

const KEEP: TaskHealthInputs['advice'] = {
  verdict: 'keep',
  maxConcurrency: 100,
  recommended: { min: 100, max: 200 },
  remedy: null,
  why: '',
};
/** Of a type that gets more than it can poll. */
const SHORT: TaskHealthInputs['advice'] = { ...KEEP, remedy: 'poll realname 1.8 times less often' };
const RAISE: TaskHealthInputs['advice'] = {
  ...SHORT,
  verdict: 'raise',
  maxConcurrency: 180,
  remedy: 'raise realname to 180, or poll realname 1.8 times less often',
};

const FINE: TaskHealthInputs = {
  taskType: 'realname',
  queueLength: 10,
  successRate: 99,
  avgDurationMs: 50,
  concurrencyPercent: 60,
  due: 10,
  waitedMs: 10_000,
  inFlight: 5,
  recentPolls: 100,
  maxConcurrency: 100,
  effectiveConcurrency: 100,
  inForce: true,
  limit: null,
  slowness: null,
  slowCarriers: [],
  durations: {},
  demandPerSecond: 10,
  paceShare: null,
  intervalSeconds: 60,
  achievedIntervalSeconds: 60,
  stops: CALM_STOPS,
  readings: {
    total: 100,
    seconds: 20,
    implausible: 5,
    counters: 0,
    fallen: 0,
    stillMinutes: null,
    stopMode: 'enforce',
  },
  polls: 0,
  held: 0,
  judgedSeconds: 300,
  present: { successRate: null, seconds: 20 },
  failedBy: {},
  outlyingCarriers: [],
  drainSeconds: 0,
  advice: KEEP,
  pauses: [],
  nowMs: 0,
  starting: false,
  breakers: [],
  followUps: [],
  cutOff: new Map(),
  since: new Map(),
};
const PAUSE = {
  id: null,
  sinceMs: 0,
  source: 'operator' as const,
  by: 'operator/0',
  reason: 'maintenance',
  untilMs: 59_500,
};
const BREAKER = {
  interface: 'realname',
  breaker: 'open' as const,
  reason: '20 calls in a row failed',
  instances: 2,
  since: null,
};

it('do not alert that nothing was polled for ten seconds where the rate limits allow no call in that time', () => {
  const still = { ...FINE, due: 10, inFlight: 0, recentPolls: 0, demandPerSecond: 0.001 };
  const codes = (calls: number) => {
    const paceShare = { perSecond: 50 * calls, cardsPerCall: 50, ofPerSecond: calls };
    return taskReasons({ ...still, paceShare }).map(({ code }) => code);
  };
  expect(codes(10 / 3_600)).toEqual([]);
  expect(codes(0.1)).toEqual(['nothing_polled']);
});

it('rate limits that allow less than the schedule needs are the reason, not the limit of calls', () => {
  const advice = SHORT;
  const paceShare = { perSecond: 2, cardsPerCall: 1, ofPerSecond: 2 };
  expect(taskReasons({ ...FINE, paceShare, advice })).toMatchObject([
    {
      code: 'pace_short',
      severity: 'warning',
      text: 'the rate limits are short: 2 calls a second allow 600 cards every 5 min; configured: 60 s',
    },
  ]);
  const waiting = { queueLength: 1_000_000, concurrencyPercent: 100, achievedIntervalSeconds: 300 };
  const reasons = taskReasons({ ...FINE, ...waiting, paceShare, advice });
  expect(reasons).toHaveLength(4);
  expect(new Set(reasons.map(({ command }) => command))).toEqual(new Set(['cardpoll configs']));
  expect(taskReasons({ ...FINE, paceShare: { perSecond: 10, cardsPerCall: 1, ofPerSecond: 50 } })).toEqual(
    [],
  );
});

describe('reasons of a task type', () => {
  it('are none when all is well', () => {
    expect(taskReasons(FINE)).toEqual([]);
    expect(
      taskReasons({
        ...FINE,
        inFlight: 0,
        recentPolls: 0,
        due: 0,
        intervalSeconds: null,
        achievedIntervalSeconds: null,
      }),
    ).toEqual([]);
    expect(healthOfReasons([])).toBe('normal');
  });

  it.each<[string, Partial<TaskHealthInputs>, object, object?]>([
    [
      'an operator paused it',
      { pauses: [PAUSE] },
      {
        code: 'paused',
        severity: 'warning',
        text: 'paused for 1m more by operator/0: maintenance',
        command: 'cardpoll resume realname',
      },
    ],
    [
      'a stop had no effect',
      { stops: { ...CALM_STOPS, unconfirmed: 2 } },
      {
        code: 'stop_unconfirmed',
        severity: 'warning',
        text: 'the gateway acknowledged the stop of 2 cards but did not stop them',
        command: 'cardpoll stats failures',
      },
    ],
    [
      'the gateway paused it',
      { pauses: [{ ...PAUSE, source: 'gateway', by: 'gateway', reason: '' }] },
      { code: 'paused', severity: 'alert', text: 'paused for 1m more by gateway' },
    ],
    [
      'a breaker holds its interface back',
      { breakers: [BREAKER] },
      {
        code: 'breaker_open',
        severity: 'alert',
        text: 'interface realname is dead for 2 instances: 20 calls in a row failed',
        command: 'cardpoll doctor',
      },
    ],
    [
      'a breaker holds the gateway back',
      { breakers: [{ interface: 'gateway', breaker: 'open', reason: null, since: null, instances: 1 }] },
      { text: 'the gateway is dead for 1 instance' },
    ],
    [
      'an interface recovers',
      { breakers: [{ ...BREAKER, breaker: 'half_open', reason: null }] },
      {
        code: 'breaker_open',
        severity: 'warning',
        text: 'interface realname is recovering for 2 instances',
      },
    ],
    [
      'nothing is polled',
      { inFlight: 0, recentPolls: 0 },
      { code: 'nothing_polled', severity: 'alert', text: '10 cards are due, and none was polled for 10 s' },
    ],
    [
      'a single card is not polled',
      { due: 1, inFlight: 0, recentPolls: 0 },
      { code: 'nothing_polled', severity: 'alert', text: '1 card is due, and it was not polled for 10 s' },
    ],
    ['the queue is long', { queueLength: 10_000 }, { code: 'queue_backlog', severity: 'warning' }],
    [
      'polls are held back',
      { polls: 1_000, held: 60 },
      {
        code: 'polls_held',
        severity: 'warning',
        text: '6 % of polls could not make their call in time: cardpoll held them back',
      },
    ],
    [
      'many fail',
      { successRate: 12.34 },
      { code: 'success_rate', severity: 'alert', text: '12.3 % of polls succeed' },
    ],
    [
      'nothing succeeds',
      { successRate: 0, failedBy: { connect: 30 } },
      {
        code: 'success_rate',
        severity: 'alert',
        text: 'no poll succeeds; failures: connect 30',
        command: 'cardpoll doctor',
      },
    ],
    [
      'calls do not get through, before a breaker opens',
      {
        successRate: 40,
        failedBy: { connect: 30, timeout: 2 },
        fault: { kind: 'name', text: 'getaddrinfo ENOTFOUND gw', instanceIds: ['n2'] },
      },
      {
        code: 'success_rate',
        kind: 'name',
        text: 'the name of the gateway is not found for n2: getaddrinfo ENOTFOUND gw: 40 % of polls succeed; failures: connect 30, timeout 2',
      },
    ],
    [
      'many calls take too long, and a few are refused',
      {
        successRate: 40,
        failedBy: { connect: 3, timeout: 20 },
        fault: { kind: 'refused', text: 'connect ECONNREFUSED', instanceIds: [] },
      },
      {
        code: 'success_rate',
        kind: 'timeout',
        text: '40 % of polls succeed; failures: timeout 20, connect 3',
      },
    ],
    [
      'the gateway refuses the token',
      { breakers: [{ ...BREAKER, interface: 'gateway', kind: 'token' as const }] },
      {
        code: 'breaker_open',
        kind: 'token',
        text: 'the gateway refuses our token or key for 2 instances: 20 calls in a row failed',
      },
    ],
    [
      'carriers are slow, and the gateway as fast as usual for the others',
      {
        slowness: { nowMs: 900, usualMs: 20, slowFromMs: 70 },
        slowCarriers: [
          { carrierId: 2, meanMs: 3_000, restMs: 21 },
          { carrierId: 5, meanMs: 400, restMs: 21 },
          { carrierId: 6, meanMs: 300, restMs: 21 },
        ],
      },
      {
        code: 'carrier_slow',
        severity: 'warning',
        text: 'carrier 2 takes 3.0 s, carrier 5 takes 0.40 s a call, the others 0.02 s as usual',
      },
    ],
    [
      'carriers fail',
      {
        successRate: 80,
        failedBy: { http: 1_200 },
        outlyingCarriers: [
          { carrierId: 7, polls: 1_000, failed: 956, failedPercent: 95.64 },
          { carrierId: 8, polls: 400, failed: 200, failedPercent: 50 },
          { carrierId: 9, polls: 100, failed: 44, failedPercent: 44 },
        ],
      },
      {
        code: 'carrier_failing',
        severity: 'alert',
        text: 'carrier 7: 95.6 % fail, carrier 8: 50 % fail: far more than of the other carriers',
      },
      {
        code: 'success_rate',
        text: '80 % of polls succeed; failures: http 1200',
        causedBy: 'carrier_failing',
      },
    ],
    [
      'an interface is dead whose last good polls may be older than its breaker',
      {
        breakers: [
          { interface: 'flow', breaker: 'open', reason: 'x', since: new Date(-20_000), instances: 1 },
        ],
        cutOff: new Map([['flow', ['n2']]]),
        present: { successRate: 40, seconds: 21 },
      },
      { code: 'breaker_open', severity: 'alert' },
    ],
    [
      'an interface is dead where no poll succeeds, although one worker alone holds it back: the others may call nothing',
      {
        breakers: [
          { interface: 'flow', breaker: 'open', reason: 'x', since: new Date(-20_000), instances: 1 },
        ],
        cutOff: new Map([['flow', ['n2']]]),
        present: { successRate: null, seconds: 10 },
      },
      { code: 'breaker_open', severity: 'alert' },
    ],
    [
      'an interface is dead for one of several workers only, which does not reach it',
      {
        breakers: [
          {
            interface: 'flow',
            breaker: 'open',
            reason: 'connect ECONNREFUSED',
            since: new Date(-20_000),
            instances: 1,
          },
        ],
        cutOff: new Map([['flow', ['n2']]]),
        present: { successRate: 40, seconds: 15 },
      },
      {
        code: 'instance_cut_off',
        severity: 'warning',
        text: 'n2 cannot use interface flow, and polls of other workers succeed: connect ECONNREFUSED',
      },
    ],
    ['polls are slow', { avgDurationMs: 700 }, { code: 'avg_duration', severity: 'warning' }],
    [
      'the gateway is slow, although enough is polled',
      { slowness: { nowMs: 3_010, usualMs: 53, slowFromMs: null } },
      {
        code: 'gateway_slow',
        severity: 'warning',
        text: 'the gateway takes 3.0 s a call, usually 0.05 s: whether less load would help is not known',
        command: 'cardpoll doctor',
      },
    ],
    [
      'a tenth of the calls are slow',
      { slowness: { nowMs: 320, usualMs: 24, slowFromMs: 74 }, durations: { 13: 900, 35: 100 } },
      { text: expect.stringMatching(/^the gateway is slow for 10 % of the calls: on average 0.32 s a call/) },
    ],
    [
      'a revolution takes twice as long',
      { intervalSeconds: 60, achievedIntervalSeconds: 120 },
      {
        code: 'interval_missed',
        severity: 'warning',
        text: 'cards are polled every 2 min instead of every 60 s',
      },
    ],
    [
      'a ring of 4 s takes 43 s',
      { intervalSeconds: 4, achievedIntervalSeconds: 43 },
      { code: 'interval_missed', severity: 'alert' },
    ],
    [
      'the limit is too low',
      { advice: RAISE },
      { code: 'overloaded', severity: 'warning', command: 'cardpoll concurrency set realname 180' },
    ],
    ['no limit would do', { advice: SHORT }, { code: 'overloaded', command: 'cardpoll configs' }],
  ])('say that %s', (_, change, ...reasons) => {
    expect(taskReasons({ ...FINE, ...change })).toMatchObject(reasons);
  });

  it('take a limit that is used up or reduced for a fact while it is enough', () => {
    const enough = { ...FINE, concurrencyPercent: 100, effectiveConcurrency: 36 };
    expect(taskReasons(enough)).toEqual([]);
    const limit = { normalMs: 20, trying: false, reason: '53 % of the calls were refused' };
    const short = { ...enough, advice: SHORT };
    expect(taskReasons({ ...short, limit }).map(({ code, text }) => [code, text])).toEqual([
      ['overloaded', 'demand exceeds what can be polled: poll realname 1.8 times less often'],
      ['concurrency_usage', '100 % of the limit is in use, and the queue grows'],
      ['limit_reduced', 'the limit is reduced to 36 of 100: 53 % of the calls were refused'],
    ]);
    expect(taskReasons(short)).toContainEqual(
      expect.objectContaining({ text: 'the limit is reduced to 36 of 100: the reason is not known yet' }),
    );
  });

  it.each([
    [{ normalMs: 3_000, trying: false }, 100, 'less load would not help'],
    [{ normalMs: 20, trying: true }, 70, 'cardpoll is trying whether less load would help'],
    [{ normalMs: 20, trying: false }, 70, 'less load helps, so 70 of 100 calls at a time are allowed'],
    [{ normalMs: 20, trying: false }, 100, 'whether less load would help is not known'],
  ])('say what a trial has found out about a slow gateway: %j with %i', (limit, inForce, words) => {
    const slowness = { nowMs: 3_000, usualMs: 20, slowFromMs: null };
    const inputs = { ...FINE, slowness, limit: { ...limit, reason: null }, effectiveConcurrency: inForce };
    const [reason] = taskReasons({ ...inputs, advice: SHORT });
    expect(reason).toMatchObject({ code: 'gateway_slow', severity: 'alert' });
    expect(reason?.text).toBe(`the gateway takes 3.0 s a call, usually 0.02 s: ${words}`);
  });

  it('warn of a dead interface that only some polls call', () => {
    const stop = { ...BREAKER, interface: 'stop' as const };
    expect(taskReasons({ ...FINE, taskType: 'package', followUps: [stop] })).toMatchObject([
      {
        code: 'breaker_open',
        severity: 'warning',
        text: expect.stringMatching(/^interface stop is dead for/),
      },
    ]);
  });

  it('wait with cards that no one polls until they have been due for ten seconds', () => {
    const idle = { ...FINE, inFlight: 0, recentPolls: 0 };
    expect(taskReasons({ ...idle, waitedMs: 9_999 })).toEqual([]);
    expect(taskReasons(idle)).toMatchObject([{ code: 'nothing_polled' }]);
  });

  it('do not blame an idle worker for a pause or a breaker', () => {
    const idle = { ...FINE, inFlight: 0, recentPolls: 0 };
    expect(taskReasons({ ...idle, pauses: [PAUSE] }).map(({ code }) => code)).toEqual(['paused']);
    expect(taskReasons({ ...idle, breakers: [BREAKER] }).map(({ code }) => code)).toEqual(['breaker_open']);
  });

  it('allow short intervals their moments', () => {
    expect(taskReasons({ ...FINE, intervalSeconds: 1, achievedIntervalSeconds: 5 })).toEqual([]);
  });

  it('begin with the worst', () => {
    const reasons = taskReasons({ ...FINE, pauses: [PAUSE], successRate: 10 });
    expect(reasons.map(({ code }) => code)).toEqual(['success_rate', 'paused']);
    expect(healthOfReasons(reasons)).toBe('alert');
  });
});

describe('reasons of the fleet', () => {
  const CALM = {
    tasks: [],
    instances: [instanceOf('a')],
    silence: null,
    initStuck: false,
    lockHolders: [],
    locked: [],
    stops: null,
    clockGap: null,
    since: new Map<string, number>(),
    nowMs: 0,
  };
  const reasonsOf = (...instances: InstanceInfo[]) => fleetReasons({ ...CALM, instances });

  const pausedTypes = (...lengthsMs: number[]) => {
    const types = (['realname', 'carddata', 'package'] as const).slice(0, lengthsMs.length);
    const pauses = lengthsMs.map((untilMs) => ({ ...PAUSE, by: 'op2', untilMs }));
    const tasks = types.map((taskType, i) => ({
      taskType,
      reasons: found.taskReasons({ ...FINE, taskType, pauses: pauses.slice(i, i + 1) }),
    }));
    return fleetReasons({ ...CALM, tasks, pauses, since: new Map() }).map(({ text, command }) => [
      text,
      command,
    ]);
  };

  it('names a pause of all task types once, with the one command that ends it', () => {
    expect(pausedTypes(897_000, 896_950, 896_900)).toEqual([
      ['polling is paused for 14m 57s more by op2: maintenance', 'cardpoll resume'],
    ]);
    expect(pausedTypes(897_000, 897_000)).toEqual([
      ['realname, carddata: paused for 14m 57s more by op2: maintenance', 'cardpoll resume'],
    ]);
  });

  it('says for how long a pause has lasted once that is an hour: it may be forgotten', () => {
    const [at, untilMs] = [3_900_000, 28_800_000];
    const textAt = (nowMs: number) =>
      found
        .taskReasons({ ...FINE, pauses: [{ ...PAUSE, by: 'op3', untilMs }], nowMs })
        .map(({ text }) => text);
    expect(textAt(3_599_000)).toEqual(['paused for 7h 1s more by op3: maintenance']);
    expect(textAt(at)).toEqual(['paused for 1h 5m, and for 6h 55m more by op3: maintenance']);
  });

  it('names a maintenance window once, with the command that ends it, and not the one that ends pauses', () => {
    const pauses = [{ ...PAUSE, id: 'maintenance 3', by: 'op2', untilMs: 897_000 }];
    const all = (['realname', 'carddata', 'package'] as const).map((taskType) => ({
      taskType,
      reasons: found.taskReasons({ ...FINE, taskType, pauses }),
    }));
    const of = (tasks: typeof all) =>
      fleetReasons({ ...CALM, tasks, pauses: tasks.flatMap(() => pauses), since: new Map() }).map(
        ({ text, command }) => [text, command],
      );
    const command = 'cardpoll maintenance cancel 3';
    expect(of(all)).toEqual([['polling is in maintenance 3 for 14m 57s more by op2: maintenance', command]]);
    expect(of(all.slice(0, 1))).toEqual([
      ['realname: in maintenance 3 for 14m 57s more by op2: maintenance', command],
    ]);
  });

  it('names each of several pauses with its own command', () => {
    expect(pausedTypes(897_000, 60_000).map(([, command]) => command)).toEqual([
      'cardpoll resume realname',
      'cardpoll resume carddata',
    ]);
  });

  it('name the task type', () => {
    const failedBy = { connect: 30, timeout: 812, http: 1, malformed: 2 };
    const since = new Map([['realname success_rate', 60_000]]);
    const reasons = taskReasons({ ...FINE, successRate: 92, failedBy, since });
    expect(
      fleetReasons({
        ...CALM,
        tasks: [{ taskType: 'realname', reasons }],
        since: new Map([['init_stuck', 5]]),
      }),
    ).toEqual([
      {
        code: 'success_rate',
        severity: 'warning',
        text: 'realname: 92 % of polls succeed; failures: timeout 812, connect 30, malformed 2',
        command: 'cardpoll stats failures',
        taskType: 'realname',
        since: new Date(60_000),
        causedBy: null,
        kind: 'timeout',
      },
    ]);
  });

  it('name a dead gateway once for all task types that it holds, and another breaker apart', () => {
    const dead = (taskType: 'realname' | 'carddata' | 'package', words: 'gateway' | 'card_status') => ({
      taskType,
      reasons: taskReasons({ ...FINE, taskType, breakers: [{ ...BREAKER, interface: words }] }),
    });
    const named = (...tasks: Array<ReturnType<typeof dead>>) =>
      fleetReasons({ ...CALM, tasks }).map(({ text }) => text.split(':')[0]);
    const [realname, carddata] = [dead('realname', 'gateway'), dead('carddata', 'gateway')];
    expect(named(realname, carddata, dead('package', 'gateway'))).toEqual(['realname, carddata, package']);
    expect(named(realname, carddata, dead('package', 'card_status'))).toEqual([
      'realname',
      'carddata',
      'package',
    ]);
  });

  it('say that no instance polls, and that the initialisation is stuck', () => {
    const since = new Map([['init_stuck', 5]]);
    const stuck = { ...CALM, since, initStuck: true };
    const reasons = fleetReasons({ ...stuck, instances: [] });
    expect(reasons).toMatchObject([{ since: null }, { since: new Date(5), taskType: null }]);
    expect(reasons.map(({ code }) => code)).toEqual(['no_worker', 'init_stuck']);
    expect(healthOfReasons(reasons)).toBe('alert');
    expect(reasons[1]?.command).toBe('cardpoll daemon --roles scheduler');
    const led = fleetReasons(stuck);
    expect(led).toMatchObject([{ code: 'init_stuck', command: 'cardpoll doctor' }]);
  });

  it('do not say to start a worker where the live store refuses this one', () => {
    const silence = 'heartbeat: no answer for 12 s: Redis at redis://r refuses work: OOM';
    const none = { ...CALM, instances: [] };
    expect(fleetReasons({ ...none, silence })).toMatchObject([
      { code: 'no_worker', text: `no instance is known to poll: ${silence}`, command: 'cardpoll doctor' },
    ]);
    expect(fleetReasons(none)).toMatchObject([
      { code: 'no_worker', command: 'cardpoll daemon --roles worker' },
    ]);
  });

  it('say that workers have no instance that leads them, which makes every queue look empty', () => {
    const since = new Map([['no_scheduler', 7]]);
    const polls = instanceOf('a', { roles: ['worker'] });
    expect(fleetReasons({ ...CALM, instances: [polls], since })).toEqual([
      {
        code: 'no_scheduler',
        taskType: null,
        severity: 'alert',
        text: 'no instance leads: none with the role scheduler is alive, so no card comes due',
        command: 'cardpoll daemon --roles scheduler',
        since: new Date(7),
        causedBy: null,
      },
    ]);
    expect(fleetReasons({ ...CALM, instances: [polls, instanceOf('b')], since })).toEqual([]);
  });

  it('name the instances without the database, and say that none leads when all candidates are cut off', () => {
    const outage = (sinceMs: number) => ({ databaseOutage: { sinceMs, reason: `away for ${sinceMs}` } });
    expect(reasonsOf(instanceOf('a'), instanceOf('b'))).toEqual([]);
    expect(reasonsOf(instanceOf('a', outage(7_000)), instanceOf('b'))).toEqual([
      {
        code: 'database_outage',
        taskType: null,
        severity: 'warning',
        text: '1 of 2 instances cannot use the database (a): away for 7000',
        command: 'cardpoll doctor',
        since: new Date(7_000),
        causedBy: null,
      },
    ]);
    const polls = instanceOf('c', { roles: ['worker'] });
    expect(reasonsOf(instanceOf('a', outage(7_000)), instanceOf('b', outage(5_000)), polls)).toMatchObject([
      {
        severity: 'alert',
        text: 'no instance leads: 2 of 3 instances cannot use the database: away for 5000',
        since: new Date(5_000),
        causedBy: null,
      },
    ]);
  });

  it('say that results cannot be stored, which ends polling where it concerns every worker, but no lead', () => {
    const onlyWrites = {
      databaseOutage: { sinceMs: 7_000, reason: 'the disk is full', part: 'results' },
    } as const;
    const cutOff = { databaseOutage: { sinceMs: 5_000, reason: 'no answer' } };
    const a = instanceOf('a', onlyWrites);
    const slow = { databaseOutage: { sinceMs: 9_000, reason: 'slow', part: 'cards' } } as const;
    expect(reasonsOf(instanceOf('c', slow), instanceOf('d', slow))).toMatchObject([
      {
        severity: 'alert',
        text: 'no results are stored: 2 of 2 instances cannot read cards from the database: slow',
      },
    ]);
    expect(reasonsOf(a, instanceOf('b'))).toMatchObject([
      {
        code: 'database_outage',
        severity: 'warning',
        text: '1 of 2 instances cannot store results in the database (a): the disk is full',
      },
    ]);
    expect(reasonsOf(a, instanceOf('b', onlyWrites))).toMatchObject([
      {
        severity: 'alert',
        text: 'no results are stored: 2 of 2 instances cannot store results in the database: the disk is full',
      },
    ]);
    expect(reasonsOf(a, instanceOf('s', { roles: ['scheduler'] }))).toMatchObject([{ severity: 'alert' }]);
    expect(reasonsOf(a, instanceOf('b', cutOff))).toMatchObject([
      {
        severity: 'alert',
        text: 'no results are stored: 2 of 2 instances cannot use the database: no answer',
      },
    ]);
  });

  it('name the instance that could not reload its configuration, or how many could not, and why', () => {
    const failed = (id: string, sinceMs: number) =>
      instanceOf(id, { reloadFailure: { sinceMs, reason: `2 problems:\n  tokens${' x'.repeat(200)}` } });
    expect(reloadCauses([instanceOf('a'), instanceOf('b')])).toEqual([]);
    const [one] = reloadCauses([instanceOf('a'), failed('b', 7_000)]);
    expect(one).toMatchObject({ code: 'reload_failed', severity: 'warning', sinceMs: 7_000 });
    expect(one?.text).toMatch(/^b could not reload .* in force: 2 problems: tokens x x[^\n]{150,200}$/);
    expect(reloadCauses([failed('a', 9_000), failed('b', 7_000)])).toMatchObject([
      { text: expect.stringMatching(/^2 of 2 instances could not/), sinceMs: 7_000 },
    ]);
  });

  it('name the instance whose log lines wait, or how many there are, and the file', () => {
    const full = (id: string) => instanceOf(id, { logTrouble: '/l/worker.log: no space' });
    const said = ' cannot write log lines, which wait and then are dropped: /l/worker.log: no space';
    expect(logCauses([instanceOf('a'), full('b')])).toEqual([
      { code: 'logs_not_written', severity: 'warning', text: `b${said}`, command: 'cardpoll doctor' },
    ]);
    expect(logCauses([full('a'), full('b')])).toMatchObject([{ text: `2 of 2 instances${said}` }]);
  });

  it('name instances that are gone, by what the leader reports', () => {
    const leader = instanceOf('a', {
      gone: ['e', 'd', 'c', 'b'].map((instanceId, i) => ({ instanceId, atMs: 4_000 - 1_000 * i })),
    });
    expect(goneCauses([instanceOf('z'), leader])).toEqual([
      {
        code: 'instance_gone',
        severity: 'warning',
        text: 'b, c, d, 1 more ended without a farewell and did not come back: killed, frozen, or cut off from Redis',
        command: 'cardpoll stats instances',
        sinceMs: 1_000,
      },
    ]);
    expect(goneCauses([instanceOf('a')])).toEqual([]);
  });

  it('name the part that has failed longest, and the instances in which parts fail', () => {
    const failing = (id: string, part: string, sinceMs: number) =>
      instanceOf(id, { failing: { part, sinceMs, reason: 'permission denied for schema public' } });
    const [later, first] = [failing('b', 'cleaner', 2_000), failing('c', 'reaper', 1_000)];
    expect(failingCauses([instanceOf('a'), instanceOf('d', { failing: null })])).toEqual([]);
    expect(failingCauses([instanceOf('a'), first])).toEqual([
      {
        code: 'part_failing',
        severity: 'alert',
        text: 'c: the part reaper fails: permission denied for schema public',
        command: 'cardpoll doctor',
        sinceMs: 1_000,
      },
    ]);
    expect(failingCauses([instanceOf('a'), later, first])).toMatchObject([
      { text: expect.stringMatching(/^2 of 3 instances: the part reaper fails/), sinceMs: 1_000 },
    ]);
  });

  it('name the instances whose settings have different modes of stops, until an operator has set it', () => {
    const settings = [
      instanceOf('a'),
      instanceOf('b', { stopMode: 'observe' }),
      instanceOf('old', { stopMode: null }),
      instanceOf('api', { roles: ['api'], stopMode: 'observe' }),
    ];
    const said = (instances: readonly InstanceInfo[], setMode: StopFigures['setMode'] = null) =>
      fleetReasons({ ...CALM, instances, stops: { setMode } });
    expect(said(settings)).toMatchObject([
      {
        code: 'stop_modes_differ',
        severity: 'warning',
        text:
          'some workers stop cards over their package and others do not, because stops.mode differs: enforce (a), ' +
          'observe (b); set the mode for the whole fleet',
        command: "cardpoll stops mode observe --reason 'the settings differ'",
      },
    ]);
    expect(said(settings.filter(({ instanceId }) => instanceId !== 'b'))).toEqual([]);
    expect(said(settings, { mode: 'observe', sinceMs: 1, by: 'alice', reason: 'careful' })).toEqual([]);
    expect(reasonsOf(...settings), 'not known').toEqual([]);
  });

  it('name the instances whose clocks are off, and none where that of Redis is', () => {
    const off = (id: string, clockAheadMs: number) => instanceOf(id, { clockAheadMs });
    const said = (instances: InstanceInfo[], clockGap: ClockGap | null = null) =>
      fleetReasons({ ...CALM, instances, clockGap })
        .filter(({ code }) => code === 'instance_clocks_differ')
        .map(({ text }) => text.replace(/: .*/, ''));
    expect(said([off('a', 9_999), off('b', -9_999)])).toEqual([]);
    expect(said([off('a', 600_000), off('b', 0)])).toEqual([
      'the clock of a is 10 min ahead of those of the stores',
    ]);
    expect(said([off('a', 600_000), off('b', -7_200_000), off('c', 1)])).toEqual([
      'the clock of 2 of 3 instances is up to 2 h behind those of the stores',
    ]);
    const gap = { liveMs: 0, recordsMs: 600_000, aheadMs: -600_000 };
    expect(said([off('a', 600_000), off('b', 600_000)], gap)).toEqual([]);
  });

  it('name the time zones of the instances where they differ', () => {
    const inZone = (timeZone: string | null, ...ids: string[]) =>
      ids.map((id) => instanceOf(id, { timeZone }));
    const older = inZone(null, 'old');
    expect(zoneCauses([...inZone('Asia/Shanghai', 'a', 'b'), ...older])).toEqual([]);
    expect(zoneCauses([...inZone('Etc/UTC', 'a'), ...inZone('UTC', 'b')])).toEqual([]);
    expect(zoneCauses(inZone('Mars/Olympus', 'a', 'b'))).toEqual([]);
    const shanghai = inZone('Asia/Shanghai', 'b', 'c', 'd', 'e', 'f');
    const instances = [...inZone('UTC', 'a'), ...older, ...shanghai];
    const since = new Map([['time_zones_differ', 7]]);
    expect(fleetReasons({ ...CALM, instances, since })).toEqual([
      {
        code: 'time_zones_differ',
        taskType: null,
        severity: 'warning',
        text:
          'instances have different time zones: Asia/Shanghai (b, c, d and 2 more), UTC (a): near the end of a month ' +
          'they count usage in different months; set time_zone alike and restart those with the wrong one',
        command: 'cardpoll stats instances',
        since: new Date(7),
        causedBy: null,
      },
    ]);
  });

  it.each([
    [
      45 * 86_400_000,
      'alert',
      'the clock of Redis (2027-01-04T00:00:00.000Z) is 45 d ahead of that of PostgreSQL',
    ],
    [-90_000, 'warning', 'the clock of Redis (2026-11-19T23:58:30.000Z) is 90 s behind that of PostgreSQL'],
  ])('name both clocks where they differ by %i ms, and since when', (aheadMs, severity, text) => {
    const recordsMs = Date.parse('2026-11-20T00:00:00Z');
    const clockGap = { liveMs: recordsMs + aheadMs, recordsMs, aheadMs };
    const since = new Map([['clocks_differ', recordsMs + aheadMs - 5_000]]);
    expect(fleetReasons({ ...CALM, clockGap, since })).toEqual([
      {
        code: 'clocks_differ',
        taskType: null,
        severity,
        text: expect.stringContaining(`${text} (2026-11-20T00:00:00.000Z)`),
        command: 'cardpoll doctor',
        since: new Date(recordsMs - 5_000),
        causedBy: null,
      },
    ]);
  });

  it.each<[Partial<TaskHealthInputs>, string]>([
    [{ drainSeconds: 250 }, '60,000 cards in the queue, drained in about 5 min'],
    [{ drainSeconds: null }, '60,000 cards in the queue'],
    [{ drainSeconds: null, advice: RAISE }, '60,000 cards in the queue, which never drains at this rate'],
  ])('say when a backlog is gone: %j', (change, text) => {
    expect(taskReasons({ ...FINE, queueLength: 60_000, ...change })).toContainEqual(
      expect.objectContaining({ text }),
    );
  });
});

describe('the order of reasons', () => {
  const SLOW = { nowMs: 3_000, usualMs: 20, slowFromMs: null };
  const linked = (inputs: Partial<TaskHealthInputs>) =>
    taskReasons({ ...FINE, ...inputs }).map(({ code, causedBy }) => [code, causedBy]);

  it('puts what follows after its cause', () => {
    const night = { slowness: SLOW, advice: SHORT, avgDurationMs: 3_000, queueLength: 60_000 };
    expect(linked({ ...night, achievedIntervalSeconds: 660 })).toEqual([
      ['gateway_slow', null],
      ['queue_backlog', 'gateway_slow'],
      ['avg_duration', 'gateway_slow'],
      ['interval_missed', 'gateway_slow'],
      ['overloaded', 'gateway_slow'],
    ]);
    expect(linked({ breakers: [BREAKER], successRate: 10, slowness: SLOW })).toEqual([
      ['breaker_open', null],
      ['success_rate', 'breaker_open'],
      ['gateway_slow', 'breaker_open'],
    ]);
    expect(linked({ successRate: 10 })).toEqual([['success_rate', null]]);
  });

  it('links nothing of one task type to a cause of another', () => {
    const CALM = {
      instances: [instanceOf('a')],
      silence: null,
      initStuck: false,
      lockHolders: [],
      locked: [],
      stops: null,
      clockGap: null,
      nowMs: 0,
    };
    const tasks = [
      { taskType: 'realname' as const, reasons: taskReasons({ ...FINE, slowness: SLOW }) },
      {
        taskType: 'package' as const,
        reasons: taskReasons({ ...FINE, taskType: 'package', successRate: 92 }),
      },
    ];
    const reasons = fleetReasons({ ...CALM, tasks, since: new Map() });
    expect(reasons.map(({ code, causedBy }) => [code, causedBy])).toEqual([
      ['gateway_slow', null],
      ['success_rate', null],
    ]);
  });

  it('names a refused token once, where no task type gets through, and not twice in other words', () => {
    const text = 'HTTP 401: the gateway does not accept our credentials: code 401: token expired';
    const refused = {
      successRate: 40,
      failedBy: { auth: 30 },
      fault: { kind: 'token' as const, text, instanceIds: [] },
    };
    const FLEET = {
      ...{ instances: [instanceOf('a')], silence: null, initStuck: false, lockHolders: [], locked: [] },
      ...{ stops: null, clockGap: null, nowMs: 0 },
    };
    const reasonsWith = (...types: Array<(typeof TASK_TYPES)[number]>) => {
      const tasks = types.map((taskType) => ({
        taskType,
        reasons: taskReasons({ ...FINE, ...refused, taskType }),
      }));
      return fleetReasons({ ...FLEET, tasks, pauses: [], since: new Map() }).map(({ text }) => text);
    };
    const said =
      'the gateway refuses our token or key: HTTP 401: code 401: token expired: 40 % of polls succeed; failures: auth 30';
    expect(reasonsWith('realname', 'carddata', 'package')).toEqual([`realname, carddata, package: ${said}`]);
    // The third one gets through.
    expect(reasonsWith('realname', 'carddata')).toEqual([`realname: ${said}`, `carddata: ${said}`]);
  });

  it('names a carrier once that is slow for two task types', () => {
    const slowCarriers = [{ carrierId: 2, meanMs: 3_000, restMs: 20 }];
    const tasks = (['realname', 'carddata'] as const).map((taskType) => ({
      taskType,
      reasons: taskReasons({ ...FINE, taskType, slowCarriers }),
    }));
    const fleet = {
      instances: [instanceOf('a')],
      silence: null,
      initStuck: false,
      lockHolders: [],
      locked: [],
      stops: null,
    };
    const reasons = fleetReasons({ ...fleet, clockGap: null, nowMs: 0, pauses: [], tasks, since: new Map() });
    expect(reasons.map(({ text }) => text)).toEqual([
      'realname, carddata: carrier 2 takes 3.0 s a call, the others 0.02 s as usual',
    ]);
  });

  it('begins with what cuts customers off', () => {
    // Of a fleet of 1.5 million: the reason does not wait for a part of a large budget.
    const stops = { ...CALM_STOPS, doneTwoMinutes: 807, doneHour: 807, doneDay: 2_877, budgetHour: 15_000 };
    const readings = {
      total: 100,
      seconds: 20,
      implausible: 61,
      counters: 0,
      fallen: 0,
      stillMinutes: null,
      stopMode: 'enforce' as const,
    };
    const [first, second] = taskReasons({
      ...FINE,
      taskType: 'package',
      breakers: [BREAKER],
      stops,
      readings,
    });
    expect(first).toMatchObject({
      code: 'stop_surge',
      severity: 'alert',
      text: '807 cards stopped in 2 min, usually 3: make sure that the readings are right',
      command: "cardpoll stops mode observe --reason 'too many stops'",
    });
    expect(second?.code).toBe('implausible_readings');
  });

  it.each<[string, Partial<StopFigures>]>([
    ['as many as usual', { doneTwoMinutes: 40, doneHour: 1_200, doneDay: 28_800, budgetHour: null }],
    ['few', { doneTwoMinutes: 19, doneHour: 19, doneDay: 19, budgetHour: null }],
    [
      'as many as at this time yesterday',
      { doneTwoMinutes: 150, doneHour: 150, doneDay: 800, quarterOfYesterday: 150, budgetHour: null },
    ],
    ['none, by the mode', { doneTwoMinutes: 807, doneHour: 807, doneDay: 807, mode: 'observe' }],
  ])('takes stops for no surge that are %s', (_, figures) => {
    expect(taskReasons({ ...FINE, stops: { ...CALM_STOPS, ...figures } })).toEqual([]);
  });
});

describe('after a pause', () => {
  const LATE = {
    ...FINE,
    ...{ queueLength: 1_000_000, concurrencyPercent: 100, achievedIntervalSeconds: 3_420 },
    ...{ due: 10, waitedMs: 20_000, inFlight: 0, recentPolls: 0, avgDurationMs: 900, advice: SHORT },
  };
  const codes = (isFirst: boolean) =>
    taskReasons({ ...LATE, catching: { pausedMs: 1_020_000, isFirst } }).map(({ code, severity, text }) => [
      ...[code, severity, text.endsWith('; catching up after a pause of 17 min')],
    ]);

  it('the first minute says that cards wait, and nothing of how late they are', () => {
    expect(codes(true)).toEqual([['queue_backlog', 'warning', true]]);
  });

  it('what is late wakes no one, until it has another cause', () => {
    const late = ['concurrency_usage', 'interval_missed', 'overloaded', 'queue_backlog'];
    const found = codes(false).filter(([code]) => code !== 'avg_duration' && code !== 'nothing_polled');
    expect(found.toSorted()).toEqual(late.map((code) => [code, 'warning', true]));
    const own = taskReasons(LATE).filter(({ severity }) => severity === 'alert');
    expect(own.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['nothing_polled', 'interval_missed']),
    );
  });

  it('cards of which none is polled are an alert after the first minute: the fleet does not catch up', () => {
    expect(codes(false)).toContainEqual(['nothing_polled', 'alert', false]);
  });

  it('a slow gateway is named at once, unless the pause was a minute or longer', () => {
    const slow = { nowMs: 900, usualMs: 20, slowFromMs: null };
    const named = (pausedMs: number) =>
      taskReasons({ ...FINE, slowness: slow, catching: { pausedMs, isFirst: true } }).map(({ code }) => code);
    expect(named(59_999)).toEqual(['gateway_slow']);
    expect(named(60_000)).toEqual([]);
  });

  it('polls that fail are said as ever', () => {
    const failing = { ...FINE, successRate: 40, failedBy: { timeout: 60 }, polls: 100 };
    const catching = { pausedMs: 60_000, isFirst: true };
    expect(taskReasons({ ...failing, catching })).toEqual(taskReasons(failing));
  });
});

it('a fleet that has just started wakes no one for its metrics', () => {
  const [reason] = taskReasons({ ...FINE, successRate: 70, starting: true });
  expect(reason).toMatchObject({ code: 'success_rate', severity: 'warning' });
  expect(reason?.text).toMatch(/^70 % of polls succeed; every instance started less than a minute ago$/);
  expect(taskReasons({ ...FINE, breakers: [BREAKER], starting: true })[0]?.severity).toBe('alert');
});

it('says that limits and pauses are not in force, unless the fleet has just started', () => {
  expect(taskReasons({ ...FINE, inForce: false })).toMatchObject([
    { code: 'not_in_force', severity: 'alert' },
  ]);
  expect(taskReasons({ ...FINE, inForce: false, starting: true })).toEqual([]);
});

it('a reason stays for ten seconds once it was shown, and no longer for having been shown for long', () => {
  const kept = new KeptReasons();
  const full = taskReasons({ ...FINE, successRate: 92 });
  expect(kept.with(full, 0)).toBe(full);
  expect(kept.with([], 4_000)).toEqual(full);
  expect(kept.with(full, 5_000)).toBe(full);
  expect(kept.with([], 9_999)).toEqual(full);
  expect(kept.with([], 10_000)).toEqual([]);
  expect(kept.with(full, 20_000)).toBe(full);
  expect(kept.with(full, 60_000)).toBe(full);
  expect(kept.with([], 61_000)).toEqual([]);
  kept.with(full, 70_000);
  expect(kept.with([], 3_000), 'a clock that was set back').toEqual([]);
});

it('shows the three newest repairs of limits and pauses, and since when there are some', () => {
  const repaired = (id: string, ...times: number[]) => ({
    ...instanceOf(id),
    putBack: times.map((atMs) => ({ atMs, text: `put back: at ${atMs}` })),
  });
  expect(putBackCauses([instanceOf('a')])).toEqual([]);
  const [one] = putBackCauses([repaired('a', 5)]);
  expect(one).toMatchObject({ code: 'put_back', severity: 'warning', sinceMs: 5 });
  expect(one?.text).toMatch(/^put back: at 5: Redis may have failed over/);
  // Two leaders, one after the other.
  const [four] = putBackCauses([repaired('a', 9, 3), repaired('b', 7, 5)]);
  expect(four).toMatchObject({ sinceMs: 3 });
  expect(four?.text).toMatch(/^put back: at 9; put back: at 7; put back: at 5; and 1 more: /);
});

it('names the carriers with cards that no config selects, and those with counters in doubt', () => {
  const carriers = [{ carrierId: 2, cards: 412 }];
  const seen = { ...FINE, unselected: carriers, inDoubt: carriers };
  expect(taskReasons(seen).map(({ code, severity, text }) => [code, severity, text.split(':')[0]])).toEqual([
    ['cards_unselected', 'warning', '412 cards of carrier 2'],
    ['counters_in_doubt', 'warning', '412 cards of carrier 2'],
  ]);
  expect(taskReasons(FINE)).toEqual([]);
});
