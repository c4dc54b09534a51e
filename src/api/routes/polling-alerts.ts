// /api/admin/polling-alert-rules; their alerts, /api/admin/polling-alert-history with acknowledgement and redelivery (operations
// interface, sections 2.3, 2.4 and 4); and /api/admin/polling-alert-silences, which suppress notifications for a time. PUT
// changes the given fields; omitted fields keep their values. The operations check rules over several fields (threshold by rule
// type, webhook_url by channels; the scope and the end of a silence).
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  ALERT_STATES,
  COMPARISONS,
  COOLDOWN_SECONDS_BOUNDS,
  NOTIFY_CHANNELS,
  type NotifyChannel,
  RULE_TYPES,
} from '../../domain/alerts/alert-rule.ts';
import { SILENCE_SECONDS_BOUNDS } from '../../domain/alerts/alert-silence.ts';
import { receiverOf, WEBHOOK_SECRET_FORM } from '../../domain/alerts/webhook.ts';
import { RECORD_ID_BOUNDS } from '../../domain/page.ts';
import { type AlertOperations, alertRuleVersion } from '../../operations/alerts/alerts.ts';
import type { AlertHistoryOperations, SilenceOperations } from '../../operations/alerts/on-call.ts';
import {
  type AlertRuleReport,
  alertReport,
  alertRuleReport,
  receiverReport,
  silenceReport,
  webhookTrialReport,
} from '../../resources/alerts.ts';
import { ENDPOINTS } from '../../resources/endpoints.ts';
import { expectedVersion, ifMatchHeader } from '../etag.ts';
import { answersOf, itemsOf, onPage, pageOf, pageQuery, type Serve } from '../schemas/answers.ts';
import {
  body,
  idOf,
  instant,
  oneOf,
  reason,
  requiredOr,
  taskType,
  wholeNumber,
  yesOrNo,
} from '../schemas/fields.ts';

const MAX_CHANNELS = 10;
const channelsError = `must be a list of channels: ${NOTIFY_CHANNELS.join(', ')}`;
const isChannel = (value: unknown): value is NotifyChannel =>
  NOTIFY_CHANNELS.includes(value as NotifyChannel);

// One problem for the whole list: clients look for the field, not for a position in it.
const notifyChannels = z
  .array(z.unknown(), { error: requiredOr(channelsError) })
  .max(MAX_CHANNELS, { error: channelsError })
  .refine((list) => list.every(isChannel), { error: channelsError })
  .meta({ items: { type: 'string', enum: [...NOTIFY_CHANNELS] } })
  .transform((list) => list.filter(isChannel));

const fields = {
  name: z.string({ error: requiredOr('must be text') }),
  rule_type: oneOf(RULE_TYPES),
  task_type: taskType,
  comparison: oneOf(COMPARISONS),
  threshold: z.number({ error: requiredOr('must be a number') }),
  is_enabled: yesOrNo,
  notify_channels: notifyChannels,
};
// The configuration defines the receivers, so the operation checks the name.
const receiverName = z
  .string({ error: 'must be the name of a receiver, standard or null' })
  .nullable()
  .optional();
const extras = {
  webhook_url: z.string({ error: 'must be a URL or null' }).nullable().optional(),
  webhook_secret: z
    .string({ error: `must be ${WEBHOOK_SECRET_FORM}, the secret of a receiver, or null` })
    .nullable()
    .optional()
    .meta({ writeOnly: true }),
  webhook_format: receiverName,
  webhook_template: receiverName.meta({ description: 'webhook_format by another name' }),
  webhook_grouped: yesOrNo.optional(),
  cooldown_seconds: wholeNumber(COOLDOWN_SECONDS_BOUNDS).optional(),
};

const newAlertRule = body({ ...fields, ...extras });

const rulePatch = body({ ...z.object(fields).partial().shape, ...extras }).refine(
  (patch) => Object.values(patch).some((value) => value !== undefined),
  { error: 'must name at least one field to change' },
);

const ruleId = idOf('an alert rule');

const answers = answersOf('polling-alerts');
const params = z.object({ id: ruleId });

