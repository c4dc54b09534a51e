import { describe, expect, it } from 'vitest';
import { TASK_TYPES, type TaskType } from '../../../src/domain/task-type.ts';
import {
  failingCauses,
  goneCauses,
  logCauses,
  putBackCauses,
  reloadCauses,
  zoneCauses,
} from '../../../src/health/fleet-faults.ts';
import { KeptReasons } from '../../../src/health/fleet-health.ts';
import { healthOfReasons, type TaskHealthInputs } from '../../../src/health/health-reasons.ts';
import type { HealthReason } from '../../../src/health/reason.ts';
import type { StopFigures } from '../../../src/health/stop-figures.ts';
import type { InstanceInfo } from '../../../src/store/ports/live/coordination.ts';
import {
  BREAKER,
  inNumbers,
  ofFleet,
  ofInstances,
  ofTask,
  PAUSE,
  READINGS,
  SHORT,
} from '../../support/judged-facts.ts';
import { instanceOf } from '../../support/polled-fleet.ts';
import { CALM_STOPS } from '../../support/stop-figures.ts';

type Facts = Partial<TaskHealthInputs>;

const codes = (reasons: readonly HealthReason[]) => reasons.map(({ code }) => code);
const IDLE = { inFlight: 0, recentPolls: 0 };
const SLOW = { nowMs: 3_010, usualMs: 53, slowFromMs: null };

it('do not alert that nothing was polled for ten seconds where the rate limits allow no call in that time', () => {
  const found = (calls: number) => {
    const paceShare = { perSecond: 50 * calls, cardsPerCall: 50, ofPerSecond: calls };
    return codes(ofTask({ ...IDLE, demandPerSecond: 0.001, paceShare }));
  };
  expect(found(10 / 3_600)).toEqual([]);
  expect(found(0.1)).toEqual(['nothing_polled']);
});

it('rate limits that allow less than the schedule needs are the reason, not the limit of calls', () => {
  const paced = { paceShare: { perSecond: 2, cardsPerCall: 1, ofPerSecond: 2 }, advice: SHORT };
  expect(ofTask(paced).map(inNumbers)).toEqual(['pace_short warning 2 600 5 60']);
  const waiting = { queueLength: 1_000_000, concurrencyPercent: 100, achievedIntervalSeconds: 300 };
  const commands = ofTask({ ...waiting, ...paced }).map(({ command }) => command);
  expect(commands).toEqual(Array(4).fill('cardpoll configs'));
  expect(ofTask({ paceShare: { perSecond: 10, cardsPerCall: 1, ofPerSecond: 50 } })).toEqual([]);
});

