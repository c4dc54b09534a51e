import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { causesOf, type DatedCause, type OrderedCause } from '../../../../src/domain/alerts/alert-cause.ts';
import {
  type AlertCondition,
  RULE_TYPE_FACTS,
  RULE_TYPES,
  type RuleType,
  type TaskCondition,
} from '../../../../src/domain/alerts/alert-rule.ts';
import { nextEvent, type WatchedRule } from '../../../../src/domain/alerts/alert-transition.ts';
import { recommendedAlerts } from '../../../../src/domain/alerts/recommended-alerts.ts';
import { judgeMetrics } from '../../../../src/domain/health.ts';
import { schedulePaceOf } from '../../../../src/domain/schedule/schedule-pace.ts';
import { pollRatesOf, presentMetricsOf } from '../../../../src/domain/stats/task-metrics.ts';
import { TASK_TYPES } from '../../../../src/domain/task-type.ts';
import { REPOSITORY } from '../../../support/markdown.ts';

const BACKLOG: AlertCondition = {
  ruleType: 'queue_backlog',
  taskType: 'realname',
  comparison: '>',
  threshold: 100,
};
const FIRING = { firing: BACKLOG, sinceFiredMs: 1_000 };

function watched({
  rule,
  ...state
}: Partial<Omit<WatchedRule, 'rule'>> & { rule?: Partial<WatchedRule['rule']> } = {}): WatchedRule {
  return {
    rule: { ...BACKLOG, isEnabled: true, cooldownSeconds: 300, notifies: true, ...rule },
    isDeleted: false,
    firing: null,
    sinceFiredMs: null,
    coolingCauses: [],
    reportedCauses: [],
    ...state,
  };
}

const dated = (code: string, kind: DatedCause['kind'] = null): DatedCause => ({
  ...{ code, kind, severity: 'alert', text: '', command: null, since: null },
});
const fired = (value: number) => ({ kind: 'fired', value });
const resolved = (value: number | null, resolution: string) => ({ kind: 'resolved', value, resolution });

describe('the cause of an open alert', () => {
  const explains = (cause: { code: string }, other: { code: string }) =>
    cause.code === 'paused' || (cause.code === 'gateway_slow' && other.code !== 'part_failing');
  const [paused, unpolled] = [dated('paused'), dated('nothing_polled')];
  const [slow, backlog, failing] = [dated('gateway_slow'), dated('queue_backlog'), dated('part_failing')];
  const [refused, token] = [dated('breaker_open', 'refused'), dated('breaker_open', 'token')];

  it.each<[string, DatedCause[], DatedCause[], object | null]>([
    ['stays while it is there', [slow], [failing, slow], { kind: 'changed', cause: failing, isNews: true }],
    ['stays where the others are known', [slow, failing], [failing, slow], null],
    ['is another one', [slow], [failing], { kind: 'changed', cause: failing, isNews: true }],
    [
      'is another kind of the same reason',
      [refused],
      [token],
      { kind: 'changed', cause: token, isNews: true },
    ],
    ['is the same in another reason', [token], [dated('success_rate', 'token')], null],
    ['is not what it left behind', [slow], [backlog], null],
    ['is not what it left behind, but what comes after that', [slow], [backlog, failing], { cause: failing }],
    ['is not what a pause leaves behind', [paused], [paused, unpolled, backlog], null],
    ['is what remains when a pause is over', [paused], [backlog], { cause: backlog, isNews: true }],
    ['is that nothing is polled when the cause is over', [slow], [backlog, unpolled], { cause: unpolled }],
    ['is not that nothing is polled while the cause is there', [slow], [slow, unpolled], null],
    ['is an earlier one, which is no news', [slow, failing], [failing], { cause: failing, isNews: false }],
    ['is not known', [], [failing], null],
    ['stays when none is known', [slow], [], null],
  ])('%s', (_, reportedCauses, causes, event) => {
    const open = watched({ ...FIRING, reportedCauses });
    const found = nextEvent(open, 500, causes, explains);
    if (event === null) expect(found).toBeNull();
    else expect(found).toMatchObject(event);
    expect(nextEvent(open, 0, causes, explains)?.kind, 'while it recovers').toBe('resolved');
  });

  it('is what others follow from, once, as bad as the worst that follows', () => {
    const load = { ...dated('overloaded'), severity: 'warning' } as const;
    const follows = (code: string, severity: 'alert' | 'warning'): OrderedCause => ({
      ...dated(code),
      severity,
      root: load,
    });
    const reasons = [
      follows('paused', 'warning'),
      follows('gateway_slow', 'alert'),
      { ...failing, root: failing },
    ];
    const causes = (ruleType: string) =>
      causesOf(ruleType, reasons, []).map(({ code, severity }) => `${code} ${severity}`);
    expect(causes('health')).toEqual(['overloaded alert', 'part_failing alert']);
    expect(causes('polling_stalled')).toEqual(['overloaded alert']);
    expect(causes('gateway_slow')).toEqual(['overloaded alert']);
    expect(causes('success_rate')).toEqual([]);
    expect(causesOf('health', reasons, ['part_failing'])).toHaveLength(1);
  });
});

