// `cardpoll alerts`: rules, fired alerts, acknowledgements, silences, webhooks, and the recommended rules.
import { integer, oneOf } from '../../../config/kinds.ts';
import { ALERT_STATES, type AlertState } from '../../../domain/alerts/alert-rule.ts';
import { RECORD_ID_BOUNDS } from '../../../domain/page.ts';
import { type CommandSpec, defineCommand } from '../../command.ts';
import { type PageOptions, pageOptions } from '../../options/page-options.ts';
import { historyTable } from '../../output/reports/alert-tables.ts';
import { showPages } from '../../show.ts';
import { acknowledge, redeliver, test } from './alert-care.ts';
import { rules, show } from './alert-rules.ts';
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
    const filter = {
      ...(ruleId === undefined ? {} : { rule_id: ruleId }),
      ...(state === undefined ? {} : { state }),
    };
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
