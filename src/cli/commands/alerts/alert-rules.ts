// `cardpoll alerts rules`: list, show, create, update and delete alert rules.
import { duration, fraction, oneOf, text } from '../../../config/kinds.ts';
import {
  COMPARISONS,
  COOLDOWN_SECONDS_BOUNDS,
  DEFAULT_COOLDOWN_SECONDS,
  RULE_TYPE_FACTS,
  RULE_TYPES,
  WEBHOOK_GROUP_MS,
} from '../../../domain/alerts/alert-rule.ts';
import { PAGE_SIZE_BOUNDS } from '../../../domain/page.ts';
import { TASK_TYPES } from '../../../domain/task-type.ts';
import { span } from '../../../domain/words.ts';
import { CardpollError } from '../../../platform/errors.ts';
import { EXIT_OK } from '../../../platform/exit-codes.ts';
import type { AlertRuleBody, AlertRuleRequest } from '../../../resources/alerts.ts';
import { conditionText, ruleFields, ruleTable } from '../../../terminal/reports/alert-tables.ts';
import { ask, pageOptions, showAnswer, showPages } from '../../ask.ts';
import {
  type ArgumentSpec,
  type CommandSpec,
  defineCommand,
  type OptionSpec,
  type OptionsOf,
} from '../../command.ts';
import { CONFIRM_OPTIONS, confirm } from '../../confirm.ts';
import { findAlertRule, namesIn } from '../../named.ts';
import { type Change, printAnswer, printChange } from '../../output/print.ts';
import { readSecretFile } from '../../secret-file.ts';

export const RULE = {
  name: '<rule>',
  doc: 'number or name of the alert rule, from `cardpoll alerts rules`',
  kind: text('number or name'),
  names: namesIn(
    (client) => client.alertRules(1, PAGE_SIZE_BOUNDS.max),
    ({ name }) => name,
  ),
} as const satisfies ArgumentSpec;

export const SECRET_FILE = {
  flags: '--webhook-secret-file <path>',
  doc: 'file with the webhook signing key (two keys, comma separated, during rotation), or with the secret of a receiver',
  kind: text('path'),
} as const satisfies OptionSpec;

export const TEMPLATE = {
  flags: '--webhook-template <name>',
  doc: 'receiver, from `cardpoll alerts receivers`, or standard',
  kind: text('name'),
} as const satisfies OptionSpec;

function ruleOptions<const Required extends boolean>(required: Required) {
  const recommended = required ? ' (default: the recommended one)' : '';
  return [
    { flags: '--name <text>', doc: 'name of the rule', kind: text('name'), required },
    { flags: '--rule-type <type>', doc: RULE_TYPES.join(', '), kind: oneOf(RULE_TYPES), required },
    { flags: '--task <task_type>', doc: TASK_TYPES.join(', '), kind: oneOf(TASK_TYPES), required },
    { flags: '--comparison <operator>', doc: `">" or "<"${recommended}`, kind: oneOf(COMPARISONS) },
    {
      flags: '--threshold <n>',
      doc: `cards, percent, milliseconds, seconds, stops or level${recommended}`,
      kind: fraction({ min: 0, max: Number.MAX_SAFE_INTEGER }),
    },
    { flags: '--webhook-url <url>', doc: 'called when an alert fires and resolves', kind: text('URL') },
    SECRET_FILE,
    {
      ...TEMPLATE,
      doc: `${TEMPLATE.doc}${required ? ' (default: by the host of the URL, or standard)' : ''}`,
    },
    {
      flags: '--webhook-format <name>',
      doc: 'the same as --webhook-template',
      kind: text('name'),
      conflicts: ['webhookTemplate'],
    },
    {
      flags: '--webhook-grouped <yes|no>',
      doc: `one message for the alerts of all such rules within ${WEBHOOK_GROUP_MS / 1_000} s${required ? ' (default: no)' : ''}`,
      kind: oneOf(['yes', 'no']),
    },
    {
      flags: '--cooldown-seconds <n>',
      doc: `time after firing before it may fire again${required ? ` (default: ${DEFAULT_COOLDOWN_SECONDS} s)` : ''}`,
      kind: duration('s', COOLDOWN_SECONDS_BOUNDS),
    },
  ] as const;
}

