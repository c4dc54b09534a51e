// `cardpoll stops release` and `dismiss`: an operator's decision about uncalled stops.
import { planLines } from '../../../changes/planned-change.ts';
import { type Decision, decidedIn, type HeldStops, heldStopsChange } from '../../../changes/stops.ts';
import { CardpollError } from '../../../platform/errors.ts';
import { EXIT_NEGATIVE, EXIT_OK } from '../../../platform/exit-codes.ts';
import { someIds } from '../../../terminal/style.ts';
import { fieldList } from '../../../terminal/table.ts';
import { ask } from '../../ask.ts';
import { type CommandContext, type CommandSpec, defineCommand } from '../../command.ts';
import { CONFIRM_OPTIONS, confirmIf } from '../../confirm.ts';
import { printAnswer } from '../../output/print.ts';
import { CARDS_ARGUMENT, REASON_OPTION, readCardIds } from './stop-options.ts';

function deciding(
  name: Decision,
  done: string,
  about: Required<Pick<CommandSpec, 'summary' | 'examples'>>,
): CommandSpec {
  return defineCommand({
    name,
    ...about,
    arguments: [CARDS_ARGUMENT],
    options: [{ flags: '--all', doc: 'all of them, instead of cards' }, REASON_OPTION, ...CONFIRM_OPTIONS],
    run: async (context, { args: [cards], options }) => {
      if (cards.length > 0 === (options.all === true)) {
        throw new CardpollError('usage', 'cards_missing', 'give either cards or --all');
      }
      const isAll = cards.length === 0;
      const planned = (held: HeldStops) => heldStopsChange(name, held, options.reason);
      const change = planned(isAll ? { all: null } : await readCardIds(context, cards));
      const counted = async () => (isAll ? planned({ all: await countedNow(context, name) }) : change);
      // The operator has seen the cards of a list, but not all cards.
      await confirmIf(isAll, context, async () => planLines(await counted()), options);
      const answer = await ask(context, 'deciding', change.perform);
      const fields = fieldList<typeof answer.body>((body, style) => [
        [done, style.number(decidedIn(body))],
        [name === 'release' ? 'not held' : 'not dismissed', style.text(someIds(body.not_held))],
      ]);
      await printAnswer(context, answer, fields);
      // None of the cards had such a stop, so the command answers no.
      return !isAll && decidedIn(answer.body) === 0 ? EXIT_NEGATIVE : EXIT_OK;
    },
  });
}

/** Requested, uncalled stops are few, and are not counted. */
async function countedNow(context: CommandContext, decision: Decision): Promise<number> {
  let total = 0;
  for (const state of decision === 'release'
    ? (['held'] as const)
    : (['held', 'observed', 'released'] as const)) {
    total += (await ask(context, 'counting', (client) => client.stops({ state }, 1, 1))).body.total;
  }
  return total;
}

export const release = deciding('release', 'released', {
  summary: 'Let held stops go on; each card is checked again, and the budget does not hold it',
  examples: [
    'cardpoll stops release 42 4711 --reason "checked"  # two cards',
    'cardpoll stops release --all --reason "the month is right"  # asks first',
    'cardpoll stops release --all --reason "checked" --dry-run  # shows how many are held',
  ],
});

export const dismiss = deciding('dismiss', 'dismissed', {
  summary:
    'Cancel stops that were not called: held, observed, released or ordered; the cards are not stopped in that month',
  examples: [
    'cardpoll stops dismiss 42 --reason "wrong reading"  # one card',
    'cardpoll stops dismiss --all --reason "wrong readings"  # asks first',
    'cardpoll stops dismiss --all --reason "wrong readings" --yes  # for scripts',
  ],
});
