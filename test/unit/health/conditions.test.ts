import { describe, expect, it } from 'vitest';
import type { TaskType } from '../../../src/domain/task-type.ts';
import type { InterfaceReport } from '../../../src/health/gateway-report.ts';
import type { HealthReason } from '../../../src/health/reason.ts';
import { taskConditionsOf } from '../../../src/health/verdicts.ts';

const NOW_MS = Date.parse('2026-11-24T10:00:00Z');
const CALM = { reasons: [], breakerOpenSeconds: 0, pausedByOperator: false };

function conditionsOf(parts: Partial<Parameters<typeof taskConditionsOf>[0]>) {
  return taskConditionsOf({
    ...{ nowMs: NOW_MS, gateway: { interfaces: [] }, reasons: [], pauses: [], tasks: [] },
    ...parts,
  });
}

const reason = (
  code: HealthReason['code'],
  taskType: TaskType | null,
  severity: HealthReason['severity'] = 'alert',
): HealthReason => ({ code, taskType, severity, text: '', command: null, since: null, causedBy: null });

const breaker = (
  name: string,
  secondsAgo: number,
  state: 'open' | 'half_open' = 'open',
): InterfaceReport => ({
  interface: name,
  breaker: state,
  since: new Date(NOW_MS - 1_000 * secondsAgo),
  reason: null,
  nextProbeAt: null,
  instances: 1,
});

it('have the health of the task type, and of the whole fleet', () => {
  const reasons = [reason('interval_missed', 'carddata'), reason('clocks_differ', null, 'warning')];
  const [own, fleet] = reasons.map((root) => ({ ...root, root }));
  expect(conditionsOf({ reasons })).toEqual({
    realname: { ...CALM, reasons: [fleet] },
    carddata: { ...CALM, reasons: [own, fleet] },
    package: { ...CALM, reasons: [fleet] },
  });
});

it('count the use of the whole limit as no fault', () => {
  const reasons = [reason('concurrency_usage', 'realname')];
  expect(conditionsOf({ reasons }).realname).toEqual(CALM);
});

it('have as the cause of a reason what it follows from, also if that is of another task type', () => {
  const cause = reason('overloaded', 'carddata', 'warning');
  const reasons = [cause, { ...reason('gateway_slow', null), causedBy: cause.code }, reason('paused', null)];
  const { realname } = conditionsOf({ reasons });
  expect(realname.reasons.map(({ code, root }) => `${code}: ${root.code}`)).toEqual([
    'gateway_slow: overloaded',
    'paused: paused',
  ]);
});

it('have the age of the oldest breaker that is open', () => {
  const interfaces = [breaker('gateway', 20), breaker('realname', 30), breaker('flow', 40, 'half_open')];
  const { realname, carddata } = conditionsOf({ gateway: { interfaces } });
  expect(realname.breakerOpenSeconds).toBe(30);
  expect(carddata.breakerOpenSeconds).toBe(20);
});

it('are of a pause only if an operator made it', () => {
  const pause = { reason: '', by: '', id: null, sinceMs: NOW_MS, untilMs: NOW_MS };
  const pauses = [
    { ...pause, taskType: 'realname' as const, source: 'operator' as const },
    { ...pause, taskType: 'package' as const, source: 'gateway' as const },
  ];
  const conditions = conditionsOf({ pauses });
  expect(conditions.realname.pausedByOperator).toBe(true);
  expect(conditions.package.pausedByOperator).toBe(false);
});

describe('a pause of an operator that has lasted an hour', () => {
  const HOUR_MS = 3_600_000;
  const LONG = {
    ...({ taskType: 'realname', source: 'operator', reason: 'vendor window', by: 'anna', id: '1' } as const),
    ...{ sinceMs: NOW_MS - HOUR_MS, untilMs: NOW_MS + HOUR_MS },
  };
  const paused = reason('paused', 'realname', 'warning');
  const reminds = (pause: object, reasons = [paused]) =>
    conditionsOf({ reasons, pauses: [{ ...LONG, ...pause }] }).realname.reasons.map((one) => one.reminds);

  it('reminds, where health shows a warning', () => {
    expect(reminds({})).toEqual([true]);
    expect(reminds({}, [reason('paused', null, 'warning')])).toEqual([true]);
  });

  it('reminds not before, nor of maintenance, which was planned, nor of a pause of the gateway or another task type', () => {
    for (const other of [
      { sinceMs: NOW_MS - HOUR_MS + 1 },
      { id: 'maintenance 7' },
      { source: 'gateway' },
      { taskType: 'package' },
    ]) {
      expect(reminds(other), JSON.stringify(other)).toEqual([undefined]);
    }
    expect(reminds({}, [reason('interval_missed', 'realname', 'warning')])).toEqual([undefined]);
  });
});