export function pollingAlertRoutes(serve: Serve, alerts: AlertOperations): void {
  serve(
    ENDPOINTS.alertRules,
    answers('List alert rules', pageOf(alertRuleReport), { querystring: pageQuery }),
    async (request) => {
      const { query } = request;
      const { items, total } = await alerts.list(query);
      return onPage({ items: items.map((rule) => readableBy(request, rule)), total }, query);
    },
  );
  serve(
    ENDPOINTS.createAlertRule,
    answers('Create an alert rule', alertRuleReport, { body: newAlertRule }, { status: 201 }),
    ({ actor, body }) => alerts.create(actor, body),
  );
  serve(
    ENDPOINTS.alertRule,
    answers('Show an alert rule', alertRuleReport, { params }, { versionOf: alertRuleVersion }),
    async (request) => readableBy(request, await alerts.show(request.params.id)),
  );
  serve(
    ENDPOINTS.updateAlertRule,
    answers(
      'Change an alert rule; fields left out stay as they are',
      alertRuleReport,
      { params, headers: ifMatchHeader, body: rulePatch },
      { versionOf: alertRuleVersion },
    ),
    ({ actor, params, body, headers }) => alerts.update(actor, params.id, body, expectedVersion(headers)),
  );
  serve(
    ENDPOINTS.deleteAlertRule,
    answers(
      'Delete an alert rule; its alerts stay in the history',
      z.null(),
      { params },
      { status: 204, adminOnly: true },
    ),
    async ({ actor, params }) => {
      await alerts.remove(actor, params.id);
      return null;
    },
  );
  serve(
    ENDPOINTS.testAlertRule,
    answers(
      'Send a test webhook for an alert rule, and return the result',
      webhookTrialReport,
      { params },
      { takesLong: true }, // as long as the receiver
    ),
    ({ actor, params }) => alerts.test(actor, params.id),
  );
}

export function pollingAlertReceiverRoutes(serve: Serve, alerts: AlertOperations): void {
  serve(
    ENDPOINTS.alertReceivers,
    answers('List what receivers rules may name', itemsOf(receiverReport)),
    async () => ({
      items: alerts.receivers(),
    }),
  );
}

/** Path and query of a webhook URL often contain the receiver's secret, so viewers get neither. */
function readableBy({ actor }: FastifyRequest, rule: AlertRuleReport): AlertRuleReport {
  const { webhookUrl } = rule;
  if (webhookUrl === null || actor.role !== 'viewer') return rule;
  const receiver = receiverOf(webhookUrl);
  return { ...rule, webhookUrl: receiver === null ? '…' : `${receiver}/…` };
}

const alertParams = z.object({ id: idOf('an alert', 16) });

export function pollingAlertHistoryRoutes(serve: Serve, alerts: AlertHistoryOperations): void {
  serve(
    ENDPOINTS.alertHistory,
    answers('List fired alerts, newest first', pageOf(alertReport), {
      querystring: pageQuery.extend({
        rule_id: ruleId.optional(),
        state: oneOf(ALERT_STATES).optional(),
        since: instant.optional().describe('Fired at this time or later'),
        until: instant.optional().describe('Fired before this time'),
      }),
    }),
    async ({ query }) => {
      const { ruleId = null, state = null, since: sinceMs = null, until: untilMs = null } = query;
      return onPage(await alerts.list({ ruleId, state, sinceMs, untilMs }, query), query);
    },
  );
  serve(
    ENDPOINTS.acknowledgeAlert,
    {
      ...answers('Acknowledge a firing alert; the first acknowledgement wins', alertReport, {
        params: alertParams,
        body: body({ reason }),
      }),
      // The reason is optional.
      preValidation: async (request) => {
        if (request.body === undefined) request.body = { reason: '' };
      },
    },
    ({ actor, params: { id }, body }) => alerts.acknowledge(actor, id, body.reason),
  );
  serve(
    ENDPOINTS.redeliverAlert,
    answers(
      "Retry an alert's failed notifications now",
      alertReport,
      { params: alertParams },
      { status: 202 },
    ),
    ({ actor, params: { id } }) => alerts.redeliver(actor, id),
  );
}

// The operation checks that a silence has a scope, and either a duration or an end.
const untilError = 'must be a time like 2026-11-22T08:00:00Z';

const newSilence = body({
  rule_id: wholeNumber(RECORD_ID_BOUNDS).nullable().default(null),
  rule_type: oneOf(RULE_TYPES).nullable().default(null),
  task_type: taskType.nullable().default(null),
  seconds: wholeNumber(SILENCE_SECONDS_BOUNDS).nullable().default(null),
  until: z.iso.datetime({ offset: true, error: untilError }).nullable().default(null),
  reason,
});

export function pollingAlertSilenceRoutes(serve: Serve, silences: SilenceOperations): void {
  serve(ENDPOINTS.silences, answers('List the current silences', itemsOf(silenceReport)), async () => ({
    items: await silences.list(),
  }));
  serve(
    ENDPOINTS.createSilence,
    answers(
      'Silence the alerts of a rule, a rule type or a task type for a time',
      silenceReport,
      { body: newSilence },
      { status: 201 },
    ),
    async ({ actor, body }) => {
      const until = body.until === null ? null : new Date(body.until);
      return silences.create(actor, { ...body, until });
    },
  );
  serve(
    ENDPOINTS.deleteSilence,
    answers('End a silence; returns the ended one', silenceReport, {
      params: z.object({ id: idOf('a silence') }),
    }),
    ({ actor, params }) => silences.remove(actor, params.id),
  );
}
