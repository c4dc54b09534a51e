// The reports of what is wrong and of the gateway. Made by health-reasons.ts and gateway-report.ts.
import { z } from 'zod';
import { type ReportOf, taskType } from '../report.ts';

export const healthReason = z.object({
  code: z.string(),
  taskType: taskType.nullable().describe('null: it concerns the whole fleet'),
  severity: z.enum(['warning', 'alert']),
  text: z.string().describe('One sentence without a full stop'),
  command: z.string().nullable().describe('The command that helps or shows more; null: there is none'),
  since: z.date().nullable().describe('Since when it holds without a gap; null: unknown, or only just now'),
});
export type HealthReason = ReportOf<typeof healthReason>;

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