describe('reasons of a task type', () => {
  it('are none when all is well', () => {
    expect(ofTask({})).toEqual([]);
    expect(ofTask({ ...IDLE, due: 0, intervalSeconds: null, achievedIntervalSeconds: null })).toEqual([]);
    expect(healthOfReasons([])).toBe('normal');
  });

  const held = (name: string, over: object) => [{ ...BREAKER, interface: name, instances: 1, ...over }];
  const cutOff = new Map([['flow', ['n2']]]);
  const longAgo = new Date(-20_000);
  const carriers = (...ids: number[]) =>
    ids.map((carrierId) => ({ carrierId, polls: 1_000, failed: 950, failedPercent: 100 - carrierId / 2 }));

  it.each<[string, Facts, ...string[]]>([
    ['an operator paused it', { pauses: [PAUSE] }, 'paused warning 0 1'],
    ['the gateway paused it', { pauses: [{ ...PAUSE, source: 'gateway', by: 'gw' }] }, 'paused alert 1'],
    ['a stop had no effect', { stops: { ...CALM_STOPS, unconfirmed: 2 } }, 'stop_unconfirmed warning 2'],
    ['a breaker holds its interface back', { breakers: [BREAKER] }, 'breaker_open alert 2 20'],
    [
      'an interface recovers',
      { breakers: held('flow', { breaker: 'half_open' }) },
      'breaker_open warning 1 20',
    ],
    ['an interface is dead that only some polls call', { followUps: [BREAKER] }, 'breaker_open warning 2 20'],
    ['nothing is polled', IDLE, 'nothing_polled alert 10 10'],
    ['a single card is not polled', { ...IDLE, due: 1 }, 'nothing_polled alert 1 10'],
    ['the queue is long', { queueLength: 10_000, drainSeconds: 250 }, 'queue_backlog warning 10,000 5'],
    ['the queue is too long', { queueLength: 60_000, drainSeconds: null }, 'queue_backlog alert 60,000'],
    ['polls are held back', { polls: 1_000, held: 60 }, 'polls_held warning 6'],
    ['many fail', { successRate: 12.34 }, 'success_rate alert 12.3'],
    ['nothing succeeds', { successRate: 0, failedBy: { connect: 30 } }, 'success_rate alert 30'],
    [
      'polls fail for the most frequent reasons',
      { successRate: 92, failedBy: { a: 1, b: 9, c: 3, d: 2 } },
      'success_rate warning 92 9 3 2',
    ],
    [
      'carriers are slow, and the gateway as fast as usual for the others',
      {
        slowness: SLOW,
        slowCarriers: [3_000, 400, 300].map((meanMs, i) => ({ carrierId: 6 + i, meanMs, restMs: 21 })),
      },
      'carrier_slow warning 6 3.0 7 0.40 0.02',
    ],
    [
      'carriers fail',
      { successRate: 80, outlyingCarriers: carriers(7, 8, 9) },
      'carrier_failing alert 7 96.5 8 96',
      'success_rate alert 80',
    ],
    [
      'an interface is dead whose last good polls may be older than its breaker',
      { breakers: held('flow', { since: longAgo }), cutOff, present: { successRate: 40, seconds: 21 } },
      'breaker_open alert 1 20',
    ],
    [
      'an interface is dead where no poll succeeds, although one worker alone holds it back: the others may call nothing',
      { breakers: held('flow', { since: longAgo }), cutOff, present: { successRate: null, seconds: 10 } },
      'breaker_open alert 1 20',
    ],
    [
      'an interface is dead for one of several workers only, which does not reach it',
      { breakers: held('flow', { since: longAgo }), cutOff, present: { successRate: 40, seconds: 15 } },
      'instance_cut_off warning 20',
    ],
    ['polls are slow', { avgDurationMs: 700 }, 'avg_duration warning 0.70'],
    ['the gateway is slow, although enough is polled', { slowness: SLOW }, 'gateway_slow warning 3.0 0.05'],
    [
      'a tenth of the calls are slow',
      { slowness: { ...SLOW, slowFromMs: 74 }, durations: { 13: 900, 35: 100 } },
      'gateway_slow warning 10 3.0 0.05 0.02 2.9',
    ],
    ['a revolution takes twice as long', { achievedIntervalSeconds: 120 }, 'interval_missed warning 2 60'],
    [
      'a ring of 4 s takes 43 s',
      { intervalSeconds: 4, achievedIntervalSeconds: 43 },
      'interval_missed alert 43 4',
    ],
    ['no limit would do', { advice: SHORT }, 'overloaded warning 1.8'],
  ])('say that %s', (_, facts, ...reasons) => {
    expect(ofTask(facts).map(inNumbers)).toEqual(reasons);
  });

  it('name how calls fail, before a breaker opens', () => {
    const kindOf = (failedBy: Facts['failedBy'], kind: 'name' | 'refused' | 'token') => {
      const fault = { kind, text: 'getaddrinfo ENOTFOUND gw', instanceIds: ['n2'] };
      const [reason] = ofTask({ successRate: 40, ...(failedBy && { failedBy }), fault });
      return [reason?.kind, reason?.text.includes(fault.text)];
    };
    expect(kindOf({ connect: 30, timeout: 2 }, 'name')).toEqual(['name', true]);
    expect(kindOf({ connect: 3, timeout: 20 }, 'refused')).toEqual(['timeout', false]);
    expect(ofTask({ breakers: [{ ...BREAKER, kind: 'token' }] })).toMatchObject([{ kind: 'token' }]);
  });

  it('name the limit that is enough', () => {
    const advice = { ...SHORT, verdict: 'raise', maxConcurrency: 180 } as const;
    expect(ofTask({ advice })[0]?.command).toBe('cardpoll concurrency set realname 180');
  });

  it('take a limit that is used up or reduced for a fact while it is enough', () => {
    const enough = { concurrencyPercent: 100, effectiveConcurrency: 36 };
    expect(ofTask(enough)).toEqual([]);
    const limit = { normalMs: 20, trying: false, reason: '53 % of the calls were refused' };
    const short = ['overloaded warning 1.8', 'concurrency_usage alert 100', 'limit_reduced warning 36 100'];
    expect(ofTask({ ...enough, advice: SHORT }).map(inNumbers)).toEqual(short);
    expect(ofTask({ ...enough, advice: SHORT, limit })[2]?.text).toContain(limit.reason);
  });

  it('wait with cards that no one polls until they have been due for ten seconds', () => {
    expect(ofTask({ ...IDLE, waitedMs: 9_999 })).toEqual([]);
    expect(codes(ofTask({ ...IDLE, waitedMs: 10_000 }))).toEqual(['nothing_polled']);
  });

  it('do not blame an idle worker for a pause or a breaker', () => {
    expect(codes(ofTask({ ...IDLE, pauses: [PAUSE] }))).toEqual(['paused']);
    expect(codes(ofTask({ ...IDLE, breakers: [BREAKER] }))).toEqual(['breaker_open']);
  });

  it.each<[string, Facts]>([
    ['a twentieth of the polls that is held back', { polls: 1_000, held: 50 }],
    ['due cards while one is called', { ...IDLE, inFlight: 1 }],
    ['due cards after one was polled', { ...IDLE, recentPolls: 1 }],
    ['carriers that fail while nearly all polls succeed', { outlyingCarriers: carriers(7) }],
  ])('are none for %s', (_, facts) => {
    expect(ofTask(facts)).toEqual([]);
  });

  it.each<[string, Facts]>([
    ['paused', { pauses: [PAUSE] }],
    ['breaker_open', { breakers: [BREAKER] }],
    ['breaker_open', { followUps: [BREAKER] }],
  ])('say by %s why polls are held back', (code, facts) => {
    expect(codes(ofTask({ ...facts, polls: 1_000, held: 60 }))).toEqual([code]);
  });

  it('allow an interval half its length, and short ones their moments', () => {
    expect(ofTask({ intervalSeconds: 1, achievedIntervalSeconds: 5 })).toEqual([]);
    expect(ofTask({ achievedIntervalSeconds: 90 })).toEqual([]);
    expect(ofTask({ achievedIntervalSeconds: 180 }).map(inNumbers)).toEqual(['interval_missed warning 3 60']);
  });

  it('begin with the worst', () => {
    const reasons = ofTask({ pauses: [PAUSE], successRate: 10 });
    expect(codes(reasons)).toEqual(['success_rate', 'paused']);
    expect(healthOfReasons(reasons)).toBe('alert');
  });
});

