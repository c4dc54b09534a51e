// `cardpoll pause` and `cardpoll resume`: pause polling, for example during gateway maintenance, and resume it. A pause of all task
// types is fleet-wide, so it asks first.
import { pauseChange, pauseText, replacedBy } from '../../../changes/limits.ts';
import { planLines } from '../../../changes/planned-change.ts';
import { duration, oneOf, text } from '../../../config/kinds.ts';
import {
  DEFAULT_PAUSE_SECONDS,
  lackOfReason,
  PAUSABLE,
  PAUSE_SECONDS_BOUNDS,
  type Pausable,
  REASON_AFTER_SECONDS,
} from '../../../domain/limits/operator-limits.ts';
import { plainText } from '../../../domain/plain-text.ts';
import { span } from '../../../domain/words.ts';
import { CardpollError } from '../../../platform/errors.ts';
import { EXIT_OK } from '../../../platform/exit-codes.ts';
import type { PauseBody } from '../../../resources/limits.ts';
import { listTable, ofItems } from '../../../terminal/table.ts';
import { ask } from '../../ask.ts';
import { type ArgumentSpec, defineCommand } from '../../command.ts';
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
    {
      flags: '--reason <text>',
      doc: `shown with the pause; required for more than ${span(REASON_AFTER_SECONDS)}`,
      kind: text('reason'),
      default: '',
    },
    ...CONFIRM_OPTIONS,
  ],
  run: async (context, { args: [taskType = ALL], options }) => {
    // Before the question: the API refuses it, too.
    const lack = lackOfReason(taskType, options.for, options.reason);
    if (lack !== null)
      throw new CardpollError('usage', 'pause_reason_missing', lack.problem, { hint: lack.command });
    const order = { taskType, cards: null, seconds: options.for, reason: options.reason };
    const { clock, stderr } = context.io;
    const { body: before } = await ask(context, 'reading pauses', (client) => client.pauses());
    const change = pauseChange(order, before.items, clock.now());
    await confirmIf(taskType === ALL, context, planLines(change), options);
    const answer = await ask(context, 'pausing', change.perform);
    for (const pause of replacedBy(taskType, before.items)) {
      stderr.write(`${pause.task_type}: replaces the ${plainText(pauseText(pause, clock.now()))}\n`);
    }
    return printAnswer(context, answer, ofItems(pauseTable));
  },
});

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
