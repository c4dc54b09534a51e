// `cardpoll explain`: why a card is or is not polled. `cards show -v` prints the same.
import { text } from '../../../config/kinds.ts';
import { type ArgumentSpec, type CommandContext, defineCommand } from '../../command.ts';
import { explanationText } from '../../output/reports/explanation.ts';
import { showAnswer } from '../../show.ts';

export const CARD_ARGUMENT: ArgumentSpec = {
  name: '<card>',
  doc: 'card id, or iccid (18 to 22 digits)',
  kind: text('card id or iccid'),
};

export function explainCard(context: CommandContext, card: string): Promise<number> {
  return showAnswer(context, 'looking the card up', (client) => client.explain(card), explanationText);
}

export const explain = defineCommand<[string], unknown>({
  name: 'explain',
  summary: 'Explain why a card is or is not polled, for each task type',
  examples: [
    ['cardpoll explain 42', 'by card id'],
    ['cardpoll explain 89860012345678901234', 'by iccid'],
    ['cardpoll explain 42 -o json', 'all details, for programs'],
  ],
  arguments: [CARD_ARGUMENT],
  run: (context, { args: [card] }) => explainCard(context, card),
});