describe('reasons of the fleet', () => {
  const TYPES = ['realname', 'carddata', 'package'] as const;
  /** Of as many task types as there are pauses. */
  const ofPauses = (...pauses: Facts['pauses'] & object) =>
    ofFleet({}, ...pauses.map((pause, i) => ({ taskType: TYPES[i] ?? 'package', pauses: [pause] })));
  const named = (reasons: readonly HealthReason[]) =>
    reasons.map((reason) => [reason.taskType, inNumbers(reason), reason.command]);
  const until = (untilMs: number, id: string | null = null) => ({ ...PAUSE, id, by: 'op', untilMs });

  it('names a pause of several task types once, with the one command that ends it', () => {
    const once = [[null, 'paused warning 14 57', 'cardpoll resume']];
    expect(named(ofPauses(until(897_000), until(896_950), until(896_900)))).toEqual(once);
    expect(named(ofPauses(until(897_000), until(897_000)))).toEqual(once);
  });

  it('says for how long a pause has lasted once that is an hour: it may be forgotten', () => {
    const at = (nowMs: number) => ofTask({ pauses: [until(28_800_000)], nowMs }).map(inNumbers);
    expect(at(3_599_000)).toEqual(['paused warning 7 1']);
    expect(at(3_900_000)).toEqual(['paused warning 1 5 6 55']);
  });

  it('names a maintenance window once, with the command that ends it, and not the one that ends pauses', () => {
    const window = until(897_000, 'maintenance 3');
    const [reason, command] = ['paused warning 3 14 57', 'cardpoll maintenance cancel 3'];
    expect(named(ofPauses(window, window, window))).toEqual([[null, reason, command]]);
    expect(named(ofPauses(window))).toEqual([['realname', reason, command]]);
  });

  it('names each of several pauses with its own command', () => {
    expect(ofPauses(until(897_000), until(60_000)).map(({ command }) => command)).toEqual([
      'cardpoll resume realname',
      'cardpoll resume carddata',
    ]);
  });

  it('name the task type', () => {
    const since = new Map([
      ['realname success_rate', 60_000],
      ['init_stuck', 5],
    ]);
    const reasons = ofFleet({ since }, { successRate: 92, failedBy: { timeout: 812 }, since });
    expect(reasons).toEqual([
      {
        code: 'success_rate',
        severity: 'warning',
        text: expect.stringMatching(/^realname: /),
        command: 'cardpoll stats failures',
        taskType: 'realname',
        since: new Date(60_000),
        causedBy: null,
        kind: 'timeout',
      },
    ]);
  });

  it('name a dead gateway once for all task types that it holds, and another breaker apart', () => {
    const held = (...interfaces: string[]) =>
      ofFleet(
        {},
        ...interfaces.map((one, i) => ({
          taskType: TYPES[i] ?? 'package',
          breakers: [{ ...BREAKER, interface: one }],
        })),
      ).map(({ text }) => text.split(':')[0]);
    expect(held('gateway', 'gateway', 'gateway')).toEqual(['realname, carddata, package']);
    expect(held('gateway', 'gateway', 'card_status')).toEqual(['realname', 'carddata', 'package']);
  });

  it('say that no instance polls, and that the initialisation is stuck', () => {
    const stuck = { since: new Map([['init_stuck', 5]]), initStuck: true };
    const reasons = ofFleet({ ...stuck, instances: [] });
    expect(reasons).toMatchObject([{ since: null }, { since: new Date(5), taskType: null }]);
    expect(codes(reasons)).toEqual(['no_worker', 'init_stuck']);
    expect(healthOfReasons(reasons)).toBe('alert');
    expect(reasons[1]?.command).toBe('cardpoll daemon --roles scheduler');
    expect(ofFleet(stuck)).toMatchObject([{ code: 'init_stuck', command: 'cardpoll doctor' }]);
  });

  it('do not say to start a worker where the live store refuses this one', () => {
    const silence = 'heartbeat: no answer for 12 s: Redis at redis://r refuses work: OOM';
    const text = expect.stringContaining(silence);
    const refused = ofFleet({ instances: [], silence });
    expect(refused).toMatchObject([{ code: 'no_worker', text, command: 'cardpoll doctor' }]);
    const [none] = ofFleet({ instances: [] });
    expect(none).toMatchObject({ code: 'no_worker', command: 'cardpoll daemon --roles worker' });
  });

  it('say that workers have no instance that leads them, which makes every queue look empty', () => {
    const since = new Map([['no_scheduler', 7]]);
    const polls = instanceOf('a', { roles: ['worker'] });
    expect(ofFleet({ instances: [polls], since })).toMatchObject([
      { code: 'no_scheduler', taskType: null, severity: 'alert', since: new Date(7), causedBy: null },
    ]);
    expect(ofFleet({ instances: [polls, instanceOf('b')], since })).toEqual([]);
  });

  const outage = (sinceMs: number, part?: 'results' | 'cards') => ({
    databaseOutage: { sinceMs, reason: 'no answer', ...(part && { part }) },
  });
  const outages = (...instances: readonly InstanceInfo[]) =>
    ofInstances(...instances).map((one) => [inNumbers(one), one.since?.getTime()]);

  it('name the instances without the database, and say that none leads when all candidates are cut off', () => {
    const [a, b, polls] = [
      instanceOf('a', outage(7_000)),
      instanceOf('b'),
      instanceOf('c', { roles: ['worker'] }),
    ];
    expect(ofInstances(instanceOf('a'), b)).toEqual([]);
    expect(outages(a, b)).toEqual([['database_outage warning 1 2', 7_000]]);
    expect(ofInstances(a, b)[0]?.text).toMatch(/\(a\): no answer$/);
    expect(outages(a, instanceOf('b', outage(5_000)), polls)).toEqual([['database_outage alert 2 3', 5_000]]);
  });

  it('say that results cannot be stored, which ends polling where it concerns every worker, but no lead', () => {
    const a = instanceOf('a', outage(7_000, 'results'));
    const slow = outage(9_000, 'cards');
    const all = [['database_outage alert 2 2', 7_000]];
    expect(outages(instanceOf('c', slow), instanceOf('d', slow))).toEqual([
      ['database_outage alert 2 2', 9_000],
    ]);
    expect(outages(a, instanceOf('b'))).toEqual([['database_outage warning 1 2', 7_000]]);
    expect(outages(a, instanceOf('b', outage(8_000, 'results')))).toEqual(all);
    expect(outages(a, instanceOf('s', { roles: ['scheduler'] }))).toEqual([
      ['database_outage alert 1 2', 7_000],
    ]);
    expect(outages(a, instanceOf('b', outage(8_000)))).toEqual(all);
  });

  it('name the instance that could not reload its configuration, or how many could not, and why', () => {
    const failed = (id: string, sinceMs: number) =>
      instanceOf(id, { reloadFailure: { sinceMs, reason: `2 problems:\n  tokens${' x'.repeat(200)}` } });
    expect(reloadCauses([instanceOf('a'), instanceOf('b')])).toEqual([]);
    const [one] = reloadCauses([instanceOf('a'), failed('b', 7_000)]);
    expect(one).toMatchObject({ code: 'reload_failed', severity: 'warning', sinceMs: 7_000 });
    expect(one?.text).toMatch(/^b .*: 2 problems: tokens x x[^\n]{150,200}$/);
    const [all] = reloadCauses([failed('a', 9_000), failed('b', 7_000)]);
    expect(all).toMatchObject({ text: expect.stringMatching(/^2 of 2 instances /), sinceMs: 7_000 });
  });

  it('name the instance whose log lines wait, or how many there are, and the file', () => {
    const full = (id: string) => instanceOf(id, { logTrouble: '/l/worker.log: no space' });
    const said = (who: string) => [
      {
        ...{ code: 'logs_not_written', severity: 'warning' },
        text: expect.stringMatching(RegExp(`^${who} .*: /l/worker.log: no space$`)),
      },
    ];
    expect(logCauses([instanceOf('a'), full('b')])).toMatchObject(said('b'));
    expect(logCauses([full('a'), full('b')])).toMatchObject(said('2 of 2 instances'));
  });

  it('name instances that are gone, by what the leader reports', () => {
    const gone = ['e', 'd', 'c', 'b'].map((instanceId, i) => ({ instanceId, atMs: 4_000 - 1_000 * i }));
    const text = expect.stringMatching(/^b, c, d, 1 more /);
    expect(goneCauses([instanceOf('z'), instanceOf('a', { gone })])).toMatchObject([
      { code: 'instance_gone', severity: 'warning', text, sinceMs: 1_000 },
    ]);
    expect(goneCauses([instanceOf('a')])).toEqual([]);
  });

  it('name the part that has failed longest, and the instances in which parts fail', () => {
    const failing = (id: string, part: string, sinceMs: number) =>
      instanceOf(id, { failing: { part, sinceMs, reason: 'permission denied for schema public' } });
    const [later, first] = [failing('b', 'cleaner', 2_000), failing('c', 'reaper', 1_000)];
    const said = (who: string) => ({
      ...{ code: 'part_failing', severity: 'alert', sinceMs: 1_000 },
      text: expect.stringMatching(RegExp(`^${who}: .*reaper.*: permission denied for schema public$`)),
    });
    expect(failingCauses([instanceOf('a'), instanceOf('d', { failing: null })])).toEqual([]);
    expect(failingCauses([instanceOf('a'), first])).toMatchObject([said('c')]);
    expect(failingCauses([instanceOf('a'), later, first])).toMatchObject([said('2 of 3 instances')]);
  });

  it('name the instances whose settings have different modes of stops, until an operator has set it', () => {
    const settings = [
      instanceOf('a'),
      instanceOf('b', { stopMode: 'observe' }),
      instanceOf('old', { stopMode: null }),
      instanceOf('api', { roles: ['api'], stopMode: 'observe' }),
    ];
    const said = (instances: readonly InstanceInfo[], setMode: StopFigures['setMode'] = null) =>
      ofFleet({ instances, stops: { setMode } });
    const text = expect.stringContaining('enforce (a), observe (b)');
    expect(said(settings)).toMatchObject([{ code: 'stop_modes_differ', severity: 'warning', text }]);
    expect(said(settings.filter(({ instanceId }) => instanceId !== 'b'))).toEqual([]);
    expect(said(settings, { mode: 'observe', sinceMs: 1, by: 'alice', reason: 'careful' })).toEqual([]);
    expect(ofInstances(...settings), 'not known').toEqual([]);
  });

  it('name the instances whose clocks are off, and none where that of Redis is', () => {
    const off = (id: string, clockAheadMs: number) => instanceOf(id, { clockAheadMs });
    const said = (...[facts, ...instances]: [Parameters<typeof ofFleet>[0], ...InstanceInfo[]]) =>
      ofFleet({ ...facts, instances })
        .filter(({ code }) => code === 'instance_clocks_differ')
        .map((one) => [inNumbers(one), /ahead|behind/.exec(one.text)?.[0]]);
    expect(said({}, off('a', 10_000), off('b', -10_000))).toEqual([]);
    expect(said({}, off('a', 600_000), off('b', 0))).toEqual([
      ['instance_clocks_differ warning 10', 'ahead'],
    ]);
    expect(said({}, off('a', 600_000), off('b', -7_200_000), off('c', 1))).toEqual([
      ['instance_clocks_differ warning 2 3 2', 'behind'],
    ]);
    const clockGap = { liveMs: 0, recordsMs: 600_000, aheadMs: -600_000 };
    expect(said({ clockGap }, off('a', 600_000), off('b', 600_000))).toEqual([]);
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
    const text = expect.stringContaining('Asia/Shanghai (b, c, d and 2 more), UTC (a)');
    expect(ofFleet({ instances, since: new Map([['time_zones_differ', 7]]) })).toMatchObject([
      { code: 'time_zones_differ', taskType: null, severity: 'warning', text, since: new Date(7) },
    ]);
  });

  it.each([
    [45 * 86_400_000, 'alert', '45 d ahead'],
    [3_600_000, 'warning', '60 min ahead'],
    [-90_000, 'warning', '90 s behind'],
  ])('name both clocks where they differ by %i ms, and since when', (aheadMs, severity, gap) => {
    const recordsMs = Date.parse('2026-11-20T00:00:00Z');
    const clockGap = { liveMs: recordsMs + aheadMs, recordsMs, aheadMs };
    const since = new Map([['clocks_differ', recordsMs + aheadMs - 5_000]]);
    expect(ofFleet({ clockGap: { ...clockGap, aheadMs: 10_000 } })).toEqual([]);
    const [reason, ...more] = ofFleet({ clockGap, since });
    expect(more).toEqual([]);
    expect(reason).toMatchObject({ code: 'clocks_differ', severity, since: new Date(recordsMs - 5_000) });
    for (const ms of [recordsMs, clockGap.liveMs]) expect(reason?.text).toContain(new Date(ms).toISOString());
    expect(reason?.text).toContain(gap);
  });
});

