// Which change can have brought a reason about: every kind of change against every reason. With real changes: test/integration/operations/stats/changes-before.test.ts
import { expect, it } from 'vitest';
import { REASON_CODES } from '../../../src/domain/reasons.ts';
import type { TaskType } from '../../../src/domain/task-type.ts';
import { changeBefore, type RecordedChange } from '../../../src/health/change-before.ts';
import { LOAD, STRAIN } from '../../../src/health/explains.ts';
import type { HealthReason } from '../../../src/health/reason.ts';

const CONFIG = { taskType: 'carddata', cardCondition: 'any', carrierId: null, priority: 0, status: 1 };
const interval = (before: number, after: number, id = 1): RecordedChange => ({
  ...{ id, atMs: 1_000 * id, name: 'anna', action: 'config.update', object: 'polling_config 3' },
  before: { ...CONFIG, intervalSeconds: before },
  after: { ...CONFIG, intervalSeconds: after },
});
const change = (
  action: string,
  object: string,
  before: object | null,
  after: object | null,
): RecordedChange => ({
  ...{ id: 1, atMs: 1_000, name: 'anna', action, object, before, after },
});
const NO_CONFIGS = { configs: [], rings: [] };

const found = (reason: Pick<HealthReason, 'code' | 'taskType' | 'kind'>, ...changes: RecordedChange[]) =>
  changeBefore(reason, changes, NO_CONFIGS);
const explained = (of: RecordedChange, taskType: TaskType | null = 'carddata') =>
  REASON_CODES.filter((code) => found({ code, taskType }, of) !== null);
const sorted = (codes: readonly string[]) => [...codes].sort();

it.each<[string, RecordedChange, readonly string[]]>([
  ['a shorter interval: load and strain', interval(600, 1), [...LOAD, ...STRAIN]],
  ['a longer interval: nothing', interval(1, 600), []],
  [
    'an import: load, never what is slow or fails',
    change('cards.import.end', 'import', null, { inserted: 5, updated: 19_980 }),
    LOAD,
  ],
  ['an import that wrote nothing: nothing', change('cards.import.end', 'import', null, { inserted: 0 }), []],
  [
    'a higher limit: strain',
    change('concurrency.set', 'task_type carddata', { maxConcurrency: 50 }, { maxConcurrency: 100 }),
    STRAIN,
  ],
  [
    'a lower limit: load',
    change('concurrency.set', 'task_type carddata', { maxConcurrency: 100 }, { maxConcurrency: 50 }),
    LOAD.filter((code) => code !== 'pace_short'),
  ],
])('%s', (_, of, codes) => {
  expect(sorted(explained(of))).toEqual(sorted(codes));
  expect(sorted(explained(of, null)), 'of several task types').toEqual(sorted(codes));
});

it('stops come from an import that puts cards over their package', () => {
  const end = change('cards.import.end', 'import', null, { inserted: 0, updated: 5, overPackage: 5 });
  expect(explained(end, 'package')).toContain('stop_surge');
});

it('no change makes a name unknown or a token wrong', () => {
  const of = (kind: HealthReason['kind']) =>
    found({ code: 'breaker_open', taskType: null, kind }, interval(600, 1));
  expect([of('name'), of('token'), of('expired')]).toEqual([null, null, null]);
  expect(of('timeout')).not.toBeNull();
});

it('an interval that was taken back is not named for several task types either', () => {
  const reason = { code: 'gateway_slow', taskType: null } as const;
  expect(found(reason, interval(600, 1), interval(1, 600, 2))).toBeNull();
});

it('an import goes on for minutes, an interval is in force at once', () => {
  const reason = { code: 'overloaded', taskType: 'carddata' } as const;
  expect(found(reason, interval(600, 1))).toMatchObject({ isImmediate: true });
  const end = change('cards.import.end', 'import', null, { inserted: 5 });
  expect(found(reason, end)).toMatchObject({ isImmediate: false, explains: LOAD });
});
