// When the heartbeat for those who watch from outside may be sent: the fleet polls its cards as configured.
import { expect, it } from 'vitest';
import { brokenPromise } from '../../../../src/operations/stats/promise.ts';

type Read = Parameters<typeof brokenPromise>[0];

const NOW = new Date('2026-11-27T03:00:00Z');
const ago = (seconds: number) => ({ startedAt: new Date(NOW.getTime() - 1000 * seconds) });
const task = (over: Partial<Read['tasks'][number]> = {}) => ({
  ...({ taskType: 'realname', demandPerSecond: 10, polledPercent: 100 } as const),
  ...over,
});
const reason = (code: Read['healthReasons'][number]['code'], severity: 'alert' | 'warning') => ({
  ...{ code, severity, text: `words of ${code}` },
});
const KEPT: Read = {
  generatedAt: NOW,
  healthReasons: [],
  init: { status: 'completed', reason: 'build' },
  pauses: [],
  stops: { mode: 'enforce' },
  tasks: [task()],
  workers: [ago(3_600)],
};
const broken = (over: Partial<Read>) => brokenPromise({ ...KEPT, ...over });

it('is kept by a fleet that polls, also with warnings', () => {
  expect(broken({})).toBeNull();
  expect(
    broken({ healthReasons: [reason('gateway_slow', 'warning'), reason('queue_backlog', 'warning')] }),
  ).toBeNull();
  expect(broken({ tasks: [task({ polledPercent: null }), task({ polledPercent: 26 })] })).toBeNull();
});

it('is broken by every reason of severity alert, in its words', () => {
  const healthReasons = [reason('queue_backlog', 'warning'), reason('breaker_open', 'alert')];
  expect(broken({ healthReasons })).toBe('breaker_open: words of breaker_open');
  for (const code of [
    'no_worker',
    'no_scheduler',
    'database_outage',
    'init_stuck',
    'over_running',
  ] as const) {
    expect(broken({ healthReasons: [reason(code, 'alert')] })).toMatch(code);
  }
});

it('is not known while the database does not answer', () => {
  expect(broken({ stops: { mode: null } })).toMatch(/database/);
});

it('is broken in the first minute by what is calmed then: a fleet that restarts all the time must not look well', () => {
  const healthReasons = [reason('nothing_polled', 'warning')];
  expect(broken({ healthReasons, workers: [ago(59), ago(1)] })).toMatch(/nothing_polled/);
  expect(broken({ healthReasons, workers: [ago(61), ago(1)] })).toBeNull();
  expect(broken({ workers: [ago(1)] })).toBeNull();
  expect(broken({ healthReasons: [reason('reload_failed', 'warning')], workers: [ago(1)] })).toBeNull();
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