describe('the order of reasons', () => {
  const linked = (facts: Facts) => ofTask(facts).map(({ code, causedBy }) => [code, causedBy]);

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
    const reasons = ofFleet({}, { slowness: SLOW }, { taskType: 'package', successRate: 92 });
    expect(reasons.map(({ code, taskType, causedBy }) => [code, taskType, causedBy])).toEqual([
      ['gateway_slow', 'realname', null],
      ['success_rate', 'package', null],
    ]);
  });

  it('names a refused token once, where no task type gets through, and not twice in other words', () => {
    const text = 'HTTP 401: the gateway does not accept our credentials: code 401: token expired';
    const refused = {
      successRate: 40,
      failedBy: { auth: 30 },
      fault: { kind: 'token' as const, text, instanceIds: [] },
    };
    const reasonsOf = (...types: readonly TaskType[]) =>
      ofFleet({}, ...types.map((taskType) => ({ ...refused, taskType }))).map(({ text }) => text);
    const words =
      'the gateway refuses our token or key: HTTP 401: code 401: token expired: 40 % of polls succeed; failures: auth 30';
    expect(reasonsOf('realname', 'carddata', 'package')).toEqual([`realname, carddata, package: ${words}`]);
    const shares = [71, 0, 12].map((successRate, i) => ({
      ...refused,
      successRate,
      taskType: TASK_TYPES[i] as TaskType,
    }));
    // Each task type has another share.
    expect(ofFleet({}, ...shares).map(({ text }) => text)).toEqual([
      'realname, carddata, package: the gateway refuses our token or key: HTTP 401: code 401: token expired',
    ]);
    // The third one gets through.
    expect(reasonsOf('realname', 'carddata')).toEqual([`realname: ${words}`, `carddata: ${words}`]);
  });

  it('names a carrier once that is slow for two task types', () => {
    const slowCarriers = [{ carrierId: 2, meanMs: 3_000, restMs: 20 }];
    const reasons = ofFleet({}, { slowCarriers }, { taskType: 'carddata', slowCarriers });
    expect(reasons.map(inNumbers)).toEqual(['carrier_slow warning 2 3.0 0.02']);
    expect(reasons[0]?.text).toMatch(/^realname, carddata: /);
  });

  it('begins with what cuts customers off', () => {
    // Of a fleet of 1.5 million: the reason does not wait for a part of a large budget.
    const stops = { ...CALM_STOPS, doneTwoMinutes: 807, doneHour: 807, doneDay: 2_877, budgetHour: 15_000 };
    const readings = { ...READINGS, total: 100, implausible: 61 };
    const [first, second] = ofTask({ taskType: 'package', breakers: [BREAKER], stops, readings });
    expect(first && inNumbers(first)).toBe('stop_surge alert 807 2 3');
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
    expect(ofTask({ stops: { ...CALM_STOPS, ...figures } })).toEqual([]);
  });
});