type RuleOptions = OptionsOf<ReturnType<typeof ruleOptions<boolean>>>;

const list = defineCommand({
  name: 'list',
  summary: 'Show all alert rules',
  isDefault: true,
  options: pageOptions(PAGE_SIZE_BOUNDS.max),
  run: (context, { options }) =>
    showPages(context, options, {
      label: 'reading alert rules',
      read: (client, page, pageSize) => client.alertRules(page, pageSize),
      keyOf: ({ id }) => id,
      table: ruleTable,
      noun: 'rules',
      empty: 'no rules yet: cardpoll alerts recommended --apply',
    }),
});

export const show = defineCommand({
  name: 'show',
  summary: 'Show one rule in full',
  arguments: [RULE],
  run: async (context, { args: [given] }) => {
    const { id } = await findAlertRule(context, given);
    return showAnswer(context, 'reading the alert rule', (client) => client.alertRule(id), ruleFields);
  },
});

const create = defineCommand({
  name: 'create',
  summary: 'Create an alert rule',
  examples: [
    'cardpoll alerts rules create --name Backlog --rule-type queue_backlog --task realname  # with the recommended threshold',
    'cardpoll alerts rules create --name Slow --rule-type avg_duration --task package --threshold 800  # with a threshold in milliseconds',
    'cardpoll alerts rules create --name Ok --rule-type success_rate --task package --webhook-url https://h.example  # with a webhook',
  ],
  options: [...ruleOptions(true), { flags: '--disabled', doc: 'create it disabled' }],
  run: async (context, { options }) => {
    const rule = {
      ...RULE_TYPE_FACTS[options.ruleType].usual,
      notify_channels: [],
      ...requestOf(options),
      name: options.name,
      rule_type: options.ruleType,
      task_type: options.task,
      is_enabled: options.disabled !== true,
    };
    return showAnswer(
      context,
      'creating the alert rule',
      (client) => client.createAlertRule(rule),
      ruleFields,
    );
  },
});

const UPDATE_OPTIONS = [
  ...ruleOptions(false),
  { flags: '--enable', doc: 'enable the rule' },
  { flags: '--disable', doc: 'disable the rule', conflicts: ['enable'] },
  {
    flags: '--without-webhook',
    doc: 'remove the webhook',
    conflicts: ['webhookUrl', 'webhookTemplate', 'webhookFormat'],
  },
  {
    flags: '--without-webhook-secret',
    doc: 'remove the signing key, and use the default key of the daemon',
    conflicts: ['webhookSecretFile'],
  },
] as const satisfies readonly OptionSpec[];

const update = defineCommand({
  name: 'update',
  summary: 'Change the given fields of an alert rule',
  examples: [
    'cardpoll alerts rules update 3 --threshold 80000  # another threshold',
    'cardpoll alerts rules update 3 --disable  # disable it',
    'cardpoll alerts rules update 3 --without-webhook  # remove its webhook',
  ],
  arguments: [RULE],
  options: UPDATE_OPTIONS,
  run: async (context, { args: [given], options }) => {
    const patch = { ...requestOf(options), ...switchesOf(options) };
    if (Object.keys(patch).length === 0) {
      throw new CardpollError(
        'usage',
        'nothing_to_change',
        'nothing to change: give at least one option, for example --threshold 80000',
      );
    }
    const before = await findAlertRule(context, given);
    const answer = await ask(context, 'changing the alert rule', (client) =>
      client.updateAlertRule(before.id, patch),
    );
    const what = `alert rule ${before.id} "${before.name}"`;
    printChange(context.io, what, changesBetween(before, answer.body), null);
    return printAnswer(context, answer, ruleFields);
  },
});