describe('nextEvent', () => {
  it.each<[string, WatchedRule, number | null, unknown]>([
    ['quiet below the threshold', watched(), 99, null],
    ['quiet at the threshold', watched(), 100, null],
    ['fires above it', watched(), 100.5, fired(100.5)],
    ['fires below it with <', watched({ rule: { comparison: '<' } }), 99, fired(99)],
    ['quiet at it with <', watched({ rule: { comparison: '<' } }), 100, null],
    ['quiet without a sample', watched(), null, null],
    ['quiet while disabled', watched({ rule: { isEnabled: false } }), 500, null],
    ['quiet once deleted', watched({ isDeleted: true }), 500, null],
    ['quiet in its cooldown', watched({ sinceFiredMs: 299_999 }), 500, null],
    [
      'stays quiet where the clock was set back in its cooldown',
      watched({ sinceFiredMs: -5_000 }),
      500,
      null,
    ],
    ['fires where the clock was set back by hours', watched({ sinceFiredMs: -18_000_000 }), 500, fired(500)],
    ['fires after its cooldown', watched({ sinceFiredMs: 300_000 }), 500, fired(500)],
    [
      'fires at once without a cooldown',
      watched({ sinceFiredMs: 0, rule: { cooldownSeconds: 0 } }),
      500,
      fired(500),
    ],
    ['fires once only', watched(FIRING), 500, null],
    ['goes on firing after its cooldown', watched({ ...FIRING, sinceFiredMs: 900_000 }), 500, null],
    ['goes on firing without a sample', watched(FIRING), null, null],
    ['resolves at the threshold', watched(FIRING), 100, resolved(100, 'recovered')],
    ['resolves in its cooldown', watched({ ...FIRING, sinceFiredMs: 1 }), 0, resolved(0, 'recovered')],
    [
      'resolves when disabled',
      watched({ ...FIRING, rule: { isEnabled: false } }),
      500,
      resolved(500, 'rule_disabled'),
    ],
    ['resolves when deleted', watched({ ...FIRING, isDeleted: true }), null, resolved(null, 'rule_deleted')],
    ['keeps its alert over a new threshold', watched({ ...FIRING, rule: { threshold: 400 } }), 500, null],
    [
      'resolves by a new threshold',
      watched({ ...FIRING, rule: { threshold: 600 } }),
      500,
      resolved(500, 'recovered'),
    ],
    [
      'ends for another metric',
      watched({ ...FIRING, rule: { ruleType: 'avg_duration' } }),
      500,
      resolved(null, 'rule_changed'),
    ],
    [
      'ends for another type',
      watched({ ...FIRING, rule: { taskType: 'package' } }),
      500,
      resolved(null, 'rule_changed'),
    ],
    [
      'ends for another direction',
      watched({ ...FIRING, rule: { comparison: '<' } }),
      500,
      resolved(null, 'rule_changed'),
    ],
  ])('%s', (_, rule, sample, event) => {
    expect(nextEvent(rule, sample, [], () => false)).toEqual(event);
  });

  it('keeps quiet in its cooldown about the causes that it fired for, not about another one', () => {
    const cooling = watched({ sinceFiredMs: 60_000, coolingCauses: ['gateway_slow', 'success_rate'] });
    expect(nextEvent(cooling, 500, [dated('gateway_slow')], () => false)).toBeNull();
    expect(nextEvent(cooling, 500, [dated('breaker_open')], () => false)).toEqual(fired(500));
  });

  it('makes one firing and one resolution of an outage, and one of a flapping metric in a cooldown', () => {
    let state: Pick<WatchedRule, 'firing' | 'sinceFiredMs'> = { firing: null, sinceFiredMs: null };
    const kinds = [50, 150, null, 150, 150, 50, 150, 50, 150, 50].map((sample) => {
      const event = nextEvent(watched(state), sample, [], () => false);
      const { firing, sinceFiredMs } = state;
      if (event?.kind === 'fired') state = { firing: BACKLOG, sinceFiredMs: 0 };
      else {
        const since = sinceFiredMs === null ? null : sinceFiredMs + 5_000;
        state = { firing: event === null ? firing : null, sinceFiredMs: since };
      }
      return event?.kind ?? null;
    });
    expect(kinds.filter((kind) => kind !== null)).toEqual(['fired', 'resolved']);
  });
});

