// `cardpoll pause` and `cardpoll resume`: pause polling, for example during gateway maintenance, and resume it.
import type { PauseBody } from '../../../api/client/client-bodies.ts';
import { duration, oneOf, text } from '../../../config/kinds.ts';
import {
  DEFAULT_PAUSE_SECONDS,
  PAUSABLE,
  PAUSE_SECONDS_BOUNDS,
  type Pausable,
} from '../../../domain/limits/pause.ts';
import { ask } from '../../ask.ts';
import { type ArgumentSpec, defineCommand } from '../../command.ts';
import { printAnswer } from '../../output/print.ts';
import { span } from '../../output/style.ts';
import { listTable, ofItems } from '../../output/table.ts';
import { showAnswer } from '../../show.ts';

const TASK_TYPE: ArgumentSpec = {
  name: '[task_type]',
  doc: `${PAUSABLE.join(', ')} (default: all)`,
  kind: oneOf(PAUSABLE),
  choices: PAUSABLE,
};

export const pause = defineCommand<[Pausable?], { readonly for: number; readonly reason: string }>({
  name: 'pause',
  summary: 'Pause polling for a time, for example during gateway maintenance',
  examples: [
    ['cardpoll pause --for 30m --reason "gateway maintenance"', 'all task types'],
    ['cardpoll pause realname --for 5m', 'one task type'],
    ['cardpoll resume', 'end the pause early'],
  ],
  arguments: [TASK_TYPE],
  options: [
    {
      flags: '--for <duration>',
      doc: `how long: 90s, 10m, 2h (default: ${span(DEFAULT_PAUSE_SECONDS)})`,
      kind: duration('s', PAUSE_SECONDS_BOUNDS),
      default: DEFAULT_PAUSE_SECONDS,
    },
    { flags: '--reason <text>', doc: 'shown with the pause', kind: text('reason'), default: '' },
  ],
  run: (context, { args: [taskType = 'all'], options }) =>
    showAnswer(
      context,
      'pausing',
      (client) => client.pause(taskType, options.for, options.reason),
      ofItems(pauseTable),
    ),
});

export const resume = defineCommand<[Pausable?], unknown>({
  name: 'resume',
  summary: 'End pauses of polling, including those the gateway asked for',
  examples: [
    ['cardpoll resume', 'all task types'],
    ['cardpoll resume realname', 'one task type'],
    ['cardpoll stats', 'what is paused'],
  ],
  arguments: [TASK_TYPE],
  run: async (context, { args: [taskType = 'all'] }) => {
    const answer = await ask(context, 'resuming', (client) => client.resume(taskType));
    context.io.stderr.write(answer.body.items.length === 0 ? 'nothing was paused\n' : 'no longer paused:\n');
    return printAnswer(context, answer, ofItems(pauseTable));
  },
});

const pauseTable = listTable<PauseBody>((style) => [
  { header: 'TASK', cell: (row) => style.text(row.task_type) },
  { header: 'ASKED FOR BY', cell: (row) => style.text(`${row.source} (${row.by})`), least: 12, drop: 2 },
  { header: 'SINCE', cell: (row) => style.time(row.since), drop: 1 },
  { header: 'UNTIL', cell: (row) => style.time(row.until) },
  { header: 'REASON', cell: (row) => style.text(row.reason), least: 12 },
]);
