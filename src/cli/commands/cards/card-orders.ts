// `cardpoll cards stop` and `cards resume`: an operator stops or resumes one card.
import { ask } from '../../ask.ts';
import { defineCommand, type OptionSpec } from '../../command.ts';
import { EXIT_OK } from '../../exit-codes.ts';
import { follow } from '../../follow.ts';
import { RUN_WAIT_OPTION, showRun } from '../../follow-resume.ts';
import type { WaitOptions } from '../../follow-trigger.ts';
import { printAnswer } from '../../output/print.ts';
import { cardFields } from '../../output/reports/card-fields.ts';
import { orderedStopFields } from '../../output/reports/stop-tables.ts';
import {
  REASON_OPTION,
  type ResumeOrderOptions,
  resumeOrderOf,
  STOP_AGAIN_OPTION,
} from '../stops/stop-options.ts';
import { CARD_ARGUMENT } from './explain.ts';

interface StopOptions extends WaitOptions {
  readonly reason: string;
}

const WAIT_FOR_STOP: OptionSpec = { flags: '--wait', doc: 'wait until the gateway shows the card stopped' };

export const stopCard = defineCommand<[string], StopOptions>({
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
      await printAnswer(context, answer, orderedStopFields);
      return EXIT_OK;
    }
    const stopped = await follow(context, {
      read: (client) => client.card(card),
      isDone: (body) => body.stopped,
      goesOn: `the stop of card ${card} stays ordered: \`cardpoll cards show ${card}\` shows whether it is stopped`,
    });
    await printAnswer(context, stopped, cardFields);
    return EXIT_OK;
  },
});

export const resumeCard = defineCommand<[string], WaitOptions & ResumeOrderOptions>({
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
