// What requests about alert rules and alerts may say. Used by routes/polling-alerts.ts. What needs more than one field
// to be judged (threshold by rule type, webhook_url by channels) is checked in operations/alerts/alerts.ts.
import { z } from 'zod';
import {
  ALERT_STATES,
  COMPARISONS,
  COOLDOWN_SECONDS_BOUNDS,
  NOTIFY_CHANNELS,
  type NotifyChannel,
  RULE_TYPES,
} from '../../domain/alerts/alert-rule.ts';
import { WEBHOOK_SECRET_FORM } from '../../domain/alerts/webhook.ts';
import { camelKeys } from '../../platform/snake-keys.ts';
import { body, idOf, oneOf, reason, requiredOr, taskType, wholeNumber } from './fields.ts';

const MAX_CHANNELS = 10;
const channelsError = `must be a list of channels: ${NOTIFY_CHANNELS.join(', ')}`;
const isChannel = (value: unknown): value is NotifyChannel =>
  NOTIFY_CHANNELS.includes(value as NotifyChannel);

// One problem for the list as a whole: clients look for the field, not for a place in it.
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
  is_enabled: z.boolean({ error: requiredOr('must be true or false') }),
  notify_channels: notifyChannels,
};
const extras = {
  webhook_url: z.string({ error: 'must be a URL or null' }).nullable().optional(),
  webhook_secret: z
    .string({ error: `must be ${WEBHOOK_SECRET_FORM}, or null` })
    .nullable()
    .optional()
    .meta({ writeOnly: true }),
  webhook_grouped: z.boolean({ error: 'must be true or false' }).optional(),
  cooldown_seconds: wholeNumber(COOLDOWN_SECONDS_BOUNDS).optional(),
};

export const newAlertRule = body({ ...fields, ...extras }).transform(camelKeys);

export const rulePatch = body({ ...z.object(fields).partial().shape, ...extras })
  .refine((patch) => Object.values(patch).some((value) => value !== undefined), {
    error: 'must name at least one field to change',
  })
  .transform(camelKeys);

/** Who is at it says why, or how. */
export const acknowledgement = body({ reason });

export const ruleId = idOf('an alert rule');

export const alertState = oneOf(ALERT_STATES);
