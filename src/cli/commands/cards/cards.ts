// `cardpoll cards`: shows, stops and resumes one card. cards-import.ts imports cards, cards-list.ts lists them.
import type { ApiClient } from '../../../api/client/client.ts';
import type { OrderedStopBody } from '../../../api/client/client-bodies.ts';
import { ask, showAnswer } from '../../ask.ts';
import { type CommandSpec, defineCommand, type OptionSpec } from '../../command.ts';
import { follow, type WaitOptions } from '../../follow.ts';
import { printAnswer } from '../../output/print.ts';
import { cardFields } from '../../output/reports/card-fields.ts';
import { fieldList } from '../../output/table.ts';
import {
  REASON_OPTION,
  type ResumeOrderOptions,
  resumeOrderOf,
  STOP_AGAIN_OPTION,
} from '../stops/stop-options.ts';
import { RUN_WAIT_OPTION, showRun } from '../stops/stops-resume.ts';
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
  run: (context, { args: [card], options }) => {
    if (options.verbose === true) return explainCard(context, card);
    const doing = 'reading the card';
    if (context.format !== 'table')
      return showAnswer(context, doing, (client) => client.card(card), cardFields);
    // Only the explanation has the stops of the card, and what the gateway offers.
    const read = (client: ApiClient) => client.explain(card);
    return showAnswer(context, doing, read, (body, style) => cardFields(body.card, style, body));
  },
});

interface StopOptions extends WaitOptions {
  readonly reason: string;
}

const WAIT_FOR_STOP: OptionSpec = { flags: '--wait', doc: 'wait until the gateway shows the card stopped' };

const stopCard = defineCommand<[string], StopOptions>({
  name: 'stop',
  summary: 'Stop a card, whatever it has used',
  examples: [
    ['cardpoll cards stop 42 --reason "stolen"', 'by card id; its next package poll stops it'],
    ['cardpoll cards stop 89860012345678901234 --reason "stolen" --wait', 'by iccid, and wait for it'],
    ['cardpoll cards resume 42 --reason "found again"', 'the way back'],
  ],
  arguments: [CARD_ARGUMENT],
  options: [REASON_OPTION, WAIT_FOR_STOP],
  run: async (context, { args: [card], options }) => {
    const answer = await ask(context, 'ordering the stop', (client) => client.stopCard(card, options.reason));
    if (options.wait !== true) {
      return printAnswer(context, answer, orderedStopFields);
    }
    const stopped = await follow(context, {
      read: (client) => client.card(card),
      isDone: (body) => body.stopped,
      goesOn: `the stop of card ${card} stays ordered: \`cardpoll cards show ${card}\` shows whether it is stopped`,
    });
    return printAnswer(context, stopped, cardFields);
  },
});

const resumeCard = defineCommand<[string], WaitOptions & ResumeOrderOptions>({
  name: 'resume',
  summary: 'Resume a card; exit code 1 if it already waits to be resumed',
  examples: [
    ['cardpoll cards resume 42 --reason "customer paid"', 'its next package poll resumes it'],
    ['cardpoll cards resume 42 --reason "customer paid" --wait', 'and wait for it'],
    ['cardpoll stops runs', 'runs and their progress'],
  ],
  arguments: [CARD_ARGUMENT],
  options: [REASON_OPTION, STOP_AGAIN_OPTION, RUN_WAIT_OPTION],
  run: async (context, { args: [card], options }) => {
    const order = resumeOrderOf(options);
    const run = await ask(context, 'making the run', (client) => client.resumeCard(card, order));
    return showRun(context, run, options);
  },
});

const orderedStopFields = fieldList<OrderedStopBody>((body, style) => [
  ['card', style.id(body.card_id)],
  ['state', style.text(body.state)],
]);

export const cards: CommandSpec = {
  name: 'cards',
  summary: 'Import, show, list and export cards, stop or resume one',
  examples: EXAMPLES,
  subcommands: [importCards, show, list, exportCards, stopCard, resumeCard],
};
