// `cardpoll stops runs`: runs that resume cards: their progress, and how to cancel one.
import { text } from '../../../config/kinds.ts';
import { ask } from '../../ask.ts';
import { type ArgumentSpec, type CommandSpec, defineCommand } from '../../command.ts';
import { RUN_WAIT_OPTION, showRun } from '../../follow-resume.ts';
import type { WaitOptions } from '../../follow-trigger.ts';
import { resumeRunFields, resumeRunTable } from '../../output/reports/stop-tables.ts';
import { showAnswer, showList, unlessOver } from '../../show.ts';

const RUN_ID: ArgumentSpec = {
  name: '<run_id>',
  doc: 'id of the run, from `cardpoll stops runs`',
  kind: text('run id'),
  names: 'resume_runs',
};
const EXAMPLES = [
  ['cardpoll stops runs', 'the latest runs'],
  ['cardpoll stops runs show 0f8fad5b-d9cb-469f-a165-70867728950e --wait', 'wait until it has finished'],
  ['cardpoll stops runs cancel 0f8fad5b-d9cb-469f-a165-70867728950e', 'cards that wait are not resumed'],
] as const;

const list = defineCommand<[], unknown>({
  name: 'list',
  summary: 'Show the latest runs, newest first',
  isDefault: true,
  examples: EXAMPLES,
  run: (context) =>
    showList(context, 'reading runs', (client) => client.resumeRuns(), {
      table: resumeRunTable,
      noun: 'runs',
      empty: 'no cards were resumed yet: cardpoll stops resume --since 2h --reason "..."',
    }),
});

const show = defineCommand<[string], WaitOptions>({
  name: 'show',
  summary: 'Show the progress of a run, and why it does not move',
  examples: EXAMPLES,
  arguments: [RUN_ID],
  options: [RUN_WAIT_OPTION],
  run: async (context, { args: [id], options }) => {
    const run = await ask(context, 'reading the run', (client) => client.resumeRun(id));
    return showRun(context, run, options);
  },
});

const cancel = defineCommand<[string], unknown>({
  name: 'cancel',
  summary: 'Cancel a run: cards that wait stay stopped; exit code 1 if it has already ended',
  examples: EXAMPLES,
  arguments: [RUN_ID],
  run: (context, { args: [id] }) =>
    unlessOver(
      context,
      showAnswer(context, 'cancelling', (client) => client.cancelResumeRun(id), resumeRunFields),
    ),
});

export const runs: CommandSpec = {
  name: 'runs',
  summary: 'Show, follow and cancel runs that resume cards (default: list)',
  examples: EXAMPLES,
  subcommands: [list, show, cancel],
};
