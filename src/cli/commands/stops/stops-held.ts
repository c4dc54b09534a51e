// `cardpoll stops release` and `dismiss`: what becomes of stops that wait for an operator.
import type { ApiClient } from '../../../api/client/client.ts';
import type { HeldSelection } from '../../../api/client/client-bodies.ts';
import type { Answer } from '../../../api/client/client-calls.ts';
import { CardpollError } from '../../../platform/errors.ts';
import { EXIT_NEGATIVE, EXIT_OK } from '../../../platform/exit-codes.ts';
import { cardCount, someIds } from '../../../terminal/style.ts';
import { fieldList } from '../../../terminal/table.ts';
import { ask } from '../../ask.ts';
import { type CommandContext, type CommandSpec, defineCommand } from '../../command.ts';
import { CONFIRM_OPTIONS, confirmIf } from '../../confirm.ts';
import { printAnswer } from '../../output/print.ts';
import { CARDS_ARGUMENT, cardIdsOf, REASON_OPTION } from './stop-options.ts';

interface Decision<Done extends string> extends Required<Pick<CommandSpec, 'name' | 'summary' | 'examples'>> {
  /** The first word of the plan. */
  readonly verb: string;
  readonly effect: string;
  /** What the spinner says. */
  readonly label: string;
  readonly decide: (
    client: ApiClient,
    held: HeldSelection,
    reason: string,
  ) => Promise<Answer<{ readonly [D in Done]: number } & { readonly not_held: readonly number[] }>>;
  /** The field that counts the stops it was done to. */
  readonly done: Done;
}

function deciding<Done extends string>(decision: Decision<Done>): CommandSpec {
  const { name, summary, examples, verb, effect, label, decide, done } = decision;
  return defineCommand({
    ...{ name, summary, examples },
    arguments: [CARDS_ARGUMENT],
    options: [{ flags: '--all', doc: 'all held stops, instead of cards' }, REASON_OPTION, ...CONFIRM_OPTIONS],
    run: async (context, { args: [cards], options }) => {
      if (cards.length > 0 === (options.all === true)) {
        throw new CardpollError('usage', 'cards_missing', 'give either cards or --all');
      }
      const plan = async () => [`${verb} ${await stopsText(context, cards)}.`, effect];
      // A list is what the operator has looked at; all is not.
      await confirmIf(cards.length === 0, context, plan, options);
      const held =
        cards.length === 0 ? { all: true as const } : { card_ids: await cardIdsOf(context, cards) };
      const answer = await ask(context, label, (client) => decide(client, held, options.reason));
      const fields = fieldList<typeof answer.body>((body, style) => [
        [done, style.number(body[done])],
        ['not held', style.text(someIds(body.not_held))],
      ]);
      await printAnswer(context, answer, fields);
      // None of the cards was held: the answer is no.
      return cards.length > 0 && answer.body[done] === 0 ? EXIT_NEGATIVE : EXIT_OK;
    },
  });
}

async function stopsText(context: CommandContext, cards: readonly string[]): Promise<string> {
  if (cards.length > 0) return `the held stops of ${cardCount(cards.length)}`;
  const { body } = await ask(context, 'counting', (client) => client.stops({ state: 'held' }, 1, 1));
  return `all held stops: ${body.total.toLocaleString('en-US')}`;
}

export const release = deciding({
  name: 'release',
  summary: 'Let held stops go on; each card is checked again, and the budget does not hold it',
  examples: [
    'cardpoll stops release 42 4711 --reason "checked"  # two cards',
    'cardpoll stops release --all --reason "the month is right"  # asks first',
    'cardpoll stops release --all --reason "checked" --dry-run  # shows how many are held',
  ],
  verb: 'Release',
  effect: 'Each card is checked again by its next package poll. The budget does not hold it.',
  label: 'releasing',
  decide: (client, held, reason) => client.releaseStops(held, reason),
  done: 'released',
});

export const dismiss = deciding({
  name: 'dismiss',
  summary: 'Cancel held stops; the cards are not stopped in that month',
  examples: [
    'cardpoll stops dismiss 42 --reason "wrong reading"  # one card',
    'cardpoll stops dismiss --all --reason "wrong readings"  # asks first',
    'cardpoll stops dismiss --all --reason "wrong readings" --yes  # for scripts',
  ],
  verb: 'Dismiss',
  effect:
    'The cards are not stopped in that month, whatever they use. `cardpoll cards stop` still stops a card.',
  label: 'dismissing',
  decide: (client, held, reason) => client.dismissStops(held, reason),
  done: 'dismissed',
});
