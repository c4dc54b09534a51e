// `cardpoll cards`: look at one. Bringing cards in is cards-import.ts, listing them cards-list.ts.
import { ask } from '../../ask.ts';
import { type CommandSpec, defineCommand } from '../../command.ts';
import { EXIT_OK } from '../../exit-codes.ts';
import { printAnswer } from '../../output/print.ts';
import { cardFields } from '../../output/reports/card-fields.ts';
import { importCards } from './cards-import.ts';
import { exportCards, list } from './cards-list.ts';
import { CARD_ARGUMENT, explainCard } from './explain.ts';

const EXAMPLES = [
  ['cardpoll cards import cards.csv', 'CSV or NDJSON; may be repeated'],
  ['cardpoll cards show 89860012345678901234', 'by iccid'],
  ['cardpoll cards list --stopped yes', 'those that are stopped'],
] as const;

const show = defineCommand<[string], { readonly verbose?: boolean }>({
  name: 'show',
  summary: 'Show a card: what is known, when it was polled and when it is next',
  examples: EXAMPLES,
  arguments: [CARD_ARGUMENT],
  options: [{ flags: '-v, --verbose', doc: 'tell why it is or is not polled, as explain does' }],
  run: async (context, { args: [card], options }) => {
    if (options.verbose === true) return explainCard(context, card);
    const answer = await ask(context, 'reading the card', (client) => client.card(card));
    await printAnswer(context, answer, cardFields);
    return EXIT_OK;
  },
});

export const cards: CommandSpec = {
  name: 'cards',
  summary: 'Import, list and export cards, and look at one',
  examples: EXAMPLES,
  subcommands: [importCards, show, list, exportCards],
};
