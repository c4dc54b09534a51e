// `cardpoll explain`: why a card is polled or not. `cards show -v` prints the same.
import { text } from '../../../config/kinds.ts';
import type { ExplanationBody } from '../../../resources/explanation.ts';
import { explanationParts } from '../../../terminal/reports/explanation.ts';
import type { Style } from '../../../terminal/style.ts';
import { paintedLines, recordLine } from '../../../terminal/table.ts';
import { showAnswer } from '../../ask.ts';
import { type ArgumentSpec, type CommandContext, defineCommand } from '../../command.ts';

export const CARD_ARGUMENT = {
  name: '<card>',
  doc: 'card id, or iccid (18 to 22 digits)',
  kind: text('card id or iccid'),
} as const satisfies ArgumentSpec;

export function explainCard(context: CommandContext, card: string): Promise<number> {
  return showAnswer(context, 'looking the card up', (client) => client.explain(card), explanationText);
}

export const explain = defineCommand({
  name: 'explain',
  summary: 'Explain why a card is or is not polled, for each task type',
  examples: [
    'cardpoll explain 42  # by card id',
    'cardpoll explain 89860012345678901234  # by iccid',
    'cardpoll explain 42 -o json  # all details, for programs',
  ],
  arguments: [CARD_ARGUMENT],
  run: (context, { args: [card] }) => explainCard(context, card),
});

/** As records only the task types; -o json has the rest. */
function explanationText(body: ExplanationBody, style: Style): string {
  if (!style.forPeople) return body.tasks.map((task) => recordOf(task, style)).join('');
  const { card, tasks, history } = explanationParts(body, style);
  return [card, ...tasks, history].map((lines) => paintedLines(lines, style)).join('\n');
}

function recordOf(task: ExplanationBody['tasks'][number], style: Style): string {
  const { task_type, state, text, command, next_due_at, last_succeeded_at } = task;
  return recordLine([task_type, state, text, command, next_due_at, last_succeeded_at], style);
}