const remove = defineCommand({
  name: 'delete',
  summary: 'Delete an alert rule; its alerts stay in the history',
  examples: [
    'cardpoll alerts rules delete 3  # asks first',
    'cardpoll alerts rules delete 3 --dry-run  # shows what would happen',
    'cardpoll alerts rules delete 3 --yes  # for scripts',
  ],
  arguments: [RULE],
  options: CONFIRM_OPTIONS,
  run: async (context, { args: [given], options }) => {
    const rule = await findAlertRule(context, given);
    const { id } = rule;
    await confirm(context, deletionPlan(rule), options);
    await ask(context, 'deleting the alert rule', (client) => client.deleteAlertRule(id));
    context.io.stderr.write(`alert rule ${id} is deleted\n`);
    return EXIT_OK;
  },
});

function changesBetween(before: AlertRuleBody, after: AlertRuleBody): Change[] {
  return [
    ['name', before.name, after.name],
    ['task', before.task_type, after.task_type],
    ['fires when', conditionText(before), conditionText(after)],
    ['cooldown', span(before.cooldown_seconds), span(after.cooldown_seconds)],
    ['notifies', before.notify_channels.join(',') || null, after.notify_channels.join(',') || null],
    ['webhook URL', before.webhook_url, after.webhook_url],
    ['webhook template', before.webhook_format, after.webhook_format],
    ['webhooks grouped', before.webhook_grouped, after.webhook_grouped],
    ['own webhook secret', before.has_webhook_secret, after.has_webhook_secret],
    ['enabled', before.is_enabled, after.is_enabled],
  ];
}

function deletionPlan(rule: AlertRuleBody): string[] {
  return [
    `Delete alert rule ${rule.id} "${rule.name}": ${rule.task_type} ${conditionText(rule)}.`,
    'Its alerts stay in the history; a firing alert is resolved.',
  ];
}

function requestOf(options: RuleOptions): Partial<AlertRuleRequest> {
  const { name, ruleType, task, comparison, threshold, webhookGrouped, cooldownSeconds } = options;
  return {
    ...(name === undefined ? {} : { name }),
    ...(ruleType === undefined ? {} : { rule_type: ruleType }),
    ...(task === undefined ? {} : { task_type: task }),
    ...(comparison === undefined ? {} : { comparison }),
    ...(threshold === undefined ? {} : { threshold }),
    ...webhookOf({ ...options, webhookTemplate: options.webhookTemplate ?? options.webhookFormat }),
    ...(webhookGrouped === undefined ? {} : { webhook_grouped: webhookGrouped === 'yes' }),
    ...(cooldownSeconds === undefined ? {} : { cooldown_seconds: cooldownSeconds }),
  };
}

interface WebhookOptions {
  readonly webhookUrl?: string | undefined;
  readonly webhookTemplate?: string | undefined;
  readonly webhookSecretFile?: string | undefined;
}

/** A receiver with its own URL needs none. */
export function webhookOf({ webhookUrl, webhookTemplate, webhookSecretFile }: WebhookOptions) {
  const notifies = webhookUrl !== undefined || webhookTemplate !== undefined;
  return {
    ...(notifies ? { notify_channels: ['webhook' as const] } : {}),
    ...(webhookUrl === undefined ? {} : { webhook_url: webhookUrl }),
    ...(webhookSecretFile === undefined ? {} : { webhook_secret: readSecretFile(webhookSecretFile) }),
    ...(webhookTemplate === undefined ? {} : { webhook_template: webhookTemplate }),
  };
}

function switchesOf({
  enable,
  disable,
  withoutWebhook,
  withoutWebhookSecret,
}: OptionsOf<typeof UPDATE_OPTIONS>): Partial<AlertRuleRequest> {
  return {
    ...(enable === true ? { is_enabled: true } : {}),
    ...(disable === true ? { is_enabled: false } : {}),
    ...(withoutWebhookSecret === true ? { webhook_secret: null } : {}),
    ...(withoutWebhook === true ? { notify_channels: [], webhook_url: null } : {}),
  };
}

export const rules: CommandSpec = {
  name: 'rules',
  summary: 'Show and change the alert rules (default: list)',
  examples: [
    'cardpoll alerts rules  # all alert rules',
    'cardpoll alerts rules show 3  # one rule in full',
    'cardpoll alerts rules update 3 --threshold 80000  # change the threshold only',
  ],
  subcommands: [list, show, create, update, remove],
};
