// `cardpoll alerts`: fired alerts and the actions on them: history, ack, redeliver, silences that suppress notifications for a
// time, and a test of a webhook before any alert fires. The other files of this folder have the subcommands about rules.
import type { ApiClient } from '../../../api/client/client.ts';
import { duration, integer, oneOf, text } from '../../../config/kinds.ts';
import { ALERT_STATES, RULE_TYPES } from '../../../domain/alerts/alert-rule.ts';
import { SILENCE_SECONDS_BOUNDS } from '../../../domain/alerts/alert-silence.ts';
import { ALERT_ID_BOUNDS, RECORD_ID_BOUNDS } from '../../../domain/page.ts';
import { plainText } from '../../../domain/plain-text.ts';
import { TASK_TYPES } from '../../../domain/task-type.ts';
import { span } from '../../../domain/words.ts';
import { CardpollError } from '../../../platform/errors.ts';
import { EXIT_NEGATIVE, EXIT_OK } from '../../../platform/exit-codes.ts';
import type { AlertReceiverBody, SilenceBody, WebhookTrialBody } from '../../../resources/alerts.ts';
import { alertColumns } from '../../../terminal/reports/alert-tables.ts';
import { fieldList, listTable, ofGone, ofOne } from '../../../terminal/table.ts';
import { ask, pageOptions, showAnswer, showList, showPages, showUnlessOver, unlessOver } from '../../ask.ts';
import { type ArgumentSpec, type CommandContext, type CommandSpec, defineCommand } from '../../command.ts';
import { findAlertRule } from '../../named.ts';
import { printAnswer } from '../../output/print.ts';
import { PAST_TIME, pastRange } from '../../past-time.ts';
import { RULE, rules, show } from './alert-rules.ts';
import { recommended } from './alerts-recommended.ts';

const firing = defineCommand({
  name: 'firing',
  summary: 'Show the alerts that are firing',
  isDefault: true,
  examples: [
    'cardpoll alerts  # what is wrong now, and who handles it',
    'cardpoll alerts firing --page-size 100  # more lines',
    'cardpoll alerts firing --all -o jsonl  # every firing alert, for programs',
  ],
  options: pageOptions(20),
  run: (context, { options }) => showAlerts(context, options, { state: 'firing' }, 'no alert is firing'),
});

const history = defineCommand({
  name: 'history',
  summary: 'Show fired alerts, newest first, and the state of their notifications',
  examples: [
    'cardpoll alerts history  # the latest 20',
    'cardpoll alerts history --state firing  # alerts that are firing',
    'cardpoll alerts history --since 8h  # alerts that fired in the last eight hours',
    'cardpoll alerts history --rule-id 3 --page 2  # alerts of one rule, second page',
  ],
  options: [
    {
      flags: '--since <time>',
      doc: 'fired since: 2h (two hours ago), 02:00, today, yesterday, or a time',
      kind: PAST_TIME,
    },
    { flags: '--until <time>', doc: 'fired before this time', kind: PAST_TIME },
    {
      flags: '--rule-id <id>',
      doc: 'only alerts of this rule; it may be deleted',
      kind: integer(RECORD_ID_BOUNDS),
    },
    { flags: '--state <state>', doc: ALERT_STATES.join(', '), kind: oneOf(ALERT_STATES) },
    ...pageOptions(20),
  ],
  run: async (context, { options }) => {
    const { ruleId, state } = options;
    const { since, until, said } = await pastRange(context, options);
    const empty =
      ruleId !== undefined || state !== undefined || said !== null
        ? 'no alert matches: cardpoll alerts history shows all'
        : 'no alert has fired yet; to see the rules: cardpoll alerts rules';
    return showAlerts(context, options, { rule_id: ruleId, state, since, until }, empty, said);
  },
});

function showAlerts(
  context: CommandContext,
  options: Parameters<typeof showPages>[1],
  filter: Parameters<ApiClient['alertHistory']>[0],
  empty: string,
  heading: string | null = null,
): Promise<number> {
  return showPages(context, options, {
    label: 'reading alerts',
    read: (client, page, pageSize) => client.alertHistory(filter, page, pageSize),
    keyOf: ({ id }) => id,
    table: listTable(alertColumns),
    noun: 'alerts',
    heading,
    empty,
  });
}

