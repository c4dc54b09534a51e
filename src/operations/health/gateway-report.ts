// The state of the gateway for the whole fleet. Each instance has its own breakers and reports those that hold calls back
// with its heartbeat; this file combines them. Used by stats.ts and, through it, by health-reasons.ts. Pure.
import { z } from 'zod';
import { INTERFACE_NAMES, WHOLE_GATEWAY } from '../../domain/gateway-interface.ts';
import { TASKS, type TaskType } from '../../domain/task-type.ts';
import type { InstanceInfo } from '../../store/ports/live/coordination.ts';
import { dateOf } from '../date-of.ts';
import type { ReportOf } from '../report.ts';
import type { TaskHealthInputs } from './health-reasons.ts';

const interfaceReport = z.object({
  interface: z
    .string()
    .describe('gateway: the breaker for problems of all interfaces (connecting, TLS, credentials)'),
  breaker: z.enum(['closed', 'open', 'half_open']).describe('The worst state of any live instance'),
  since: z.date().nullable().describe('Since when the first instance has held calls back; null while closed'),
  reason: z.string().nullable(),
  nextProbeAt: z.date().nullable(),
  instances: z.int().describe('Live instances that hold calls back'),
});
export type InterfaceReport = ReportOf<typeof interfaceReport>;

export const gatewayReport = z.object({ interfaces: z.array(interfaceReport) });
export type GatewayReport = ReportOf<typeof gatewayReport>;

export function gatewayReportOf(instances: readonly Pick<InstanceInfo, 'breakers'>[]): GatewayReport {
  const all = instances.flatMap((instance) => instance.breakers);
  const names = [WHOLE_GATEWAY, ...INTERFACE_NAMES] as const;
  return { interfaces: names.map((name) => interfaceReportOf(name, all)) };
}

function interfaceReportOf(
  name: InterfaceReport['interface'],
  all: InstanceInfo['breakers'],
): InterfaceReport {
  const own = all.filter((breaker) => breaker.interface === name).sort((a, b) => a.sinceMs - b.sinceMs);
  const shown = own.find(({ state }) => state === 'open') ?? own[0];
  if (shown === undefined) {
    return { interface: name, breaker: 'closed', since: null, reason: null, nextProbeAt: null, instances: 0 };
  }
  return {
    interface: name,
    breaker: shown.state,
    since: new Date(shown.sinceMs),
    reason: shown.reason,
    nextProbeAt: dateOf(shown.nextProbeAtMs),
    instances: own.length,
  };
}

/** The breakers that hold this task type back, for the reasons of its health. */
export function breakersOf(taskType: TaskType, { interfaces }: GatewayReport): TaskHealthInputs['breakers'] {
  // Only a card over its package is stopped: a breaker of `stop` holds no task type back.
  const concerned: readonly string[] = [WHOLE_GATEWAY, TASKS[taskType].interface];
  return interfaces
    .filter((one) => one.breaker !== 'closed' && concerned.includes(one.interface))
    .map(({ interface: name, breaker, reason, instances }) => ({
      name,
      isOpen: breaker === 'open',
      reason,
      instances,
    }));
}
