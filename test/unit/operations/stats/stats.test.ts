import { expect, it } from 'vitest';
import type { TaskType } from '../../../../src/domain/task-type.ts';
import type { GatewayReport, HealthReason } from '../../../../src/operations/health/health-report.ts';
import { taskConditionsOf } from '../../../../src/operations/stats/stats.ts';
import type { Overview } from '../../../../src/operations/stats/stats-report.ts';

const NOW = new Date('2026-11-24T10:00:00Z');
const CALM = { reasons: [], breakerOpenSeconds: 0, pausedByOperator: false };

const gatewayOf = (interfaces: GatewayReport['interfaces']): GatewayReport => ({
  interfaces,
  avgDurationMs_10s: null,
  successRate_10s: null,
  slow: false,
});

function conditionsOf(parts: Partial<Pick<Overview, 'gateway' | 'healthReasons' | 'pauses'>>) {
  const calm = { generatedAt: NOW, gateway: gatewayOf([]), healthReasons: [], pauses: [] };
  return taskConditionsOf({ ...calm, ...parts } as unknown as Overview);
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
): GatewayReport['interfaces'][number] => ({
  interface: name,
  breaker: state,
  since: new Date(NOW.getTime() - 1_000 * secondsAgo),
  reason: null,
  nextProbeAt: null,
  instances: 1,
});

it('have the health of the task type, and of the whole fleet', () => {
  const healthReasons = [reason('interval_missed', 'carddata'), reason('clocks_differ', null, 'warning')];
  expect(conditionsOf({ healthReasons })).toEqual({
    realname: { ...CALM, reasons: [healthReasons[1]] },
    carddata: { ...CALM, reasons: healthReasons },
    package: { ...CALM, reasons: [healthReasons[1]] },
  });
});

it('count the use of the whole limit as no fault', () => {
  const healthReasons = [reason('concurrency_usage', 'realname')];
  expect(conditionsOf({ healthReasons }).realname).toEqual(CALM);
});

it('have the age of the oldest breaker that is open', () => {
  const interfaces = [breaker('gateway', 20), breaker('realname', 30), breaker('flow', 40, 'half_open')];
  const { realname, carddata } = conditionsOf({ gateway: gatewayOf(interfaces) });
  expect(realname.breakerOpenSeconds).toBe(30);
  expect(carddata.breakerOpenSeconds).toBe(20);
});

it('are of a pause only if an operator made it', () => {
  const pause = { reason: '', by: '', since: NOW, until: NOW };
  const pauses = [
    { ...pause, taskType: 'realname' as const, source: 'operator' as const },
    { ...pause, taskType: 'package' as const, source: 'gateway' as const },
  ];
  const conditions = conditionsOf({ pauses });
  expect(conditions.realname.pausedByOperator).toBe(true);
  expect(conditions.package.pausedByOperator).toBe(false);
});
