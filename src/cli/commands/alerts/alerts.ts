// `cardpoll alerts`: fired alerts and what is done about them: history, ack, redeliver, and a test of a webhook before any
// alert fires. The subcommands about rules and silences are in the other files of this folder.
import type { WebhookTrialBody } from '../../../api/client/client-bodies.ts';
import { integer, oneOf, text } from '../../../config/kinds.ts';
import { ALERT_STATES, type AlertState } from '../../../domain/alerts/alert-rule.ts';
import { ALERT_ID_BOUNDS, RECORD_ID_BOUNDS } from '../../../domain/page.ts';
import { ask, type PageOptions, pageOptions, showPages, showUnlessOver, unlessOver } from '../../ask.ts';
import { type ArgumentSpec, type CommandContext, type CommandSpec, defineCommand } from '../../command.ts';
import { EXIT_NEGATIVE, EXIT_OK } from '../../exit-codes.ts';
import { findAlertRule } from '../../named.ts';
import { plainText } from '../../output/line.ts';
import { printAnswer } from '../../output/print.ts';
import { historyTable } from '../../output/reports/alert-tables.ts';
import { fieldList, ofOne } from '../../output/table.ts';
import { RULE, rules, show } from './alert-rules.ts';
import { silence, silences, unsilence } from './alert-silences.ts';
import { recommended } from './alerts-recommended.ts';

type HistoryOptions = PageOptions & { readonly ruleId?: number; readonly state?: AlertState };

const history = defineCommand<[], HistoryOptions>({
  name: 'history',
  summary: 'Show fired alerts, newest first, and the state of their notifications',
  examples: [
    ['cardpoll alerts history', 'the latest 20'],
    ['cardpoll alerts history --state firing', 'alerts that are firing'],
    ['cardpoll alerts history --rule-id 3 --page 2', 'alerts of one rule, second page'],
  ],
  options: [
    {
      flags: '--rule-id <id>',
      doc: 'only alerts of this rule; it may be deleted',
      kind: integer(RECORD_ID_BOUNDS),
    },
    { flags: '--state <state>', doc: ALERT_STATES.join(', '), kind: oneOf(ALERT_STATES) },
    ...pageOptions(20),
  ],
  run: (context, { options }) => {
    const { ruleId, state } = options;
    const filter = { rule_id: ruleId, state };
    return showPages(context, options, {
      label: 'reading the alert history',
      read: (client, page, pageSize) => client.alertHistory(filter, page, pageSize),
      keyOf: ({ id }) => id,
      table: historyTable,
      noun: 'alerts',
      empty: 'no alert has fired yet; to see the rules: cardpoll alerts rules',
    });
  },
});

const ALERT: ArgumentSpec = {
  name: '<alert_id>',
  doc: 'number of the alert, from `cardpoll alerts history`',
  kind: integer(ALERT_ID_BOUNDS),
};

const asTable = ofOne(historyTable);

const acknowledge = defineCommand<[number], { readonly reason: string }>({
  name: 'ack',
  summary: 'Acknowledge a firing alert, so that others see who handles it',
  examples: [
    ['cardpoll alerts ack 12', 'the history shows who acknowledged it'],
    ['cardpoll alerts ack 12 --reason "restarting the gateway"', 'with a reason'],
    ['cardpoll alerts history --state firing', 'firing alerts, and who acknowledged them'],
  ],
  arguments: [ALERT],
  options: [{ flags: '--reason <text>', doc: 'shown with the alert', kind: text('reason'), default: '' }],
  run: (context, { args: [id], options: { reason } }) =>
    showUnlessOver(context, 'acknowledging', (client) => client.acknowledgeAlert(id, reason), asTable),
});

const redeliver = defineCommand<[number], unknown>({
  name: 'redeliver',
  summary: "Retry an alert's failed notifications now",
  examples: [
    ['cardpoll alerts redeliver 12', 'retries them now'],
    ['cardpoll alerts history', 'shows the result'],
    ['cardpoll alerts test 3', 'check that the receiver of rule 3 answers'],
  ],
  arguments: [ALERT],
  run: (context, { args: [id] }) =>
    showUnlessOver(context, 'asking the leader', (client) => client.redeliverAlert(id), asTable),
});

const test = defineCommand<[string], unknown>({
  name: 'test',
  summary: 'Send a test webhook for a rule, and show the answer of the receiver',
  examples: [
    ['cardpoll alerts test 3', 'exit code 1 if it is not delivered'],
    ['cardpoll alerts test "Queue backlog: realname"', 'by name'],
    ['cardpoll alerts test 3 -o json', 'for programs'],
  ],
  arguments: [RULE],
  run: (context, { args: [given] }) => unlessOver(context, tryWebhook(context, given)),
});

async function tryWebhook(context: CommandContext, given: string): Promise<number> {
  const { id } = await ask(context, 'reading the alert rule', (client) => findAlertRule(client, given));
  const answer = await ask(context, 'calling the webhook', (client) => client.testAlertRule(id));
  await printAnswer(context, answer, trialFields);
  return answer.body.delivered ? EXIT_OK : EXIT_NEGATIVE;
}

const trialFields = fieldList<WebhookTrialBody>(({ delivered, status, error, duration_ms }, style) => [
  ['delivered', delivered ? style.text('yes', 'green') : style.text('no', 'red')],
  ['answer', style.text(status)],
  ['error', style.text(error === null ? null : plainText(error))],
  ['took', style.text(`${duration_ms} ms`)],
]);

export const alerts: CommandSpec = {
  name: 'alerts',
  summary: 'Manage alert rules, fired alerts, silences and notifications',
  examples: [
    ['cardpoll alerts rules', 'all alert rules'],
    ['cardpoll alerts history', 'alerts that fired lately'],
    ['cardpoll alerts recommended --apply', 'create the recommended rules'],
  ],
  subcommands: [
    ...[rules, show, history, acknowledge, silence, silences, unsilence],
    ...[test, redeliver, recommended],
  ],
};