const ALERT = {
  name: '<alert_id>',
  doc: 'number of the alert, from `cardpoll alerts history`',
  kind: integer(ALERT_ID_BOUNDS),
} as const satisfies ArgumentSpec;

const asTable = ofOne(listTable(alertColumns));

const acknowledge = defineCommand({
  name: 'ack',
  summary: 'Acknowledge a firing alert, so that others see who handles it',
  examples: [
    'cardpoll alerts ack 12  # the history shows who acknowledged it',
    'cardpoll alerts ack 12 --reason "restarting the gateway"  # with a reason',
    'cardpoll alerts history --state firing  # firing alerts, and who acknowledged them',
  ],
  arguments: [ALERT],
  options: [{ flags: '--reason <text>', doc: 'shown with the alert', kind: text('reason'), default: '' }],
  run: (context, { args: [id], options: { reason } }) =>
    showUnlessOver(context, 'acknowledging', (client) => client.acknowledgeAlert(id, reason), asTable),
});

const redeliver = defineCommand({
  name: 'redeliver',
  summary: "Retry an alert's failed notifications now",
  examples: [
    'cardpoll alerts redeliver 12  # retries them now',
    'cardpoll alerts history  # shows the result',
    'cardpoll alerts test 3  # check that the receiver of rule 3 answers',
  ],
  arguments: [ALERT],
  run: (context, { args: [id] }) =>
    showUnlessOver(context, 'asking the leader', (client) => client.redeliverAlert(id), asTable),
});

const test = defineCommand({
  name: 'test',
  summary: 'Send a test webhook for a rule, and show the answer of the receiver',
  examples: [
    'cardpoll alerts test 3  # exit code 1 if it is not delivered',
    'cardpoll alerts test "Queue backlog: realname"  # by name',
    'cardpoll alerts test 3 -o json  # for programs',
  ],
  arguments: [RULE],
  run: (context, { args: [given] }) => unlessOver(context, tryWebhook(context, given)),
});

async function tryWebhook(context: CommandContext, given: string): Promise<number> {
  const { id } = await findAlertRule(context, given);
  const answer = await ask(context, 'calling the webhook', (client) => client.testAlertRule(id));
  await printAnswer(context, answer, trialFields);
  return answer.body.delivered ? EXIT_OK : EXIT_NEGATIVE;
}

const trialFields = fieldList<WebhookTrialBody>(({ delivered, status, duration_ms, ...trial }, style) => {
  const said = (text: string | null) => style.text(text === null ? null : plainText(text));
  return [
    ['delivered', delivered ? style.text('yes', 'green') : style.text('no', 'red')],
    ['because', said(trial.error ?? trial.taken)],
    ['sent', said(trial.sent)],
    ['status', style.text(status)],
    ['answer', said(trial.answer)],
    ['took', style.text(`${duration_ms} ms`)],
  ];
});

const receivers = defineCommand({
  name: 'receivers',
  summary: 'Show the receivers that rules may name, and what each needs',
  examples: [
    'cardpoll alerts receivers  # shipped and configured ones',
    'cardpoll alerts rules update 3 --webhook-template slack --webhook-url URL  # name one',
    'cardpoll alerts test 3  # what it answers',
  ],
  run: (context) =>
    showList(context, 'reading the receivers', (client) => client.alertReceivers(), {
      table: receiverTable,
      empty: 'there are no receivers',
    }),
});

const receiverTable = listTable<AlertReceiverBody>((style) => [
  { header: 'NAME', cell: (row) => style.text(row.name) },
  { header: 'FROM', cell: (row) => style.text(row.from), drop: 1 },
  { header: 'URL', cell: (row) => style.text(row.url ?? 'of the rule'), least: 11 },
  { header: 'SECRETS', cell: (row) => style.text(secretsText(row)) },
  { header: 'WHAT', cell: (row) => style.text(row.description), least: 12, drop: 2 },
]);

function secretsText({ secrets, missing, rule_secret, signs }: AlertReceiverBody): string {
  if (secrets.length === 0) return signs ? 'of the rule, to sign' : '';
  if (missing.length === 0) return 'configured';
  return rule_secret ? `${missing.join(', ')} (of the rule)` : `${missing.join(', ')} (to configure)`;
}