it('docs/alerts.md names the bounds of all thresholds', () => {
  const page = readFileSync(join(REPOSITORY, 'docs/alerts.md'), 'utf8');
  const written = page.match(/Thresholds are (.*?), otherwise at least 0\./s)?.[1] ?? '';
  const named = written.split(/,\s/).flatMap((part) => {
    const [, min, max] = part.match(/^([\d.]+) to ([\d.]+)\sfor /) ?? [];
    return [...part.matchAll(/`(\w+)`/g)].map(([, ruleType]) => [
      ruleType,
      { min: Number(min), max: Number(max) },
    ]);
  });
  const bounds = RULE_TYPES.map((ruleType) => [ruleType, RULE_TYPE_FACTS[ruleType].bounds] as const);
  expect(Object.fromEntries(named)).toEqual(Object.fromEntries(bounds.filter(([, { max }]) => max !== null)));
  expect(bounds.filter(([, { min }]) => min !== 0)).toEqual([]);
});

type Metrics = Parameters<(typeof RULE_TYPE_FACTS)['queue_backlog']['sample']>[0];

const NO_POLLS = { succeeded: 0, failed: 0, durationMs: 0, succeededMs: 0, reasons: {}, durations: {} };

const IDLE: Metrics = {
  queueLength: 0,
  polls: 0,
  polledPercent: null,
  ...pollRatesOf(NO_POLLS),
  now: presentMetricsOf(NO_POLLS),
  schedule: schedulePaceOf([], 0),
  unconfirmedStops: null,
  heldStops: null,
  overRunning: null,
  condition: null,
  covered: [],
};

const CALM: TaskCondition = { reasons: [], breakerOpenSeconds: 0, pausedByOperator: false };

const samplesOf = (metrics: Partial<Metrics>) =>
  Object.fromEntries(RULE_TYPES.map((type) => [type, RULE_TYPE_FACTS[type].sample({ ...IDLE, ...metrics })]));

