// `cardpoll cards`: shows one card. cards-import.ts imports cards, cards-list.ts lists them, card-orders.ts stops and
// resumes one.
import { ask } from '../../ask.ts';
import { type CommandSpec, defineCommand } from '../../command.ts';
import { EXIT_OK } from '../../exit-codes.ts';
import { printAnswer } from '../../output/print.ts';
import { cardFields } from '../../output/reports/card-fields.ts';
import { resumeCard, stopCard } from './card-orders.ts';
import { importCards } from './cards-import.ts';
import { exportCards, list } from './cards-list.ts';
import { CARD_ARGUMENT, explainCard } from './explain.ts';

const EXAMPLES = [
  ['cardpoll cards import cards.csv', 'CSV or NDJSON; safe to repeat'],
  ['cardpoll cards show 89860012345678901234', 'by iccid'],
  ['cardpoll cards list --stopped yes', 'stopped cards'],
] as const;

const show = defineCommand<[string], { readonly verbose?: boolean }>({
  name: 'show',
  summary: 'Show a card: its data, its last stop, its last polls and its next ones',
  examples: EXAMPLES,
  arguments: [CARD_ARGUMENT],
  options: [{ flags: '-v, --verbose', doc: 'show why it is or is not polled, as explain does' }],
  run: async (context, { args: [card], options }) => {
    if (options.verbose === true) return explainCard(context, card);
    const doing = 'reading the card';
    if (context.format === 'table') {
      // Only the explanation has the stops of the card, and what the gateway offers.
      const answer = await ask(context, doing, (client) => client.explain(card));
      await printAnswer(context, answer, (body, style) => cardFields(body.card, style, body));
    } else {
      const answer = await ask(context, doing, (client) => client.card(card));
      await printAnswer(context, answer, cardFields);
    }
    return EXIT_OK;
  },
});

export const cards: CommandSpec = {
  name: 'cards',
  summary: 'Import, show, list and export cards, stop or resume one',
  examples: EXAMPLES,
  subcommands: [importCards, show, list, exportCards, stopCard, resumeCard],
};
