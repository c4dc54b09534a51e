// The sentence of every reason, in each of its variants, made from facts. `npm run sentences` writes them into sentences.txt. Other
// tests name codes and numbers, so that a changed word changes one line of source and one line there.

import { expect, it } from 'vitest';
import { FAULT_KINDS } from '../../../src/domain/gateway-fault.ts';
import { REASON_CODES, type ReasonCode, reasonRow } from '../../../src/domain/reasons.ts';
import type { OwnSide } from '../../../src/domain/stats/own-side.ts';
import { TASK_TYPES } from '../../../src/domain/task-type.ts';
import { type AdviceInputs, adviceOn } from '../../../src/health/advisor.ts';
import { capacityOf } from '../../../src/health/capacity.ts';
import type { TaskHealthInputs } from '../../../src/health/health-reasons.ts';
import type { HealthReason } from '../../../src/health/reason.ts';
import type { StopFigures } from '../../../src/health/stop-figures.ts';
import type { InstanceInfo } from '../../../src/store/ports/live/coordination.ts';
import type { LockHolder } from '../../../src/store/ports/records/record-store.ts';
import { BREAKER, ofFleet, ofInstances, PAUSE, READINGS, SHORT } from '../../support/judged-facts.ts';
import { instanceOf } from '../../support/polled-fleet.ts';
import { CALM_STOPS } from '../../support/stop-figures.ts';

type Facts = Partial<TaskHealthInputs>;

const NOW_MS = Date.parse('2026-11-20T00:00:00Z');
const ago = (seconds: number) => new Date(-1_000 * seconds);

/** Reasons of one task type. */
const one = (...variants: Facts[]) => variants.map((facts) => ofFleet({}, facts));
/** Of two task types, and of all. */
const several = (facts: Facts) =>
  [2, 3].map((count) =>
    ofFleet({}, ...TASK_TYPES.slice(0, count).map((taskType) => ({ ...facts, taskType }))),
  );
const stops = (...variants: Partial<StopFigures>[]) =>
  one(...variants.map((figures) => ({ taskType: 'package' as const, stops: { ...CALM_STOPS, ...figures } })));
const readings = (...variants: Partial<TaskHealthInputs['readings']>[]) =>
  one(...variants.map((counts) => ({ taskType: 'carddata' as const, readings: { ...READINGS, ...counts } })));
/** Reasons of instances that are as given, by their names. */
const instances = (...variants: Record<string, Partial<InstanceInfo>>[]) =>
  variants.map((named) => ofInstances(...Object.entries(named).map(([id, own]) => instanceOf(id, own))));

const PACED = { paceShare: { perSecond: 2, cardsPerCall: 1, ofPerSecond: 2 }, advice: SHORT };
const IDLE = { inFlight: 0, recentPolls: 0 };
const SLOW = { nowMs: 3_010, usualMs: 20, slowFromMs: null };
const slow = (
  limit: Pick<NonNullable<TaskHealthInputs['limit']>, 'normalMs' | 'trying'>,
  inForce: number,
) => ({
  ...{ slowness: SLOW, limit: { ...limit, reason: null }, effectiveConcurrency: inForce, advice: SHORT },
});
const CUT_OFF = {
  breakers: [{ ...BREAKER, since: ago(20), instances: 1 }],
  present: { successRate: 40, seconds: 15 },
};
const JUMP = {
  ...{ carrierId: null, isStep: false, sinceMs: 1_000, acceptedAtMs: null },
  ...{ factor: 1_024.4, baselineMbPerHour: 0.0524, recentMbPerHour: 51.2 },
};
const SURGE = { doneTwoMinutes: 807, doneHour: 807, doneDay: 2_877 };
const WELL: OwnSide = { loopDelayMs: 3, cpuPercent: 40, machinePercent: 50, redisMs: 1, databaseMs: 2 };
/** Of instances that measure this; the last variant in a fleet that is late. */
const measured = (...variants: Partial<OwnSide>[][]) =>
  variants.map((own, at) => {
    const instances = own.map((side, i) => instanceOf(`n${i + 1}`, { ownSide: { ...WELL, ...side } }));
    const late = at === variants.length - 1 ? [{ achievedIntervalSeconds: 120 }] : [];
    return ofFleet({ instances }, ...late);
  });
