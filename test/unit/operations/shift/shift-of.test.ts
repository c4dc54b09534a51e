// What follows from the facts of a shift: which reasons were one, what imports changed together, what was polled, and from when
// on all of it is known.
import { describe, expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { CLEANUP_TARGETS } from '../../../../src/domain/cleanup.ts';
import type { CarrierSlots } from '../../../../src/domain/stats/carrier-slots.ts';
import type { HistorySample, TaskSample } from '../../../../src/domain/stats/history.ts';
import { perTaskType, TASK_TYPES } from '../../../../src/domain/task-type.ts';
import type { HealthReason } from '../../../../src/health/reason.ts';
import { withinOf } from '../../../../src/operations/shift/shift.ts';
import { type ShiftFacts, shiftOf } from '../../../../src/operations/shift/shift-of.ts';
import type { AlertWithin } from '../../../../src/store/ports/records/shift-records.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.parse('2026-11-21T06:00:00Z');
const FROM = NOW - 8 * HOUR_MS;
/** Of the night. */
const at = (time: string) => Date.parse(`2026-11-${time >= '12:00' ? 20 : 21}T${time}:00Z`);
const date = (time: string) => new Date(at(time));

const SAMPLE: TaskSample = {
  ...{ ratePerSecond: 10, failedPerSecond: 0, p50Ms: 1, p95Ms: 2, queueLength: 0, inFlight: 0, backoff: 0 },
  ...{ manualLength: 0, effectiveConcurrency: 100, maxConcurrency: 100 },
};
const sample = (atMs: number, over: Partial<TaskSample> = {}): HistorySample => ({
  atMs,
  tasks: perTaskType(() => ({ ...SAMPLE, ...over })),
});
const minutes = (fromMs: number, toMs: number, over: Partial<TaskSample> = {}) =>
  Array.from({ length: (toMs - fromMs) / 60_000 }, (_, i) => sample(fromMs + (i + 1) * 60_000, over));

const LIVE = {
  ...{ samples: minutes(FROM, NOW), pauses: [], maintenance: [], reasons: [] },
  carrierSlots: perTaskType((): CarrierSlots => new Map()),
};
const QUIET: ShiftFacts = {
  within: { fromMs: FROM, toMs: NOW },
  nowMs: NOW,
  alerts: { fired: 0, resolved: 0, open: 0, items: [] },
  imports: [],
  changes: { groups: [], total: 0, countedFromMs: null },
  stops: { carriers: [], isCut: false },
  live: LIVE,
  firing: { items: [], total: 0 },
  control: { setMode: null, held: 0, observed: 0, released: 0 },
  stopModeOfSettings: 'enforce',
  runs: [],
  silences: [],
  retention: CLEANUP_TARGETS.map((target, index) => ({
    ...{ id: index + 1, target, retentionDays: 365, enabled: true, lastRunAtMs: null },
  })),
  calendar: new MonthCalendar('Asia/Shanghai'),
};
const night = (over: Partial<ShiftFacts>) => shiftOf({ ...QUIET, ...over });

function alert(
  id: number,
  fired: string,
  resolved: string | null,
  over: Partial<AlertWithin> = {},
): AlertWithin {
  return {
    ...{ id, ruleId: 3, ruleName: 'Health', ruleType: 'health', taskType: 'realname' },
    ...{
      comparison: '>',
      threshold: 1,
      value: 2,
      resolvedValue: null,
      resolution: null,
      acknowledgedBy: null,
    },
    cause: { code: 'gateway_slow', severity: 'alert', text: 'the gateway takes 3.0 s a call', command: null },
    ...{ causeSinceMs: null, earlierCauses: [] },
    ...{ firedAtMs: at(fired), resolvedAtMs: resolved === null ? null : at(resolved) },
    ...over,
  };
}
const alertsOf = (...items: AlertWithin[]) => ({
  alerts: { fired: items.length, resolved: 0, open: 0, items: items.toReversed() },
});

function reason(over: Partial<HealthReason> = {}): HealthReason {
  return {
    ...{ code: 'stops_held', taskType: 'package', severity: 'warning', text: '208 stops are held' },
    ...{ command: null, since: date('05:00'), causedBy: null },
    ...over,
  };
}

describe('a quiet night', () => {
  it('has no events, and says what was polled', () => {
    expect(night({})).toEqual({
      since: new Date(FROM),
      until: new Date(NOW),
      generatedAt: new Date(NOW),
      unknown: null,
      keptFrom: { alerts: null, changes: null, stops: null, polls: null },
      reasons: [],
      alerts: { fired: 0, resolved: 0, open: 0, items: [] },
      changes: { total: 0, imports: null, groups: [] },
      stops: {
        ...{ done: 0, requested: 0, held: 0, observed: 0, dismissed: 0, resumed: 0 },
        ...{ isCut: false, carriers: [] },
      },
      polls: ['realname', 'carddata', 'package'].map((taskType) => ({
        ...{ taskType, polls: 288_000, failed: 0, successRate: 100, onTimePercent: null },
      })),
      open: {
        ...{
          alerts: 0,
          acknowledged: 0,
          stopMode: 'enforce',
          heldStops: 0,
          observedStops: 0,
          releasedStops: 0,
        },
        ...{ resumes: [], pauses: [], ends: [] },
      },
    });
  });

  it('has a share of polls that succeeded, rounded down', () => {
    const samples = minutes(FROM, NOW, { ratePerSecond: 100, failedPerSecond: 0.001 });
    expect(night({ live: { ...LIVE, samples } }).polls[0]).toMatchObject({ failed: 29, successRate: 99.99 });
    const idle = minutes(FROM, NOW, { ratePerSecond: 0, failedPerSecond: null });
    expect(night({ live: { ...LIVE, samples: idle } }).polls[0]).toMatchObject({
      polls: 0,
      successRate: null,
    });
  });
});

describe('reasons', () => {
  it('are one where alerts of the same cause meet, and keep their first text', () => {
    const second = alert(2, '02:11', '02:30', {
      taskType: 'carddata',
      cause: { code: 'gateway_slow', severity: 'alert', text: 'the gateway takes 9 s a call', command: null },
    });
    const { reasons } = night(alertsOf(alert(1, '02:10', '02:20'), second, alert(3, '02:31', '02:40')));
    expect(reasons).toEqual([
      {
        ...{ source: 'alert', code: 'gateway_slow', severity: 'alert', taskTypes: ['realname', 'carddata'] },
        text: 'the gateway takes 3.0 s a call',
        ...{ beganAt: date('02:10'), endedAt: date('02:40'), alerts: [1, 2, 3] },
      },
    ]);
  });

  it('are two where time passed between their alerts, or where the causes differ', () => {
    const other = {
      code: 'breaker_open',
      severity: 'alert',
      text: 'the gateway is dead',
      command: null,
    } as const;
    const { reasons } = night(
      alertsOf(
        alert(1, '02:10', '02:20'),
        alert(2, '02:15', '02:20', { cause: other }),
        alert(3, '03:00', null),
      ),
    );
    expect(reasons.map(({ code, endedAt }) => [code, endedAt])).toEqual([
      ['gateway_slow', date('02:20')],
      ['breaker_open', date('02:20')],
      ['gateway_slow', null],
    ]);
  });

  it('leave out an alert without a cause, which stays an alert', () => {
    const { reasons, alerts } = night(alertsOf(alert(1, '02:10', '02:12', { cause: null })));
    expect(reasons).toEqual([]);
    expect(alerts.items).toMatchObject([
      { id: 1, rule: 'Health', cause: null, severity: null, durationSeconds: 120 },
    ]);
  });

  it('show an outage of the stores as its own, of the whole fleet', () => {
    const cause = {
      code: 'database_outage',
      severity: 'alert',
      text: 'Redis does not answer',
      command: null,
    } as const;
    const outage = (id: number, from: string, to: string) => alert(id, from, to, { ruleId: 0, cause });
    const { reasons } = night(alertsOf(outage(1, '02:00', '02:01'), outage(2, '02:01', '02:03')));
    expect(reasons.map(({ source, taskTypes, alerts }) => [source, taskTypes, alerts])).toEqual([
      ['outage', [], [1]],
      ['outage', [], [2]],
    ]);
  });

  it('are also those of now, without those that follow from others', () => {
    const live = { ...LIVE, reasons: [reason(), reason({ code: 'queue_backlog', causedBy: 'stops_held' })] };
    expect(night({ live }).reasons).toEqual([
      {
        ...{ source: 'health', code: 'stops_held', severity: 'warning', taskTypes: ['package'] },
        ...{ text: '208 stops are held', beganAt: date('05:00'), endedAt: null, alerts: [] },
      },
    ]);
  });

  it('are one with the open alert of the same cause, and began when the health log says', () => {
    const live = {
      ...LIVE,
      reasons: [reason({ code: 'gateway_slow', taskType: null, since: date('02:09') })],
    };
    expect(night({ ...alertsOf(alert(1, '02:10', null)), live }).reasons).toMatchObject([
      {
        source: 'alert',
        beganAt: date('02:09'),
        endedAt: null,
        alerts: [1],
        text: 'the gateway takes 3.0 s a call',
      },
    ]);
  });

  it('are left out where they began after the time of the report; one without a start is in a report up to now', () => {
    const within = { fromMs: FROM, toMs: at('04:00') };
    const reasons = [reason(), reason({ since: null })];
    expect(night({ within, live: { ...LIVE, reasons } }).reasons).toEqual([]);
    expect(night({ live: { ...LIVE, reasons } }).reasons.map(({ beganAt }) => beganAt)).toEqual([
      date('05:00'),
      null,
    ]);
  });

  it('name the times in which nothing was measured, also up to the end', () => {
    const samples = [...minutes(FROM, at('01:00')), ...minutes(at('01:20'), at('05:50'))];
    expect(night({ live: { ...LIVE, samples } }).reasons).toMatchObject([
      { source: 'samples', code: 'not_measured', beganAt: date('01:00'), endedAt: date('01:21') },
      {
        source: 'samples',
        beganAt: date('05:50'),
        endedAt: null,
        text: expect.stringContaining('for 10 min'),
      },
    ]);
  });
});

describe('alerts', () => {
  it('last until they were resolved, or until the end of the report', () => {
    const { alerts } = night(alertsOf(alert(1, '20:00', '23:00'), alert(2, '05:00', null)));
    expect(
      alerts.items.map(({ id, durationSeconds, resolvedAt }) => [id, durationSeconds, resolvedAt]),
    ).toEqual([
      [2, 3_600, null],
      [1, 3 * 3_600, date('23:00')],
    ]);
  });
});

it('imports are one, with the sum of what they changed and everyone who made one', () => {
  const entry = (action: string, name: string, time: string, after: object | null) => ({
    ...{ action, name, atMs: at(time), after },
  });
  const { changes } = night({
    imports: [
      entry('cards.import.failed', 'op3', '03:00', { inserted: 1, updated: 2, error: 'x' }),
      entry('cards.import.end', 'op1', '02:00', { inserted: 10, updated: 20, rejected: 3, over_package: 4 }),
      entry('cards.import.end', 'op3', '01:00', null),
    ],
  });
  expect(changes.imports).toEqual({
    ...{ count: 3, failed: 1, inserted: 11, updated: 22, rejected: 3, overPackage: 4 },
    ...{ actors: ['op1', 'op3'], lastAt: date('03:00') },
  });
});

it('stops are summed over the carriers', () => {
  const counts = { done: 1, requested: 2, held: 3, observed: 4, dismissed: 5, resumed: 6 };
  const carriers = [
    { carrierId: 1, ...counts },
    { carrierId: null, ...counts, done: 10 },
  ];
  expect(night({ stops: { carriers, isCut: true } }).stops).toEqual({
    ...{ done: 11, requested: 4, held: 6, observed: 8, dismissed: 10, resumed: 12 },
    ...{ isCut: true, carriers },
  });
});

it('has how many polls were on time, where that was counted', () => {
  const counts = { polls: 100, failed: 0, timed: 100, late: 3 };
  const slots: CarrierSlots = new Map([[1, new Map([[2, counts]])]]);
  const carrierSlots = { ...LIVE.carrierSlots, package: slots };
  const { polls } = night({ live: { ...LIVE, carrierSlots } });
  expect(polls.map(({ taskType, onTimePercent }) => [taskType, onTimePercent])).toEqual([
    ['realname', null],
    ['carddata', null],
    ['package', 97],
  ]);
});

describe('what is open', () => {
  it('has pauses and silences by their end', () => {
    const by = { by: 'op2', reason: 'import' };
    const pause = {
      ...{ taskType: 'package' as const, source: 'operator' as const, since: date('01:00') },
      maintenanceId: null,
    };
    const silence = { id: 5, ruleId: 3, ruleType: null, taskType: 'realname' as const, since: date('02:00') };
    const { open } = night({
      live: { ...LIVE, pauses: [{ ...pause, ...by, until: date('09:00') }] },
      silences: [{ ...silence, ...by, until: date('07:00') }],
    });
    expect(open.ends).toEqual([
      {
        kind: 'silence',
        what: 'silence 5: rule 3 realname',
        since: date('02:00'),
        until: date('07:00'),
        ...by,
      },
      { kind: 'pause', what: 'package', since: date('01:00'), until: date('09:00'), ...by },
    ]);
    expect(open.pauses).toHaveLength(1);
  });

  it('has maintenance once, next to the pauses that it is not', () => {
    const scope = { taskType: null, carrierId: null, reason: 'vendor window', by: 'op2', begunAtMs: null };
    const times = { startsAtMs: date('08:00').getTime(), endsAtMs: date('12:00').getTime() };
    const pause = { source: 'operator' as const, by: 'op2', reason: 'vendor window', maintenanceId: 3 };
    const { open } = night({
      live: {
        ...LIVE,
        maintenance: [{ id: 3, ...scope, ...times }],
        pauses: TASK_TYPES.map((taskType) => ({
          ...{ ...pause, taskType, since: date('08:00'), until: date('12:00') },
        })),
      },
    });
    expect(open.ends).toEqual([
      {
        ...{
          kind: 'maintenance',
          what: 'maintenance 3 of all task types',
          by: 'op2',
          reason: 'vendor window',
        },
        ...{ since: date('08:00'), until: date('12:00') },
      },
    ]);
    expect(open.pauses).toHaveLength(3);
  });

  it('has the mode that an operator set, else that of the settings', () => {
    const setMode = { mode: 'observe', sinceMs: NOW, by: 'op3', reason: 'too many' } as const;
    const control = { setMode, held: 208, observed: 7, released: 1 };
    expect(night({ control }).open).toMatchObject({
      ...{ stopMode: 'observe', heldStops: 208, observedStops: 7, releasedStops: 1 },
    });
    expect(night({ stopModeOfSettings: 'observe' }).open.stopMode).toBe('observe');
  });

  it('counts the alerts that an operator acknowledged', () => {
    const firing = { items: [{ acknowledgedBy: 'op1' }, { acknowledgedBy: null }], total: 2 };
    expect(night({ firing }).open).toMatchObject({ alerts: 2, acknowledged: 1 });
  });
});

describe('what is known', () => {
  it('has no polls, pauses and reasons of now while the live store does not answer', () => {
    const report = night({ live: { unknown: 'Redis does not answer' } });
    expect(report).toMatchObject({ unknown: 'Redis does not answer', polls: [], reasons: [] });
    expect(report.keptFrom.polls).toEqual(new Date(NOW));
  });

  it('begins with the first sample of the polls', () => {
    const live = { ...LIVE, samples: minutes(at('00:00'), NOW) };
    expect(night({ live }).keptFrom.polls).toEqual(date('00:00'));
  });

  it('begins where the cleanup ends, unless it is off, and where there are too many changes to count', () => {
    const within = { fromMs: NOW - 80 * DAY_MS, toMs: NOW };
    const kept = (days: number, enabled = true) =>
      night({ within, retention: QUIET.retention.map((one) => ({ ...one, retentionDays: days, enabled })) })
        .keptFrom;
    const from = new Date(NOW - 30 * DAY_MS);
    expect(kept(30)).toMatchObject({ alerts: from, changes: from, stops: from });
    expect(kept(30, false)).toMatchObject({ alerts: null, changes: null, stops: null });
    const changes = { groups: [], total: 100_000, countedFromMs: at('03:00') };
    expect(night({ changes }).keptFrom.changes).toEqual(date('03:00'));
  });

  it('has all stops of the present month, in the configured zone, whatever their retention', () => {
    const retention = QUIET.retention.map((one) => ({ ...one, retentionDays: 1 }));
    const from = (time: string, zone: string) =>
      night({ retention, calendar: new MonthCalendar(zone), within: { fromMs: Date.parse(time), toMs: NOW } })
        .keptFrom.stops;
    expect(from('2026-10-31T16:00:00Z', 'Asia/Shanghai')).toBeNull();
    expect(from('2026-10-31T16:00:00Z', 'UTC')).toEqual(new Date(NOW - DAY_MS));
  });
});

describe('the time of a report', () => {
  const of = (sinceMs: number | null, untilMs: number | null) => withinOf({ sinceMs, untilMs }, NOW);

  it('is the last eight hours where none is given, or those before its end', () => {
    expect(of(null, null)).toEqual({ fromMs: FROM, toMs: NOW });
    expect(of(null, FROM)).toEqual({ fromMs: FROM - 8 * HOUR_MS, toMs: FROM });
  });

  it('ends now at the latest, and may be empty', () => {
    expect(of(FROM, NOW + HOUR_MS)).toEqual({ fromMs: FROM, toMs: NOW });
    expect(of(FROM, FROM)).toEqual({ fromMs: FROM, toMs: FROM });
    // By the clock of the caller.
    expect(of(NOW + 2_000, null)).toEqual({ fromMs: NOW, toMs: NOW });
    // `--since 90d`, asked two seconds ago.
    expect(of(NOW - 90 * DAY_MS - 2_000, null).toMs).toBe(NOW);
  });

  it.each([
    [
      'in the future',
      NOW + HOUR_MS,
      null,
      'since',
      'must not be in the future: it is 2026-11-21T06:00:00.000Z',
    ],
    [
      'with an end in the future alone',
      NOW + HOUR_MS,
      NOW + 2 * HOUR_MS,
      'since',
      /^must not be in the future/,
    ],
    ['that ends before it begins', FROM, FROM - 1, 'until', 'must not be before since'],
    [
      'of more than 90 days',
      NOW - 90 * DAY_MS - HOUR_MS,
      null,
      'since',
      'must be at most 90 days before until',
    ],
  ])('%s is refused', (_, sinceMs, untilMs, field, message) => {
    let thrown: unknown;
    try {
      of(sinceMs, untilMs);
    } catch (error) {
      thrown = error;
    }
    const said = typeof message === 'string' ? message : expect.stringMatching(message);
    expect(thrown).toMatchObject({ kind: 'invalid', fields: [{ field, message: said }] });
  });
});