describe('metrics', () => {
  it('are the ones statistics show', () => {
    const rates = pollRatesOf({
      succeeded: 8_999_999,
      failed: 1_000_001,
      durationMs: 20_000_000,
      reasons: {},
    });
    const metrics = { queueLength: 7, polls: 10_000_000, ...rates, unconfirmedStops: 3, heldStops: 28 };
    expect(samplesOf(metrics)).toMatchObject({
      queue_backlog: 7,
      success_rate: 89.99999,
      avg_duration: 2,
      stop_unconfirmed: 3,
      stops_held: 28,
    });
  });

  it.each([
    [9, null],
    [10, 90],
  ])('have a success rate of %i polls: %s', (polls, successRate) => {
    const rates = pollRatesOf({ succeeded: polls - 1, failed: 1, durationMs: 0, reasons: {} });
    expect(samplesOf({ polls, ...rates }).success_rate).toBe(successRate);
    const more = pollRatesOf({
      succeeded: polls - 1,
      failed: 8,
      durationMs: 0,
      reasons: { held: 7, card: 1 },
    });
    expect(samplesOf({ polls: polls + 7, ...more }).success_rate).toBe(successRate);
  });

  it('have no rate and no duration without a poll', () => {
    expect(samplesOf(IDLE)).toMatchObject({
      queue_backlog: 0,
      success_rate: null,
      avg_duration: null,
      stop_unconfirmed: null,
      stops_held: null,
      polling_stalled: null,
      breaker_open: null,
      health: null,
    });
  });

  it.each([
    ['normal', 0],
    ['warning', 1],
    ['alert', 2],
  ] as const)('metrics of a task type that is %s have health %i', (health, level) => {
    const paused = { ...dated('paused'), severity: health === 'alert' ? 'alert' : 'warning' } as const;
    const reasons = health === 'normal' ? [] : [{ ...paused, root: paused }];
    expect(samplesOf({ condition: { ...CALM, reasons } }).health).toBe(level);
  });

  it('are the seconds for which a breaker is open', () => {
    expect(samplesOf({ condition: { ...CALM, breakerOpenSeconds: 16.5 } }).breaker_open).toBe(16.5);
  });

  it('have a share of polls, except while an operator pauses them', () => {
    const shareOf = (condition: TaskCondition) => samplesOf({ polledPercent: 3, condition }).polling_stalled;
    expect(shareOf(CALM)).toBe(3);
    expect(shareOf({ ...CALM, pausedByOperator: true })).toBeNull();
  });
});

describe('recommended alerts', () => {
  it('are one for each cause: health of each task type and four about stops, under names of their own', () => {
    const rules = recommendedAlerts();
    expect(rules).toHaveLength(TASK_TYPES.length + 4);
    expect(rules.filter(({ ruleType }) => ruleType === 'stops_held')).toEqual([
      {
        name: 'Stops held: package',
        ruleType: 'stops_held',
        taskType: 'package',
        comparison: '>',
        threshold: 0,
      },
    ]);
    expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
    expect(rules).toContainEqual({
      name: 'Health: package',
      ruleType: 'health',
      taskType: 'package',
      comparison: '>',
      threshold: 1,
    });
    for (const { ruleType, threshold } of rules) {
      const { min, max } = RULE_TYPE_FACTS[ruleType].bounds;
      expect(threshold).toBeGreaterThanOrEqual(min);
      expect(threshold).toBeLessThanOrEqual(max ?? Number.POSITIVE_INFINITY);
    }
  });

  it('begin where health is alert, if health judges their metric', () => {
    const calm = { queueLength: 0, successRate: null, avgDurationMs: null, concurrencyPercent: 0 };
    const at: Partial<Record<RuleType, keyof typeof calm>> = {
      queue_backlog: 'queueLength',
      success_rate: 'successRate',
      avg_duration: 'avgDurationMs',
    };
    const judge = (ruleType: RuleType, value: number) =>
      Object.entries(judgeMetrics({ ...calm, [at[ruleType] ?? '']: value })).find(
        ([metric]) => metric === ruleType,
      )?.[1];
    for (const ruleType of Object.keys(at) as RuleType[]) {
      const { comparison, threshold } = RULE_TYPE_FACTS[ruleType].usual;
      const beyond = comparison === '>' ? threshold + 0.1 : threshold - 0.1;
      expect(judge(ruleType, beyond)).toBe('alert');
      expect(judge(ruleType, threshold)).not.toBe('alert');
    }
  });
});
