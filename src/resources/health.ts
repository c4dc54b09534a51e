// The parts of the overview that say what is wrong: reasons, the gateway, the stops in numbers. Found out by src/health, made by
// operations/stats/stats.ts. Has no endpoint of its own.
import { z } from 'zod';
import { FAULT_KINDS } from '../domain/gateway-fault.ts';
import { REASON_CODES } from '../domain/reasons.ts';
import {
  OVER_RUNNING_COUNTED,
  STOP_MODES,
  STOPS_COUNTED,
  UNCONFIRMED_STOPS_COUNTED,
} from '../domain/stops/stop.ts';
import { grouped } from '../domain/words.ts';
import type { Wire } from '../platform/snake-keys.ts';
import { type ReportOf, taskType } from './schema.ts';

export const healthReason = z.object({
  code: z.enum(REASON_CODES),
  taskType: taskType.nullable().describe('null: it concerns the whole fleet'),
  severity: z.enum(['warning', 'alert']),
  text: z.string().describe('One sentence without a full stop'),
  command: z.string().nullable().describe('The command that helps or shows more; null: there is none'),
  since: z.date().nullable().describe('Since when it holds without a gap; null: unknown, or only just now'),
  causedBy: z
    .enum(REASON_CODES)
    .nullable()
    .describe('The reason before it in the list that it follows from; null: it is a cause itself'),
  kind: z.enum(FAULT_KINDS).nullish().describe('How calls fail, where they do'),
});
export type HealthReasonBody = Wire<ReportOf<typeof healthReason>>;

const kind = z.enum(FAULT_KINDS).nullish();

const interfaceReport = z.object({
  interface: z
    .string()
    .describe('gateway: the breaker for problems of all interfaces (connecting, TLS, credentials)'),
  breaker: z.enum(['closed', 'open', 'half_open']).describe('The worst state of any live instance'),
  since: z.date().nullable().describe('Since when the first instance has held calls back; null while closed'),
  reason: z.string().nullable(),
  kind: kind.describe('How the calls fail while it is open'),
  nextProbeAt: z.date().nullable(),
  instances: z.int().describe('Live instances that hold calls back'),
});

export const gatewayReport = z.object({
  interfaces: z.array(interfaceReport),
  avgDurationMs_10s: z
    .number()
    .nullable()
    .describe('Of the polls of all task types in the last seconds; null without one'),
  successRate_10s: z.number().nullable().describe('Percent, of the same polls'),
  slow: z.boolean().describe('A reason gateway_slow exists'),
});

const count = (meaning: string) =>
  z.int().nullable().describe(`${meaning}; null while the database does not answer`);

const upTo = (most: number, meaning: string) => `${meaning}, counted up to ${grouped(most)}`;

export const stopNumbers = z.object({
  mode: z
    .enum(STOP_MODES)
    .nullable()
    .describe(
      'observe: cardpoll only records which cards it would stop; null while the database does not answer',
    ),
  doneHour: count('Stops of the whole fleet in the last hour'),
  doneDay: count('Stops in the last day'),
  budgetHour: z
    .int()
    .nullable()
    .describe('Stops that the settings allow in an hour; null: no limit, or the database does not answer'),
  budgetDay: z.int().nullable().describe('Stops that the settings allow in a day; null as for an hour'),
  fleetCards: count(
    'Cards of which these are a share: counted, of a large fleet by the walk over all cards, and estimated until the first walk has ended',
  ),
  held: count(upTo(STOPS_COUNTED, 'Stops that wait for the end of their cause, or for an operator')),
  heldForOperator: count('Held stops whose cause does not pass: an operator releases or dismisses them'),
  observed: count(upTo(STOPS_COUNTED, 'Stops that mode observe did not make')),
  released: count(upTo(STOPS_COUNTED, 'Stops that operators released and that are not done yet')),
  unconfirmed: count(
    upTo(UNCONFIRMED_STOPS_COUNTED, 'Cards not stopped although the gateway acknowledged it'),
  ),
  resumedDay: count(upTo(STOPS_COUNTED, 'Cards resumed in the last day')),
  overRunning: z
    .int()
    .nullable()
    .describe(
      `${upTo(OVER_RUNNING_COUNTED, 'Cards over their package that have run for ten minutes with no stop open')}; null while no walk over all cards has ended in this month, or the database does not answer`,
    ),
  overRunningAt: z
    .date()
    .nullable()
    .describe('When that walk ended: cards that went over their package since may be missing'),
  overRunningCards: z.array(z.int()).describe('The first ten of them'),
  stoppedWithin: z
    .int()
    .nullable()
    .describe(
      `${upTo(OVER_RUNNING_COUNTED, 'Cards that cardpoll stopped for their usage and that are within their package by now')}; null while no walk over all cards has ended in this month, or the database does not answer`,
    ),
  stoppedWithinCards: z.array(z.int()).describe('The first ten of them'),
});