const outage = (part?: 'cards' | 'results') => ({
  databaseOutage: { sinceMs: 5_000, reason: 'no answer', ...(part && { part }) },
});
const HOLDER = {
  ...{ table: 'cards', pid: 4711, name: 'psql', openMs: 600_000 },
  ...{ query: "UPDATE cards SET iccid = '8986'", remedy: 'SELECT pg_terminate_backend(4711)' },
  ...{ waitedMs: 12_000, isWaiting: false, isOwn: false, ofSchedule: true },
};
const lockedFor = (...tables: readonly (readonly Partial<LockHolder>[])[]) =>
  tables.map((holders) =>
    ofFleet({
      locked: holders.map((own) => ({ holder: { ...HOLDER, ...own }, sinceMs: 0, isCurrent: own.pid !== 0 })),
    }),
  );
const stuck = (...holders: Array<Parameters<typeof ofFleet>[0]['lockHolders']>) =>
  holders.map((lockHolders) => ofFleet({ initStuck: true, lockHolders: lockHolders ?? null }));
const zones = (timeZone: string, ...ids: string[]) => Object.fromEntries(ids.map((id) => [id, { timeZone }]));
const clocks = (...gapsMs: number[]) =>
  gapsMs.map((aheadMs) => ofFleet({ clockGap: { liveMs: NOW_MS + aheadMs, recordsMs: NOW_MS, aheadMs } }));
const mode = (stopMode: 'enforce' | 'observe') => ({ stopMode });
const outlying = (...percents: number[]) =>
  percents.map((failedPercent, i) => ({ ...{ carrierId: 7 + i, polls: 100, failed: 50 }, failedPercent }));
const FLAT = { ratePerSecond: 450, avgDurationMs: 100, backpressurePercent: 0, atMs: 0 };
/** More comes due than this limit can poll. */
const overload = (over: Partial<AdviceInputs>): Facts => {
  const callMs = over.slowness?.nowMs ?? 100;
  const capacity = capacityOf({
    ...{ demandPerSecond: 1_600, owedCards: 1_000, effectiveConcurrency: 100 },
    ...{ callMs, heldBy: null, allowedPerSecond: null },
  });
  const limits = { maxConcurrency: 100, effectiveConcurrency: 100, limitReason: null, isTrying: false };
  const inputs = {
    ...{ taskType: 'realname' as const, capacity, callMs, slowness: null, curve: [] },
    ...limits,
  };
  return { advice: adviceOn({ ...inputs, ...over }), slowness: over.slowness ?? null };
};

