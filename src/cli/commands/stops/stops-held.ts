// `cardpoll stops release` and `dismiss`: what becomes of stops that wait for an operator.
import type { HeldSelection } from '../../../api/client/client-bodies.ts';
import { CardpollError } from '../../../platform/errors.ts';
import { ask } from '../../ask.ts';
import { type CommandContext, defineCommand, type OptionSpec, type OptionsOf } from '../../command.ts';
import { CONFIRM_OPTIONS, confirm, declined } from '../../confirm.ts';
import { EXIT_NEGATIVE, EXIT_OK } from '../../exit-codes.ts';
import { printAnswer } from '../../output/print.ts';
import { cardCount, type Style } from '../../output/style.ts';
import { renderFields } from '../../output/table.ts';
import { CARDS_ARGUMENT, cardIdsOf, REASON_OPTION } from './stop-options.ts';

const ALL = { flags: '--all', doc: 'all held stops, instead of cards' } as const satisfies OptionSpec;
const OPTIONS = [ALL, REASON_OPTION, ...CONFIRM_OPTIONS] as const;
type HeldOptions = OptionsOf<typeof OPTIONS>;

export const release = defineCommand({
  name: 'release',
  summary: 'Let held stops go on; each card is judged anew, and the budget does not hold it',
  examples: [
    'cardpoll stops release 42 4711 --reason "checked"  # two cards',
    'cardpoll stops release --all --reason "the month is right"  # asks first',
    'cardpoll stops release --all --reason "checked" --dry-run  # shows how many are held',
  ],
  arguments: [CARDS_ARGUMENT],
  options: OPTIONS,
  run: async (context, { args: [cards], options }) => {
    requireOne(cards, options);
    const plan = ['Each card is judged anew by its next package poll. The budget does not hold it.'];
    if (!(await isConfirmed(context, 'Release', cards, options, plan))) return declined(options);
    const held = await selectionOf(context, cards);
    const answer = await ask(context, 'releasing', (client) => client.releaseStops(held, options.reason));
    const { released: count, not_held: notHeld } = answer.body;
    const decision = { done: 'released', count, notHeld };
    await printAnswer(context, answer, (_, style) => decisionFields(decision, style));
    return exitCodeOf(cards, decision);
  },
});

export const dismiss = defineCommand({
  name: 'dismiss',
  summary: 'Give held stops up; the cards are not stopped in that month',
  examples: [
    'cardpoll stops dismiss 42 --reason "wrong reading"  # one card',
    'cardpoll stops dismiss --all --reason "wrong readings"  # asks first',
    'cardpoll stops dismiss --all --reason "wrong readings" --yes  # for scripts',
  ],
  arguments: [CARDS_ARGUMENT],
  options: OPTIONS,
  run: async (context, { args: [cards], options }) => {
    requireOne(cards, options);
    const plan = ['The cards are not stopped in that month, whatever they use.'];
    if (!(await isConfirmed(context, 'Dismiss', cards, options, plan))) return declined(options);
    const held = await selectionOf(context, cards);
    const answer = await ask(context, 'dismissing', (client) => client.dismissStops(held, options.reason));
    const { dismissed: count, not_held: notHeld } = answer.body;
    const decision = { done: 'dismissed', count, notHeld };
    await printAnswer(context, answer, (_, style) => decisionFields(decision, style));
    return exitCodeOf(cards, decision);
  },
});

function requireOne(cards: readonly string[], { all }: HeldOptions): void {
  if (cards.length > 0 === (all !== true)) return;
  throw new CardpollError('usage', 'cards_missing', 'give either cards or --all');
}

/** A list is what the operator has looked at; all is not. */
async function isConfirmed(
  context: CommandContext,
  verb: string,
  cards: readonly string[],
  options: HeldOptions,
  plan: readonly string[],
): Promise<boolean> {
  const asks = options.dryRun === true || (cards.length === 0 && options.yes !== true);
  if (!asks) return true;
  const what =
    cards.length === 0
      ? `all held stops: ${cardCount(await heldNow(context))}`
      : `the held stops of ${cardCount(cards.length)}`;
  return confirm(context, [`${verb} ${what}.`, ...plan], options);
}

async function heldNow(context: CommandContext): Promise<number> {
  const { body } = await ask(context, 'counting', (client) => client.stops({ state: 'held' }, 1, 1));
  return body.total;
}

async function selectionOf(context: CommandContext, cards: readonly string[]): Promise<HeldSelection> {
  return cards.length === 0 ? { all: true } : { card_ids: await cardIdsOf(context, cards) };
}

/** None of the cards was held: the answer is no. */
function exitCodeOf(cards: readonly string[], { count }: Decision): number {
  return cards.length > 0 && count === 0 ? EXIT_NEGATIVE : EXIT_OK;
}

/** Cards that are named; of the others only the number is shown. */
const NAMED = 20;

/** What became of held stops. */
interface Decision {
  /** `released`. */
  readonly done: string;
  readonly count: number;
  readonly notHeld: readonly number[];
}

function decisionFields({ done, count, notHeld }: Decision, style: Style): string {
  const more = notHeld.length > NAMED ? ` and ${notHeld.length - NAMED} more` : '';
  const named = notHeld.length === 0 ? null : `${notHeld.slice(0, NAMED).join(', ')}${more}`;
  return renderFields(
    [
      [done, style.number(count)],
      ['not held', style.text(named)],
    ],
    style,
  );
}
