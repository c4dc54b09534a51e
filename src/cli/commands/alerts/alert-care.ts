// `cardpoll alerts ack | redeliver | test`: handling a fired alert, and testing a webhook before any alert fires.
import type { AlertBody, WebhookTrialBody } from '../../../api/client/client-bodies.ts';
import { integer, text } from '../../../config/kinds.ts';
import { ALERT_ID_BOUNDS } from '../../../domain/page.ts';
import { ask, conflictAsNegative } from '../../ask.ts';
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
  summary: 'Acknowledge a firing alert, so that others see who handles it',
  examples: [
    ['cardpoll alerts ack 12', 'the history shows who acknowledged it'],
    ['cardpoll alerts ack 12 --reason "restarting the gateway"', 'with a reason'],
    ['cardpoll alerts history --state firing', 'firing alerts, and who acknowledged them'],
  ],
  arguments: [ALERT],
  options: [{ flags: '--reason <text>', doc: 'shown with the alert', kind: text('reason'), default: '' }],
  run: async (context, { args: [id], options: { reason } }) => {
    try {
      const answer = await ask(context, 'acknowledging', (client) => client.acknowledgeAlert(id, reason));
      await printAnswer(context, answer, asTable);
      return EXIT_OK;
    } catch (error) {
      return conflictAsNegative(context, error);
    }
  },
});

export const redeliver = defineCommand<[number], unknown>({
  name: 'redeliver',
  summary: "Retry an alert's failed notifications now",
  examples: [
    ['cardpoll alerts redeliver 12', 'retries them now'],
    ['cardpoll alerts history', 'shows the result'],
    ['cardpoll alerts test 3', 'check that the receiver of rule 3 answers'],
  ],
  arguments: [ALERT],
  run: async (context, { args: [id] }) => {
    try {
      const answer = await ask(context, 'asking the leader', (client) => client.redeliverAlert(id));
      await printAnswer(context, answer, asTable);
      return EXIT_OK;
    } catch (error) {
      return conflictAsNegative(context, error);
    }
  },
});

export const test = defineCommand<[string], unknown>({
  name: 'test',
  summary: 'Send a test webhook for a rule, and show the answer of the receiver',
  examples: [
    ['cardpoll alerts test 3', 'exit code 1 if it is not delivered'],
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
      return conflictAsNegative(context, error);
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
