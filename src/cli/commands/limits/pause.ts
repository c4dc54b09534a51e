// `cardpoll pause` and `cardpoll resume`: pause polling, for example during gateway maintenance, and resume it. A pause of all task
// types is fleet-wide, so it asks first.
import type { PauseBody } from '../../../api/client/client-bodies.ts';
import { duration, oneOf, text } from '../../../config/kinds.ts';
import {
  DEFAULT_PAUSE_SECONDS,
  PAUSABLE,
  PAUSE_SECONDS_BOUNDS,
  type Pausable,
} from '../../../domain/limits/operator-limits.ts';
import { span } from '../../../domain/span.ts';
import { EXIT_OK } from '../../../platform/exit-codes.ts';
import { plainText } from '../../../terminal/line.ts';
import { listTable, ofItems } from '../../../terminal/table.ts';
import { ask } from '../../ask.ts';
import { type ArgumentSpec, defineCommand, type Io } from '../../command.ts';
import { CONFIRM_OPTIONS, confirmIf } from '../../confirm.ts';
import { printAnswer } from '../../output/print.ts';

const ALL: Pausable = 'all';

const TASK_TYPE = {
  name: '[task_type]',
  doc: `${PAUSABLE.join(', ')} (default: ${ALL})`,
  kind: oneOf(PAUSABLE),
} as const satisfies ArgumentSpec;

export const pause = defineCommand({
  name: 'pause',
  summary: 'Pause polling for a time, for example during gateway maintenance',
  examples: [
    'cardpoll pause --for 30m --reason "gateway maintenance"  # all task types; asks first',
    'cardpoll pause realname --for 5m  # one task type',
    'cardpoll resume  # end the pause early',
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
    ...CONFIRM_OPTIONS,
  ],
  run: async (context, { args: [taskType = ALL], options }) => {
    await confirmIf(taskType === ALL, context, planOf(taskType, options.for), options);
    const [before, answer] = await ask(context, 'pausing', async (client) => [
      (await client.pauses()).body.items,
      await client.pause(taskType, options.for, options.reason),
    ]);
    for (const { task_type } of answer.body.items) sayReplaced(context.io, before, task_type);
    return printAnswer(context, answer, ofItems(pauseTable));
  },
});

function planOf(taskType: Pausable, seconds: number): string[] {
  const types = taskType === ALL ? 'all task types' : `task type ${taskType}`;
  return [
    `polling of ${types} is paused for ${span(seconds)}, on every instance`,
    ...(taskType === ALL || taskType === 'package' ? ['no card is stopped or resumed meanwhile'] : []),
  ];
}

/** Another operator may have paused for longer, and count on it. */
function sayReplaced({ stderr }: Io, before: readonly PauseBody[], taskType: string): void {
  const replaced = before.find((one) => one.task_type === taskType && one.source === 'operator');
  if (replaced === undefined) return;
  const { by, until, reason } = replaced;
  const why = reason === '' ? '' : `: ${reason}`;
  stderr.write(plainText(`${taskType}: replaces the pause by ${by} until ${until}${why}`).concat('\n'));
}

export const resume = defineCommand({
  name: 'resume',
  summary: 'End pauses of polling, including those the gateway asked for',
  examples: [
    'cardpoll resume  # all task types',
    'cardpoll resume realname  # one task type',
    'cardpoll stats  # what is paused',
  ],
  arguments: [TASK_TYPE],
  run: async (context, { args: [taskType = ALL] }) => {
    const answer = await ask(context, 'resuming', (client) => client.resume(taskType));
    const isNone = answer.body.items.length === 0;
    context.io.stderr.write(isNone ? 'nothing was paused\n' : 'no longer paused:\n');
    return isNone && context.format === 'table' ? EXIT_OK : printAnswer(context, answer, ofItems(pauseTable));
  },
});

const pauseTable = listTable<PauseBody>((style) => [
  { header: 'TASK', cell: (row) => style.text(row.task_type) },
  { header: 'ASKED FOR BY', cell: (row) => style.text(`${row.source} (${row.by})`), least: 12, drop: 2 },
  { header: 'SINCE', cell: (row) => style.time(row.since), drop: 1 },
  { header: 'UNTIL', cell: (row) => style.time(row.until) },
  { header: 'REASON', cell: (row) => style.text(row.reason), least: 12 },
]);