describe('after a pause', () => {
  const LATE = {
    ...{ queueLength: 1_000_000, concurrencyPercent: 100, achievedIntervalSeconds: 3_420 },
    ...{ due: 10, waitedMs: 20_000, ...IDLE, avgDurationMs: 900, advice: SHORT },
  };
  /** With the words of the pause: its 17 minutes are the last number. */
  const late = (isFirst: boolean) =>
    ofTask({ ...LATE, catching: { pausedMs: 1_020_000, isFirst } }).map(({ code, severity, text }) => [
      ...[code, severity, /\b17 min$/.test(text)],
    ]);

  it('the first minute says that cards wait, and nothing of how late they are', () => {
    expect(late(true)).toEqual([['queue_backlog', 'warning', true]]);
  });

  it('what is late wakes no one, until it has another cause', () => {
    const expected = ['concurrency_usage', 'interval_missed', 'overloaded', 'queue_backlog'];
    const found = late(false).filter(([code]) => code !== 'avg_duration' && code !== 'nothing_polled');
    expect(found.toSorted()).toEqual(expected.map((code) => [code, 'warning', true]));
    const own = ofTask(LATE).filter(({ severity }) => severity === 'alert');
    expect(codes(own)).toEqual(expect.arrayContaining(['nothing_polled', 'interval_missed']));
  });

  it('cards of which none is polled are an alert after the first minute: the fleet does not catch up', () => {
    expect(late(false)).toContainEqual(['nothing_polled', 'alert', false]);
  });

  it('a slow gateway is named at once, unless the pause was a minute or longer', () => {
    const named = (pausedMs: number) =>
      codes(ofTask({ slowness: SLOW, catching: { pausedMs, isFirst: true } }));
    expect(named(59_999)).toEqual(['gateway_slow']);
    expect(named(60_000)).toEqual([]);
  });

  it('polls that fail are said as ever', () => {
    const failing = { successRate: 40, failedBy: { timeout: 60 }, polls: 100 };
    const catching = { pausedMs: 60_000, isFirst: true };
    expect(ofTask({ ...failing, catching })).toEqual(ofTask(failing));
  });
});

