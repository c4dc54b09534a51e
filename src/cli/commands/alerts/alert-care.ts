// `cardpoll alerts ack | redeliver | test`: what an on-call does about an alert, and how to try a webhook before there is one.
import type { AlertBody, WebhookTrialBody } from '../../../api/client/client-bodies.ts';
import { integer, text } from '../../../config/kinds.ts';
import { ALERT_ID_BOUNDS } from '../../../domain/page.ts';
import { ask, saidNo } from '../../ask.ts';
import { type ArgumentSpec, defineCommand } from '../../command.ts';
import { EXIT_NEGATIVE, EXIT_OK } from '../../exit-codes.ts';
import { findAlertRule } from '../../named.ts';
import { plainText } from '../../output/line.ts';
import { printAnswer } from '../../output/print.ts';
import { historyTable } from '../../output/reports/alert-tables.ts';
import type { Style } from '../../output/style.ts';
import { renderFields } from '../../output/table.ts';
import { RULE } from './alert-rules.ts';

const ALERT: ArgumentSpec = {
  name: '<alert_id>',
  doc: 'number of the alert, from `cardpoll alerts history`',
  kind: integer(ALERT_ID_BOUNDS),
};

const asTable = (alert: AlertBody, style: Style) => historyTable([alert], style);

export const acknowledge = defineCommand<[number], { readonly reason: string }>({
  name: 'ack',
  summary: 'Tell the others on call that you are at an alert',
  examples: [
    ['cardpoll alerts ack 12', 'the history says who is at it'],
    ['cardpoll alerts ack 12 --reason "restarting the gateway"', 'and why'],
    ['cardpoll alerts history --state firing', 'what fires, and who is at it'],
  ],
  arguments: [ALERT],
  options: [{ flags: '--reason <text>', doc: 'shown with the alert', kind: text('reason'), default: '' }],
  run: async (context, { args: [id], options: { reason } }) => {
    try {
      const answer = await ask(context, 'acknowledging', (client) => client.acknowledgeAlert(id, reason));
      await printAnswer(context, answer, asTable);
      return EXIT_OK;
    } catch (error) {
      return saidNo(context, error);
    }
  },
});

export const redeliver = defineCommand<[number], unknown>({
  name: 'redeliver',
  summary: 'Have webhooks of an alert that were given up tried once more',
  examples: [
    ['cardpoll alerts redeliver 12', 'at once'],
    ['cardpoll alerts history', 'how it went'],
    ['cardpoll alerts test 3', 'whether the receiver of rule 3 answers again'],
  ],
  arguments: [ALERT],
  run: async (context, { args: [id] }) => {
    try {
      const answer = await ask(context, 'asking the leader', (client) => client.redeliverAlert(id));
      await printAnswer(context, answer, asTable);
      return EXIT_OK;
    } catch (error) {
      return saidNo(context, error);
    }
  },
});

export const test = defineCommand<[string], unknown>({
  name: 'test',
  summary: 'Send the webhook of a rule once, now, and show what the receiver answered',
  examples: [
    ['cardpoll alerts test 3', 'ends with 1 when it was not delivered'],
    ['cardpoll alerts test "Queue backlog: realname"', 'by name'],
    ['cardpoll alerts test 3 -o json', 'for programs'],
  ],
  arguments: [RULE],
  run: async (context, { args: [given] }) => {
    const { id } = await ask(context, 'reading the alert rule', (client) => findAlertRule(client, given));
    try {
      const answer = await ask(context, 'calling the webhook', (client) => client.testAlertRule(id));
      await printAnswer(context, answer, trialFields);
      return answer.body.delivered ? EXIT_OK : EXIT_NEGATIVE;
    } catch (error) {
      return saidNo(context, error);
    }
  },
});

function trialFields({ delivered, status, error, duration_ms }: WebhookTrialBody, style: Style): string {
  return renderFields(
    [
      ['delivered', delivered ? style.text('yes', 'green') : style.text('no', 'red')],
      ['answer', style.text(status)],
      ['error', style.text(error === null ? null : plainText(error))],
      ['took', style.text(`${duration_ms} ms`)],
    ],
    style,
  );
}
