// `cardpoll init`: how far the rings are loaded, and comparing them with the cards anew.
import type { InitStateBody } from '../../api/client-bodies.ts';
import { ask } from '../ask.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { CONFIRM_OPTIONS, type ConfirmOptions, confirm, declined } from '../confirm.ts';
import { EXIT_OK } from '../exit-codes.ts';
import { printAnswer } from '../output/print.ts';
import { initStateFields } from '../output/stats-tables.ts';

const EXAMPLES = [
  ['cardpoll init', 'how far it is, and what was repaired'],
  ['cardpoll init rebuild', 'compare every ring with the cards and repair what differs; asks first'],
  ['cardpoll init rebuild --yes', 'for scripts'],
] as const;

async function show(context: CommandContext): Promise<number> {
  const answer = await ask(context, 'reading the progress', (client) => client.initProgress());
  await printAnswer(context, answer, initStateFields);
  return EXIT_OK;
}

const rebuild = defineCommand<[], ConfirmOptions>({
  name: 'rebuild',
  summary: 'Compare every ring with the cards and repair what differs',
  examples: EXAMPLES,
  options: CONFIRM_OPTIONS,
  run: async (context, { options }) => {
    const plan = options.yes === true && options.dryRun !== true ? [] : await planOf(context);
    if (!(await confirm(context, plan, options))) return declined(options);
    const answer = await ask(context, 'asking the leader', (client) => client.rebuildInit());
    await printAnswer(context, answer, initStateFields);
    return EXIT_OK;
  },
});

async function planOf(context: CommandContext): Promise<string[]> {
  const { body } = await ask(context, 'reading the progress', (client) => client.initProgress());
  return [
    `Compare every ring with the cards, about ${cardsOf(body)} of them, 100,000 at a time, and repair what differs.`,
    'Polling goes on meanwhile; the database reads every card once.',
  ];
}

function cardsOf(body: InitStateBody): string {
  return body.total.toLocaleString('en-US');
}

export const init = defineCommand({
  name: 'init',
  summary: 'Show initialisation and reconciliation; compare anew',
  examples: EXAMPLES,
  subcommands: [rebuild],
  run: show,
});
