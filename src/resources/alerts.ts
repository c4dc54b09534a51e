// Alerts: the reports of rules, fired alerts, silences, receivers and the trial of a webhook, and the requests for them. Made by
// operations/alerts, served by api/routes/polling-alerts.ts. The operations check rules over several fields.
import { z } from 'zod';
import {
  type AlertRuleFields,
  type AlertState,
  COMPARISONS,
  NOTIFICATION_EVENTS,
  NOTIFICATION_STATUSES,
  NOTIFY_CHANNELS,
  RULE_TYPES,
} from '../domain/alerts/alert-rule.ts';
import type { SilenceScope } from '../domain/alerts/alert-silence.ts';
import { RESOLUTIONS } from '../domain/alerts/alert-transition.ts';
import { FAULT_KINDS } from '../domain/gateway-fault.ts';
import type { Wire } from '../platform/snake-keys.ts';
import { type Open, type ReportOf, report, type TimeQuery, taskType } from './schema.ts';

const condition = {
  ruleType: z.enum(RULE_TYPES),
  taskType,
  comparison: z.enum(COMPARISONS),
  threshold: z.number(),
};

/** An alert rule as operators read it (contract, "Fields"). */
export const alertRuleReport = report('AlertRule', {
  id: z.int(),
  name: z.string(),
  ...condition,
  isEnabled: z.boolean(),
  notifyChannels: z.array(z.enum(NOTIFY_CHANNELS)),
  webhookUrl: z.string().nullable(),
  hasWebhookSecret: z
    .boolean()
    .describe('Its webhooks are signed with a key of its own, which is never shown'),
  webhookFormat: z
    .string()
    .describe(
      'What its webhook sends: the name of a receiver, as chosen or by the host of the URL, or standard',
    ),
  webhookTemplate: z.string().nullable().describe('webhook_format, but null where it is standard'),
  webhookGrouped: z.boolean().describe('Its alerts are sent in one message with those of other such rules'),
  cooldownSeconds: z.int(),
  createdAt: z.date(),
  updatedAt: z.date(),
});
export type AlertRuleReport = ReportOf<typeof alertRuleReport>;
export type AlertRuleBody = Wire<AlertRuleReport>;

const cause = z.object({
  code: z.string().describe('A reason of health, with a section in the runbook'),
  severity: z.enum(['warning', 'alert']),
  text: z.string(),
  command: z.string().nullable(),
  kind: z.enum(FAULT_KINDS).nullish().describe('How calls fail, where they do'),
});

/** One alert, with the condition and the rule name of the moment it fired. */
export const alertReport = report('Alert', {
  id: z.int(),
  ruleId: z.int(),
  ruleName: z.string(),
  ...condition,
  value: z.number(),
  firedAt: z.date(),
  cause: cause
    .nullable()
    .describe('Its present cause, the last one when it is over; null: no reason of health says it'),
  causeSince: z.date().nullable().describe('When that cause began; null: not known'),
  earlierCauses: z.array(cause).describe('The causes that it had before, the first one first'),
  resolvedAt: z.date().nullable().describe('null while it fires'),
  resolution: z.enum(RESOLUTIONS).nullable(),
  resolvedValue: z.number().nullable(),
  acknowledgedAt: z.date().nullable().describe('null before the first acknowledgement'),
  acknowledgedBy: z.string().nullable(),
  acknowledgedReason: z.string().nullable(),
  silenced: z.boolean().describe('While it fires: now; after that: when it was resolved'),
  notifications: z.array(
    z.object({
      channel: z.enum(NOTIFY_CHANNELS),
      event: z.enum(NOTIFICATION_EVENTS),
      status: z.enum(NOTIFICATION_STATUSES).describe('pending: not sent yet, or to be sent again'),
      attempts: z.int().describe('Begun so far'),
      lastError: z
        .string()
        .nullable()
        .describe('Of the last attempt that failed; stays when a later one is delivered'),
    }),
  ),
});
export type AlertReport = ReportOf<typeof alertReport>;
export type AlertBody = Wire<AlertReport>;

export const webhookTrialReport = report('WebhookTrial', {
  delivered: z.boolean(),
  status: z.int().nullable().describe('Of the answer; null without one'),
  error: z.string().nullable(),
  taken: z.string().nullable().describe('Why the answer counts as delivered; null: it does not'),
  sent: z.string().describe('The request, without the path of its URL and without secrets'),
  answer: z.string().nullable().describe('Its first 200 characters; null without one'),
  durationMs: z.int(),
});
export type WebhookTrialReport = ReportOf<typeof webhookTrialReport>;
export type WebhookTrialBody = Wire<WebhookTrialReport>;

export const receiverReport = report('AlertReceiver', {
  name: z.string(),
  from: z.enum(['shipped', 'configured']),
  description: z.string(),
  url: z.string().nullable().describe('Where its messages go; null: to the URL of the rule'),
  secrets: z.array(z.string()).describe('What it needs, by name'),
  missing: z.array(z.string()).describe('Secrets that the configuration does not give'),
  ruleSecret: z.boolean().describe('webhook_secret of a rule may give its secret'),
  signs: z.boolean().describe('A secret signs its messages'),
  grouped: z.boolean().describe('It takes several alerts in one message'),
});
export type ReceiverReport = ReportOf<typeof receiverReport>;
export type AlertReceiverBody = Wire<ReceiverReport>;

export const silenceReport = report('AlertSilence', {
  id: z.int(),
  ruleId: z.int().nullable(),
  ruleType: z.enum(RULE_TYPES).nullable(),
  taskType: taskType.nullable(),
  reason: z.string(),
  by: z.string(),
  since: z.date(),
  until: z.date(),
});
export type SilenceReport = ReportOf<typeof silenceReport>;
export type SilenceBody = Wire<SilenceReport>;

/** The fields of a new rule; omitted fields get defaults. */
export type NewAlertRule = Omit<
  AlertRuleFields,
  'webhookUrl' | 'webhookSecrets' | 'webhookFormat' | 'webhookGrouped' | 'cooldownSeconds'
> & {
  readonly webhookUrl?: string | null | undefined;
  /** One secret, or two with a comma during rotation; null: messages are signed with the keys of the configuration. */
  readonly webhookSecret?: string | null | undefined;
  /** null: chosen by the host of the URL. */
  readonly webhookFormat?: string | null | undefined;
  /** The same as webhookFormat. */
  readonly webhookTemplate?: string | null | undefined;
  readonly webhookGrouped?: boolean | undefined;
  readonly cooldownSeconds?: number | undefined;
};
export type AlertRuleRequest = Wire<NewAlertRule>;

export type AlertFilter = TimeQuery & Open<{ rule_id: number; state: AlertState }>;

/** The scope of a silence (at least one of three fields), and its duration or end. */
export interface SilenceFields extends SilenceScope {
  readonly seconds: number | null;
  readonly until: Date | null;
  readonly reason: string;
}
/** Silences alerts that match every given attribute for this many seconds. */
export type SilenceRequest = Partial<Wire<SilenceFields>> & Pick<Wire<SilenceFields>, 'reason'>;