const DEFAULT_SILENCE_SECONDS = 3_600;
const SILENCE_EXAMPLES = [
  'cardpoll alerts silence 3 --for 2h --reason "import runs"  # one rule, by number or name',
  'cardpoll alerts silence --type avg_duration --for 30m  # every rule of a type',
  'cardpoll alerts silences  # active silences',
];

const silence = defineCommand({
  name: 'silence',
  summary: 'Suppress notifications for a time; alerts stay in the history',
  examples: SILENCE_EXAMPLES,
  arguments: [{ ...RULE, name: '[rule]' }],
  options: [
    { flags: '--type <rule_type>', doc: 'every rule of this type', kind: oneOf(RULE_TYPES) },
    { flags: '--task <task_type>', doc: 'every rule of this task type', kind: oneOf(TASK_TYPES) },
    {
      flags: '--for <duration>',
      doc: `how long: 90s, 10m, 2h (default: ${span(DEFAULT_SILENCE_SECONDS)})`,
      kind: duration('s', SILENCE_SECONDS_BOUNDS),
      default: DEFAULT_SILENCE_SECONDS,
    },
    { flags: '--reason <text>', doc: 'shown with the silence', kind: text('reason'), default: '' },
  ],
  run: async (context, { args: [given], options: { type, task, for: seconds, reason } }) => {
    if (given === undefined && type === undefined && task === undefined) {
      throw new CardpollError(
        'usage',
        'nothing_to_silence',
        'nothing to silence: give a rule, --type or --task',
      );
    }
    const order = {
      ...(given === undefined ? {} : { rule_id: (await findAlertRule(context, given)).id }),
      ...(type === undefined ? {} : { rule_type: type }),
      ...(task === undefined ? {} : { task_type: task }),
      ...{ seconds, reason },
    };
    return showAnswer(context, 'silencing', (client) => client.createSilence(order), ofOne(silenceTable));
  },
});

const silences = defineCommand({
  name: 'silences',
  summary: 'Show active silences',
  examples: SILENCE_EXAMPLES,
  run: (context) =>
    showList(context, 'reading the silences', (client) => client.silences(), {
      table: silenceTable,
      empty: 'nothing is silenced: cardpoll alerts silence --help',
    }),
});

const unsilence = defineCommand({
  name: 'unsilence',
  summary: 'End a silence; alerts still firing are sent now',
  examples: [
    'cardpoll alerts unsilence 5  # number from `cardpoll alerts silences`',
    'cardpoll alerts silences  # active silences',
    'cardpoll alerts history --state firing  # firing alerts',
  ],
  arguments: [{ name: '<silence_id>', doc: 'number of the silence', kind: integer(RECORD_ID_BOUNDS) }],
  run: (context, { args: [id] }) =>
    showAnswer(
      context,
      'ending the silence',
      (client) => client.deleteSilence(id),
      ofGone(`silence ${id} has ended`, silenceTable),
    ),
});

const silenceTable = listTable<SilenceBody>((style) => [
  { header: 'ID', cell: (row) => style.id(row.id) },
  { header: 'RULE', cell: (row) => style.id(row.rule_id) },
  { header: 'TYPE', cell: (row) => style.text(row.rule_type), drop: 4 },
  { header: 'TASK', cell: (row) => style.text(row.task_type), drop: 5 },
  { header: 'BY', cell: (row) => style.text(row.by), least: 8, drop: 2 },
  { header: 'SINCE', cell: (row) => style.time(row.since), drop: 1 },
  { header: 'UNTIL', cell: (row) => style.time(row.until) },
  { header: 'REASON', cell: (row) => style.text(row.reason), least: 12, drop: 3 },
]);

export const alerts: CommandSpec = {
  name: 'alerts',
  summary: 'Manage alert rules, fired alerts, silences and notifications',
  examples: [
    'cardpoll alerts rules  # all alert rules',
    'cardpoll alerts history  # alerts that fired lately',
    'cardpoll alerts recommended --apply  # create the recommended rules',
  ],
  subcommands: [
    ...[firing, rules, show, history, acknowledge, silence, silences, unsilence],
    ...[test, receivers, redeliver, recommended],
  ],
};