it('a fleet that has just started wakes no one for its metrics', () => {
  expect(ofTask({ successRate: 70, starting: true }).map(inNumbers)).toEqual(['success_rate warning 70']);
  expect(ofTask({ breakers: [BREAKER], starting: true })[0]?.severity).toBe('alert');
});

it('says that limits and pauses are not in force, unless the fleet has just started', () => {
  expect(ofTask({ inForce: false }).map(inNumbers)).toEqual(['not_in_force alert']);
  expect(ofTask({ inForce: false, starting: true })).toEqual([]);
});

it('a reason stays for ten seconds once it was shown, and no longer for having been shown for long', () => {
  const kept = new KeptReasons();
  const full = ofTask({ successRate: 92 });
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
    putBack: times.map((atMs) => ({ atMs, text: `repair at ${atMs}` })),
  });
  expect(putBackCauses([instanceOf('a')])).toEqual([]);
  const [one] = putBackCauses([repaired('a', 5)]);
  expect(one).toMatchObject({ code: 'put_back', severity: 'warning', sinceMs: 5 });
  expect(one?.text).toMatch(/^repair at 5: /);
  // Two leaders, one after the other.
  const [four] = putBackCauses([repaired('a', 9, 3), repaired('b', 7, 5)]);
  expect(four).toMatchObject({ sinceMs: 3 });
  expect(four?.text).toMatch(/^repair at 9; repair at 7; repair at 5; and 1 more: /);
});

it('names the carriers with cards that no config selects, and those with counters in doubt', () => {
  const carriers = [{ carrierId: 2, cards: 412 }];
  expect(ofTask({ unselected: carriers, inDoubt: carriers }).map(inNumbers)).toEqual([
    'cards_unselected warning 412 2',
    'counters_in_doubt warning 412 2',
  ]);
});
