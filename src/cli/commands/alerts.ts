// `cardpoll alerts`: rules, what they fired, and the rules the specification recommends.
import { integer } from '../../config/kinds.ts';
import { ask } from '../ask.ts';
import { type CommandSpec, defineCommand } from '../command.ts';
import { EXIT_OK } from '../exit-codes.ts';
import { historyTable } from '../output/alert-tables.ts';
import { printList } from '../output/print.ts';
import { type PageOptions, pageOptions } from '../page-options.ts';
import { rules, show } from './alert-rules.ts';
import { recommended } from './alerts-recommended.ts';

const history = defineCommand<[], PageOptions & { readonly ruleId?: number }>({
  name: 'history',
  summary: 'Show what fired, newest first, and how its notifications went',
  examples: [
    ['cardpoll alerts history', 'the latest 20'],
    ['cardpoll alerts history --rule-id 3 --page 2', 'of one rule, further back'],
    ['cardpoll alerts history --page-size 100 -o json', 'for programs'],
  ],
  options: [
    {
      flags: '--rule-id <id>',
      doc: 'only alerts of this rule, also of a deleted one',
      kind: integer({ min: 1, max: 2 ** 31 - 1 }),
    },
    ...pageOptions(20),
  ],
  run: async (context, { options: { ruleId, page, pageSize } }) => {
    const answer = await ask(context, 'reading the alert history', (client) =>
      client.alertHistory(ruleId === undefined ? {} : { rule_id: ruleId }, page, pageSize),
    );
    await printList(context, answer, {
      table: historyTable,
      noun: 'alerts',
      empty: 'no alert has fired yet; what fires when: cardpoll alerts rules',
    });
    return EXIT_OK;
  },
});

export const alerts: CommandSpec = {
  name: 'alerts',
  summary: 'Show and change alert rules, and what they fired',
  examples: [
    ['cardpoll alerts rules', 'all alert rules'],
    ['cardpoll alerts history', 'what fired lately'],
    ['cardpoll alerts recommended --apply', 'create the recommended rules'],
  ],
  subcommands: [rules, show, history, recommended],
};