/** For each code the fleets that show it: one for each way to word it. */
const VARIANTS: Readonly<Record<ReasonCode, () => ReadonlyArray<readonly HealthReason[]>>> = {
  queue_backlog: () =>
    one(
      { queueLength: 10_000, drainSeconds: 250 },
      { queueLength: 60_000, drainSeconds: null },
      { queueLength: 60_000, drainSeconds: null, advice: SHORT },
      { queueLength: 60_000, drainSeconds: null, ...PACED },
      { queueLength: 60_000, catching: { pausedMs: 1_020_000, isFirst: true } },
    ),
  success_rate: () =>
    one(
      { successRate: 12.34 },
      { successRate: 92, failedBy: { connect: 30, timeout: 812, http: 1, malformed: 2 } },
      { successRate: 75, present: { successRate: 100, seconds: 20 } },
      { successRate: 0, failedBy: { connect: 30 } },
      {
        ...{ successRate: 40, failedBy: { connect: 30, timeout: 2 } },
        fault: { kind: 'name', text: 'getaddrinfo ENOTFOUND gw', instanceIds: ['n2', 'n3'] },
      },
      {
        ...{ successRate: 0, failedBy: { auth: 30 } },
        fault: { kind: 'token', text: 'HTTP 401', instanceIds: [] },
      },
      { successRate: 70, starting: true },
    ),
  avg_duration: () => one({ avgDurationMs: 700.04 }, { avgDurationMs: 3_000 }),
  concurrency_usage: () =>
    one(
      { concurrencyPercent: 99.96, advice: SHORT },
      { concurrencyPercent: 100, ...PACED },
      { concurrencyPercent: 100, advice: SHORT, catching: { pausedMs: 1_020_000, isFirst: false } },
    ),
  not_in_force: () => one({ inForce: false }),
  paused: () => [
    ...one(
      { pauses: [PAUSE] },
      { pauses: [{ ...PAUSE, source: 'gateway', by: 'gateway', reason: '' }] },
      { pauses: [{ ...PAUSE, untilMs: 28_800_000 }], nowMs: 3_900_000 },
      { pauses: [{ ...PAUSE, id: 'maintenance 3' }] },
    ),
    ...several({ pauses: [PAUSE] }),
    ...several({ pauses: [{ ...PAUSE, id: 'maintenance 3' }] }).slice(1),
  ],
  breaker_open: () => [
    ...one(
      { breakers: [BREAKER] },
      { breakers: [{ ...BREAKER, interface: 'gateway', reason: null, instances: 1 }] },
      { breakers: [{ ...BREAKER, breaker: 'half_open', kind: 'login' }] },
      ...FAULT_KINDS.map((kind) => ({ breakers: [{ ...BREAKER, interface: 'gateway', kind }] })),
      { taskType: 'package', followUps: [{ ...BREAKER, interface: 'stop' }] },
    ),
    ...several({ breakers: [{ ...BREAKER, interface: 'gateway' }] }).slice(1),
  ],
  nothing_polled: () => one({ ...IDLE, due: 1 }, IDLE),
  gateway_slow: () => [
    ...one(
      { slowness: SLOW },
      slow({ normalMs: 3_000, trying: false }, 100),
      slow({ normalMs: 20, trying: true }, 70),
      slow({ normalMs: 20, trying: false }, 70),
      { slowness: { ...SLOW, nowMs: 320, slowFromMs: 74 }, durations: { 13: 900, 35: 100 } },
    ),
    ...several({ slowness: SLOW }).slice(1),
  ],
  polls_held: () => one({ polls: 1_000, held: 60 }),
  interval_missed: () =>
    one(
      { achievedIntervalSeconds: 120 },
      { intervalSeconds: 4, achievedIntervalSeconds: 43 },
      { achievedIntervalSeconds: 300, ...PACED },
    ),
  limit_reduced: () =>
    one(
      {
        ...{ effectiveConcurrency: 36, advice: SHORT },
        limit: { normalMs: 20, trying: false, reason: '53 % of the calls were refused' },
      },
      { effectiveConcurrency: 36, advice: SHORT },
    ),
  overloaded: () =>
    one(
      overload({}),
      overload({ curve: [50, 100].map((concurrency) => ({ ...FLAT, concurrency })) }),
      overload({ slowness: SLOW }),
    ),
  pace_short: () =>
    one(
      PACED,
      { paceShare: { perSecond: 5 / 60, cardsPerCall: 1, ofPerSecond: 2 } },
      { paceShare: { perSecond: 5 / 60, cardsPerCall: 50, ofPerSecond: 2 } },
    ),
  stop_unconfirmed: () => stops({ unconfirmed: 1 }, { unconfirmed: 1_200 }, { unconfirmed: 10_000 }),
  over_running: () =>
    stops(
      { overRunning: { count: 1, atMs: 1, cardIds: [7] } },
      { overRunning: { count: 10_000, atMs: 1, cardIds: [7, 8] } },
    ),
  stopped_within: () =>
    stops(
      { stoppedWithin: { count: 1, atMs: 1, cardIds: [7] } },
      { stoppedWithin: { count: 10_000, atMs: 1, cardIds: [7, 8] } },
    ),
  cards_unselected: () =>
    one(
      { unselected: [{ carrierId: 2, cards: 1 }] },
      { unselected: [5, 4, 3, 2, 1].map((carrierId) => ({ carrierId, cards: 1_000 * carrierId })) },
    ),
  counters_in_doubt: () => one({ taskType: 'carddata', inDoubt: [{ carrierId: 2, cards: 412 }] }),
  stop_surge: () => stops(SURGE),
  stops_held: () =>
    stops(
      { waitsForWatch: true },
      { held: 28, heldUntilMs: NOW_MS, doneHour: 100 },
      { held: 1_200, heldForOperator: 1_199, heldUntilMs: 0, doneHour: 1_000, doneDay: 1_000 },
      { held: 1, heldUntilMs: 1, doneHour: 0, budgetHour: 0 },
      { held: 2, heldForOperator: 2, doneHour: 99, budgetDay: null },
      { held: 1, budgetHour: null, budgetDay: null, jump: { ...JUMP, acceptedAtMs: 1 } },
      { held: 2, doneHour: 100, jump: JUMP },
      { held: 1, heldForOperator: 1, mode: 'observe' },
      { held: 100_000 },
    ),
  usage_jump: () =>
    stops(
      { jump: JUMP },
      { jump: JUMP, mode: 'observe' },
      { jump: { ...JUMP, isStep: true } },
      { jump: { ...JUMP, isStep: true, carrierId: 7 } },
    ),
  implausible_readings: () => readings({ implausible: 1_000 }, { implausible: 1_001, stopMode: 'observe' }),
  readings_dead: () =>
    readings({ stillMinutes: 12 }, { counters: 300, fallen: 61 }, { counters: 300, fallen: 300 }),
  own_cpu: () =>
    measured(
      [{ loopDelayMs: 210 }],
      [{ loopDelayMs: 210, cpuPercent: 98 }, {}],
      [{ loopDelayMs: 210, machinePercent: 93 }, { loopDelayMs: 60 }],
    ),
  redis_slow: () => measured([{ redisMs: 600 }, { redisMs: 610 }], [{}, { redisMs: 600 }, {}]),
  database_slow: () => measured([{ databaseMs: 800 }], [{ databaseMs: 800 }, {}]),
  instance_cut_off: () =>
    one(
      { ...CUT_OFF, cutOff: new Map([['realname', ['n2', 'n3']]]) },
      {
        ...{
          ...CUT_OFF,
          breakers: CUT_OFF.breakers.map((held) => ({ ...held, interface: 'gateway', reason: null })),
        },
        cutOff: new Map([['gateway', ['n2']]]),
      },
    ),
  instance_gone: () =>
    instances(
      { a: { gone: [{ instanceId: 'b', atMs: 1_000 }] } },
      { a: { gone: ['e', 'd', 'c', 'b'].map((instanceId, i) => ({ instanceId, atMs: 4_000 - 1_000 * i })) } },
    ),
  carrier_slow: () => [
    ...one({
      slowCarriers: [2, 5, 6].map((carrierId) => ({ carrierId, meanMs: 6_000 / carrierId, restMs: 21 })),
    }),
    ...several({ slowCarriers: [{ carrierId: 2, meanMs: 3_000, restMs: 21 }], advice: SHORT }).slice(0, 1),
  ],
  carrier_failing: () =>
    one(
      { successRate: 92, outlyingCarriers: outlying(95.64) },
      { successRate: 80, outlyingCarriers: outlying(95.64, 50, 44) },
    ),
  certificate_expires: () => instances({ a: { certificateEndsMs: 13 * 86_400_000 } }),
  no_worker: () => [
    ofFleet({ instances: [] }),
    ofFleet({ instances: [], silence: 'heartbeat: no answer for 12 s' }),
  ],
  no_scheduler: () => instances({ a: { roles: ['worker'] } }),
  database_outage: () =>
    instances(
      { a: outage(), b: {} },
      { a: outage('cards'), b: {} },
      { a: outage('results'), b: outage('results') },
      { a: outage(), b: outage(), c: { roles: ['worker'] } },
    ),
  table_locked: () =>
    lockedFor(
      [{}],
      [{ openMs: null, query: null }, { table: 'card_stops' }],
      [{ isOwn: true }],
      [{ isWaiting: true, remedy: 'SELECT pg_cancel_backend(4711)' }],
      // The latest answer has no wait.
      [{ pid: 0 }],
    ),
  init_stuck: () => [
    ...stuck([], null, [HOLDER], [{ ...HOLDER, openMs: null, query: null }, HOLDER, HOLDER]),
    ...stuck([{ ...HOLDER, remedy: null }]),
    ofFleet({ initStuck: true, instances: [instanceOf('a', { roles: ['worker'] })] }),
  ],
  clocks_differ: () => clocks(45 * 86_400_000, -90_000),
  instance_clocks_differ: () =>
    instances(
      { a: { clockAheadMs: 600_000 }, b: { clockAheadMs: 0 } },
      { a: { clockAheadMs: 600_000 }, b: { clockAheadMs: -7_200_000 }, c: {} },
    ),
  time_zones_differ: () =>
    instances({ ...zones('UTC', 'a'), ...zones('Asia/Shanghai', 'b', 'c', 'd', 'e', 'f') }),
  stop_modes_differ: () => [
    ofFleet({ stops: { setMode: null }, instances: [instanceOf('a'), instanceOf('b', mode('observe'))] }),
  ],
  reload_failed: () =>
    instances(
      { a: {}, b: { reloadFailure: { sinceMs: 7_000, reason: '2 problems:\n  tokens' } } },
      Object.fromEntries(
        ['a', 'b'].map((id) => [id, { reloadFailure: { sinceMs: 7_000, reason: 'no file' } }]),
      ),
    ),
  logs_not_written: () => instances({ a: {}, b: { logTrouble: '/l/worker.log: no space' } }),
  part_failing: () =>
    instances({
      a: { failing: { part: 'reaper', sinceMs: 1_000, reason: 'permission denied' } },
    }),
  put_back: () =>
    instances(
      { a: { putBack: [{ atMs: 5, text: 'the limit of realname was 50 in Redis and is 100 again' }] } },
      {
        a: {
          putBack: [9, 7, 5, 3].map((atMs) => ({
            atMs,
            text: `the limit of realname was ${atMs} in Redis and is 100 again`,
          })),
        },
      },
    ),
};

const shown = (code: ReasonCode) =>
  VARIANTS[code]()
    .flat()
    .filter((reason) => reason.code === code);

/** `nothing_polled (alert) realname: 10 cards are due, and none was polled for 10 s -> cardpoll doctor`. */
function lineOf({ code, severity, text, command, kind, since }: HealthReason): string {
  const notes = [severity, ...(kind ? [kind] : []), ...(since ? [`since ${since.getTime()} ms`] : [])];
  return `${code} (${notes.join(', ')}) ${text}${command === null ? '' : ` -> ${command}`}`;
}

it.each(REASON_CODES)('%s is shown with each severity of its row, and in each variant once', (code) => {
  const severities = new Set(shown(code).map(({ severity }) => severity));
  expect([...severities].sort().reverse().join(' or ')).toBe(reasonRow(code).severity);
  expect(new Set(shown(code).map(lineOf)).size).toBe(VARIANTS[code]().length);
});

it('sentences.txt has the sentences of all reasons', async () => {
  const lines = REASON_CODES.flatMap((code) => shown(code).map(lineOf));
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('sentences.txt');
});
