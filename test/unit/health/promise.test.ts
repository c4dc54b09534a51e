// When the heartbeat for those who watch from outside may be sent: the fleet polls its cards as configured.
import { expect, it } from 'vitest';
import { NOT_IN_FORCE } from '../../../src/domain/limits/in-force.ts';
import type { TaskType } from '../../../src/domain/task-type.ts';
import { brokenPromise } from '../../../src/health/verdicts.ts';

type Read = Parameters<typeof brokenPromise>[0];

const NOW_MS = Date.parse('2026-11-27T03:00:00Z');
const ago = (seconds: number) => ({ startedAtMs: NOW_MS - 1000 * seconds });
const task = ({
  taskType = 'realname' as TaskType,
  demandPerSecond = 10,
  polledPercent = 100 as number | null,
  inForce = true,
} = {}) => ({ taskType, counts: { inForce }, metrics: { polledPercent, schedule: { demandPerSecond } } });
const reason = (code: Read['reasons'][number]['code'], severity: 'alert' | 'warning') => ({
  ...{ code, severity, text: `words of ${code}` },
});
const KEPT = {
  nowMs: NOW_MS,
  reasons: [],
  init: { status: 'completed', reason: 'build' },
  pauses: [],
  stops: {},
  tasks: [task()],
  instances: [ago(3_600)],
};
/** What the promise is about has only what it reads. */
const broken = (over: Partial<Record<keyof Read, unknown>>) =>
  brokenPromise({ ...KEPT, ...over } as unknown as Read);

it('is kept by a fleet that polls, also with warnings', () => {
  expect(broken({})).toBeNull();
  expect(
    broken({ reasons: [reason('gateway_slow', 'warning'), reason('queue_backlog', 'warning')] }),
  ).toBeNull();
  expect(broken({ tasks: [task({ polledPercent: null }), task({ polledPercent: 26 })] })).toBeNull();
});

it('is broken by every reason of severity alert, in its words', () => {
  const reasons = [reason('queue_backlog', 'warning'), reason('breaker_open', 'alert')];
  expect(broken({ reasons })).toBe('breaker_open: words of breaker_open');
  for (const code of [
    'no_worker',
    'no_scheduler',
    'database_outage',
    'init_stuck',
    'over_running',
  ] as const) {
    expect(broken({ reasons: [reason(code, 'alert')] })).toMatch(code);
  }
});

it('is not known while the database does not answer', () => {
  expect(broken({ stops: null })).toMatch(/database/);
});

it('is broken while what is of record is not in force, also in the first minute', () => {
  const tasks = [task(), task({ inForce: false })];
  for (const instances of [[ago(1)], [ago(3_600)]]) {
    expect(broken({ tasks, instances })).toBe(NOT_IN_FORCE);
  }
});

it('is broken in the first minute by what is calmed then: a fleet that restarts all the time must not look well', () => {
  const reasons = [reason('nothing_polled', 'warning')];
  expect(broken({ reasons, instances: [ago(59), ago(1)] })).toMatch(/nothing_polled/);
  expect(broken({ reasons, instances: [ago(61), ago(1)] })).toBeNull();
  expect(broken({ instances: [ago(1)] })).toBeNull();
  expect(broken({ reasons: [reason('reload_failed', 'warning')], instances: [ago(1)] })).toBeNull();
});

it('is broken until the cards are in their rings, not while rings are compared', () => {
  for (const status of ['pending', 'running', 'stuck'] as const) {
    expect(broken({ init: { status, reason: 'build' } })).toMatch(/loaded/);
  }
  expect(broken({ init: { status: 'running', reason: 'live_store_replaced' } })).toBeNull();
  expect(broken({ init: { status: 'stuck', reason: 'requested' } })).toMatch(/loaded/);
});

it('is broken where no card is to be polled: all configs are disabled, or all cards are gone', () => {
  expect(
    broken({ tasks: [task({ demandPerSecond: 0 }), task({ demandPerSecond: 0, polledPercent: null })] }),
  ).toMatch(/no card is to be polled/);
  expect(broken({ tasks: [task({ demandPerSecond: 0 }), task()] })).toBeNull();
});

it('is broken where a task type is hardly polled although health says nothing, unless an operator paused it', () => {
  const tasks = [task(), task({ taskType: 'package', polledPercent: 24.4 })];
  expect(broken({ tasks })).toBe('package: 24 % of the demand is polled');
  const pause = (source: 'operator' | 'gateway', taskType: 'package' | 'realname') => ({ source, taskType });
  expect(broken({ tasks, pauses: [pause('operator', 'package')] })).toBeNull();
  expect(broken({ tasks, pauses: [pause('operator', 'realname')] })).toMatch(/package/);
  expect(broken({ tasks, pauses: [pause('gateway', 'package')] })).toMatch(/package/);
});
